/* SPDX-License-Identifier: MIT
 *
 * restore.c - a library that makes no folders of GGUF files
 */
#include "lib/hf/restore/restore.h"
#include "lib/without/without.h"

static enum mf_status refuse(struct mf_env *env)
{
    return mf_without(env, "restore",
                      "make a folder of a GGUF file, or change the names of "
                      "its tensors");
}

enum mf_status mf_hf_restore(struct mf_model *model, struct mf_draft *draft,
                             const struct mf_restore_options *options,
                             struct mf_stage *stage, struct mf_hf_restored *out)
{
    (void)draft;
    (void)options;
    (void)stage;
    *out = (struct mf_hf_restored){ .lost = 0 };
    return refuse(model->env);
}

/* ---- for mf_renaming_init ---- */

enum mf_status mf_restore_open(struct mf_restore *restore,
                               struct mf_model *model, struct mf_draft *draft,
                               const struct mf_restore_options *options)
{
    (void)options;
    *restore = (struct mf_restore){ .env = model->env,
                                    .model = model,
                                    .draft = draft };
    return refuse(model->env);
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
