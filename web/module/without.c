/* SPDX-License-Identifier: MIT
 *
 * without.c - what the module is linked without, though the library calls it
 *
 * The linker takes these functions in the place of the library's.  Nothing of
 * the document has to convert a whole folder: its callers count the
 * folder's own tensors instead.  Nor is all data of a model
 * read.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>

#include "lib/check/check.h"
#include "lib/derive/node.h"
#include "lib/hf/hf.h"
#include "lib/lora/lora.h"
#include "lib/model/pending.h"
#include "lib/program.h"
#include "lib/without/without.h"

#define INSTEAD(type, function, ...)                                           \
    type __wrap_##function(__VA_ARGS__);                                       \
    type __wrap_##function(__VA_ARGS__)

static enum mf_status refuse(struct mf_env *env, const char *what)
{
    return mf_without(env, "web", what);
}

INSTEAD(enum mf_status, mf_hf_convert, struct mf_draft *draft,
        struct mf_model *model, const struct mf_hf_options *options)
{
    (void)draft;
    (void)options;
    return refuse(model->env, "convert folders of Hugging Face");
}

INSTEAD(enum mf_status, mf_hf_convert_adapter, struct mf_draft *draft,
        struct mf_lora *lora, struct mf_model *base,
        const struct mf_hf_options *options)
{
    (void)draft;
    (void)lora;
    (void)options;
    return refuse(base->env, "convert adapters");
}

INSTEAD(enum mf_status, mf_data_check, struct mf_model *model)
{
    return refuse(model->env, "check the data of tensors");
}

INSTEAD(enum mf_status, mf_renaming_init, struct mf_renaming *renaming,
        struct mf_model *model, enum mf_naming to,
        struct mf_renaming_options how)
{
    (void)how;
    *renaming = (struct mf_renaming){ .to = MF_NAMING_KEEP };
    return to == MF_NAMING_KEEP ? MF_OK : refuse(model->env, "rename tensors");
}

/* ---- the disk: all files are the host's */

INSTEAD(enum mf_status, mf_source_open_file, struct mf_env *env,
        const char *path, struct mf_source *out, bool *is_folder)
{
    (void)path;
    (void)out;
    (void)is_folder;
    return refuse(env, "open files of a disk");
}

INSTEAD(enum mf_status, mf_pending_open_file, struct mf_env *env,
        const char *path, struct mf_source *out, bool *is_folder)
{
    return __wrap_mf_source_open_file(env, path, out, is_folder);
}

INSTEAD(enum mf_status, mf_folder_list, struct mf_env *env, const char *folder,
        enum mf_status (*found)(void *user, const char *path,
                                enum mf_shards shards),
        void *user)
{
    (void)folder;
    (void)found;
    (void)user;
    return refuse(env, "list folders");
}

INSTEAD(int, openat, int folder, const char *path, int flags, ...)
{
    (void)folder;
    (void)path;
    (void)flags;
    errno = ENOENT;
    return -1;
}

INSTEAD(DIR *, fdopendir, int folder)
{
    (void)folder;
    errno = ENOTDIR;
    return NULL;
}

/* ---- what only writers reach */

/* Tensors that a conversion turns around have no bytes here. */
INSTEAD(bool, mf_view_read, const struct mf_derived *node,
        struct mf_span elements, uint8_t *into, struct mf_derived_room room)
{
    (void)node;
    (void)elements;
    (void)into;
    (void)room;
    errno = EIO;
    return false;
}

/* Options have no adapter. */
INSTEAD(const struct mf_derived *, mf_lora_merge, struct mf_lora *lora,
        const struct mf_derivation *derivation, struct mf_str name,
        const struct mf_derived *node)
{
    (void)lora;
    (void)derivation;
    (void)name;
    return node;
}

/* ---- tables of the C library */

/* The C library's is exact to the last bit, with a table of 4 KB.  Here it is
 * where a search for the inverse of the error function begins.  With the
 * mantissa within a factor of sqrt(2) of 1, each term of the series is at most
 * 0.03 times the one before. */
INSTEAD(double, log, double x)
{
    int exponent;
    double mantissa = frexp(x, &exponent);
    double s, sum = 0;

    if (!(x > 0))
        return x == 0 ? -INFINITY : NAN;
    if (mantissa < 0.70710678118654752) {
        mantissa *= 2;
        exponent--;
    }
    s = (mantissa - 1) / (mantissa + 1);
    for (int i = 21; i > 0; i -= 2)
        sum = sum * s * s + 1.0 / i;
    return 2 * s * sum + exponent * 0.69314718055994531;
}
