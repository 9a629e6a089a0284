/* SPDX-License-Identifier: MIT
 *
 * nearby.c - the files of a model and those next to it, wherever they are
 */
#include "lib/model/nearby.h"

#include <errno.h>

#include "lib/io/given.h"
#include "lib/io/path.h"
#include "lib/io/system.h"
#include "lib/model/pending.h"

bool mf_nearby_on_disk(const struct mf_model *model)
{
    return !model->given && !model->alone && model->file[0].source.fd >= 0;
}

bool mf_nearby_any(const struct mf_model *model)
{
    return model->given ? mf_given_has_more(model->given)
                        : mf_nearby_on_disk(model);
}

enum mf_status mf_nearby_open_own(struct mf_model *model, const char *path,
                                  struct mf_source *out, bool *is_folder)
{
    return model->given
               ? mf_given_open(model->given, path, out)
               : mf_pending_open_file(model->env, path, out, is_folder);
}

enum mf_status mf_nearby_open(const struct mf_model *model, const char *path,
                              struct mf_source *out)
{
    return model->given ? mf_given_open(model->given, path, out)
                        : mf_source_open_file(model->env, path, out, NULL);
}

bool mf_nearby_exists(const struct mf_model *model, const char *path)
{
    struct mf_error before = model->env->error;
    struct mf_source source;
    bool exists;

    if (!model->given)
        return faccessat(AT_FDCWD, path, F_OK, 0) == 0;
    mf_clear_error(model->env);
    exists = mf_given_open(model->given, path, &source) == MF_OK ||
             model->env->error.system != ENOENT;
    mf_source_close(&source);
    if (model->env->error.status == MF_ERR_STOPPED)
        return false;
    model->env->error = before; /* opening it will say so */
    return exists;
}

int mf_nearby_folder_of(const struct mf_model *model, const char *path)
{
    errno = ENOENT;
    return mf_nearby_on_disk(model) ? mf_open_folder(path) : -1;
}

int mf_nearby_folder(const struct mf_model *model, const char *path)
{
    errno = ENOENT;
    return mf_nearby_on_disk(model) ? mf_open_directory(path) : -1;
}
