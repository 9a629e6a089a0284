/* SPDX-License-Identifier: MIT
 *
 * restore.c - a library that makes no folders of GGUF files
 */
#include "lib/restore/restore.h"
#include "lib/without/without.h"

enum mf_status mf_restore_open(struct mf_restore *restore,
                               struct mf_model *model, struct mf_draft *draft,
                               const struct mf_restore_options *options)
{
    (void)options;
    *restore = (struct mf_restore){ .env = model->env,
                                    .model = model,
                                    .draft = draft };
    return mf_without(model->env, "restore",
                      "make a folder of a GGUF file, or change the names of "
                      "its tensors");
}

/* These are never called. */
enum mf_status mf_restore_begin(struct mf_restore *restore)
{
    return restore->env->error.status;
}

void mf_restore_end(struct mf_restore *restore)
{
    (void)restore;
}

enum mf_status mf_restore_tensors(struct mf_restore *restore)
{
    return restore->env->error.status;
}

enum mf_status mf_restore_files(struct mf_restore *restore,
                                struct mf_stage *stage)
{
    (void)stage;
    return restore->env->error.status;
}
