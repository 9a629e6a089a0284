/* SPDX-License-Identifier: MIT
 *
 * gather.c - the files that a path stands for: itself, its model's other
 * shards, what it lists, or the one model of a folder
 */
#include <string.h>

#include "lib/model.h"

struct only_model { /* what a folder's listing found */
    struct mf_model *model;
    const char *path;
    enum mf_shards shards;
    size_t count;
};

static enum mf_status count_model(void *user, const char *path,
                                  enum mf_shards shards)
{
    struct only_model *only = user;
    size_t size = strlen(path);
    char *copy;

    if (only->count++ > 0)
        return MF_OK;
    copy = mf_arena_text(&only->model->paths, size);
    if (!copy)
        return only->model->env->error.status;
    memcpy(copy, path, size);
    only->path = copy;
    only->shards = shards;
    return MF_OK;
}

static enum mf_status open_folder(struct mf_model *model, const char *path)
{
    struct only_model only = { .model = model };

    mf_clear_error(model->env);
    if (mf_folder_list(model->env, path, count_model, &only) != MF_OK)
        return model->env->error.status;
    if (only.count == 0)
        /* No rule: there are no bytes that could break one. */
        return mf_fail(model->env, MF_ERR_FORMAT, MF_NO_OFFSET,
                       "this folder holds no .gguf, .safetensors or .apr file");
    if (only.count > 1)
        return mf_fail(
            model->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
            "this folder holds %zu models: name one of them, for "
            "instance '%s'",
            only.count,
            mf_quote((struct mf_str){ only.path, strlen(only.path) }).text);
    return mf_model_open_path(model, only.path, only.shards);
}

enum mf_status mf_model_open_path(struct mf_model *model, const char *path,
                                  enum mf_shards shards)
{
    bool is_folder = false;
    struct mf_source source;

    if (mf_source_open_file(model->env, path, &source, &is_folder) != MF_OK)
        return is_folder ? open_folder(model, path) : model->env->error.status;
    if (mf_model_add_source(model, &source, path) != MF_OK)
        return model->env->error.status;
    if (model->format->list)
        return mf_model_gather_listed(model, path);
    if (shards == MF_SHARDS_ALONE)
        return MF_OK;
    if (model->part[0].is_split && model->part[0].split_count > 1)
        return mf_model_gather_split(model, path);
    return shards == MF_SHARDS_BY_NAME && model->format->unmarked
               ? mf_model_gather_named(model, path)
               : MF_OK;
}
