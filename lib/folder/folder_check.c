/* SPDX-License-Identifier: MIT
 *
 * folder_check.c - all checks of the files next to a model
 */
#include <string.h>

#include "lib/folder/adapter.h"
#include "lib/folder/folder.h"
#include "lib/model/nearby.h"

/* Whether any tensor of the model is of that type. */
static bool has_type(const struct mf_index *index, enum mf_type type)
{
    for (size_t i = 0; i < index->tensor_count; i++)
        if (index->tensor[i].type == type)
            return true;
    return false;
}

/* transformers converts what it loads to the type in config.json. */
static void check_dtype(struct mf_folder *folder)
{
    static const enum mf_type types[] = { MF_TYPE_F32, MF_TYPE_F16,
                                          MF_TYPE_BF16 };
    struct mf_index *index = &folder->model->index;

    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        for (unsigned k = MF_FIELD_TORCH_DTYPE; k <= MF_FIELD_DTYPE; k++) {
            const struct mf_folder_value *value = &folder->value[k];

            if (value->given &&
                strcmp(value->text, mf_type_torch(types[i])) == 0 &&
                index->tensor_count > 0 && !has_type(index, types[i]))
                mf_index_note(index, 0, MF_WARNING, MF_RULE_CONFIG_DTYPE,
                              MF_NO_OFFSET,
                              "'%s' in config.json is %s, but no tensor is of "
                              "type %s",
                              mf_folder_key((enum mf_folder_field)k),
                              value->text, mf_types[types[i]].name);
        }
}

static enum mf_status check_sidecars(struct mf_folder *folder)
{
    struct mf_env *env = folder->model->env;

    if (!mf_sidecar_exists(folder->model, folder->arena, "config.json")) {
        if (env->error.status == MF_OK)
            mf_index_note(&folder->model->index, 0, MF_NOTE,
                          MF_RULE_CONFIG_MISSING, MF_NO_OFFSET,
                          "no config.json in the folder, which transformers "
                          "needs");
        return env->error.status;
    }
    if (mf_folder_read_config(folder) != MF_OK)
        return env->error.status;
    if (folder->has_config) {
        check_dtype(folder);
        mf_folder_check_values(folder);
        if (mf_folder_check_tensors(folder) != MF_OK)
            return env->error.status;
    }
    if (mf_folder_check_tokens(folder) != MF_OK)
        return env->error.status;
    return mf_folder_check_templates(folder);
}

enum mf_status mf_folder_check(struct mf_model *model)
{
    struct mf_arena arena;
    struct mf_folder *folder = mf_alloc(model->env, sizeof(*folder));
    enum mf_status status = MF_OK;

    if (!folder)
        return model->env->error.status;
    mf_arena_init(&arena, model->env);
    *folder = (struct mf_folder){ .model = model, .arena = &arena };
    /* What is next to files of other formats describes other files. */
    if (mf_model_is_adapter(model))
        status = mf_adapter_check(model);
    else if (mf_nearby_any(model) &&
             model->format->readers & MF_READER_TRANSFORMERS &&
             model->info.has_tensors)
        status = check_sidecars(folder);
    if (status == MF_OK)
        status = mf_folder_check_shards(folder);
    mf_arena_release(&arena);
    mf_release(model->env, folder, sizeof(*folder));
    return status;
}
