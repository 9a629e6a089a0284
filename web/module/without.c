/* SPDX-License-Identifier: MIT
 *
 * without.c - what the module is linked without, though the library calls it
 *
 * The linker takes these functions in the place of the library's.  Nothing of
 * the document has to convert a whole folder: where its sizes are asked for,
 * the callers do with the folder's own tensors.  Nor is all data of a model
 * read.
 */
#include "lib/without/without.h"
#include "lib/check/check.h"
#include "lib/hf/hf.h"
#include "lib/lora/lora.h"
#include "lib/model/open_parts.h"

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

INSTEAD(enum mf_status, mf_model_open_path, struct mf_model *model,
        const char *path, enum mf_shards shards)
{
    (void)path;
    (void)shards;
    return refuse(model->env, "open files of a disk");
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
