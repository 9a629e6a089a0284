/* SPDX-License-Identifier: MIT
 *
 * open_path.c - from a path to the files of a model: itself, its other
 * shards, what it lists, or the one model of a folder
 */
#include <stdio.h>
#include <string.h>

#include "lib/io/path.h"
#include "lib/model/index_json.h"
#include "lib/model/model.h"
#include "lib/model/open_path.h"
#include "lib/model/pending.h"
#include "lib/model/shards.h"
#include "lib/model/split.h"

/* How sure a name is that of the model, where others lie beside it: adapters,
 * the publisher's own consolidated.safetensors, what was made of it earlier.
 * transformers and llama.cpp's converter go by these names, too. */
enum rank { OTHER, MODEL_FILE, MODEL, MODEL_INDEX };

static enum rank rank_of(const char *name)
{
    static const char stem[] = "model";
    const char *rest = name + strlen(stem);

    if (strncmp(name, stem, strlen(stem)) != 0)
        return OTHER;
    for (size_t i = 0; mf_formats[i]; i++) {
        const struct mf_format *list = mf_format_list_of(mf_formats[i]);

        if (list && strcmp(rest, list->suffix) == 0)
            return MODEL_INDEX;
        if (list && strcmp(rest, mf_formats[i]->suffix) == 0)
            return MODEL;
        if (list && strstr(rest, mf_formats[i]->suffix))
            return MODEL_FILE;
    }
    return OTHER;
}

struct only_model { /* what a folder's listing found */
    struct mf_model *model;
    const char *path; /* the first one of the highest rank */
    enum mf_shards shards;
    enum rank rank;
    size_t equal;    /* of that rank */
    size_t count;    /* of all */
    size_t named;    /* in: */
    char names[200]; /* "'a.gguf', 'b.gguf'" */
};

static void add_name(struct only_model *only, const char *name)
{
    struct mf_str text = { name, strlen(name) };
    size_t used = strlen(only->names), room = sizeof(only->names) - used;
    int size;

    if (only->named < only->count)
        return; /* one did not fit */
    size = snprintf(only->names + used, room, "%s'%s'", used > 0 ? ", " : "",
                    mf_quote(text).text);
    if (size > 0 && (size_t)size < room)
        only->named++;
    else
        only->names[used] = 0;
}

static enum mf_status count_model(void *user, const char *path,
                                  enum mf_shards shards)
{
    struct only_model *only = user;
    enum rank rank = rank_of(mf_base_name(path));
    size_t size = strlen(path);
    char *copy;

    add_name(only, mf_base_name(path));
    only->count++;
    if (only->path && rank <= only->rank) {
        only->equal += rank == only->rank;
        return MF_OK;
    }
    copy = mf_arena_text(&only->model->paths, size);
    if (!copy)
        return only->model->env->error.status;
    memcpy(copy, path, size);
    only->path = copy;
    only->shards = shards;
    only->rank = rank;
    only->equal = 1;
    return MF_OK;
}

/* No rule: there are no bytes that could break one. */
static enum mf_status no_model(struct mf_env *env)
{
    char suffixes[160];

    mf_formats_text(suffixes, sizeof(suffixes), true);
    return mf_fail(env, MF_ERR_FORMAT, MF_NO_OFFSET,
                   "no model in this folder (no %s file)", suffixes);
}

static enum mf_status open_folder(struct mf_model *model, const char *path)
{
    struct only_model only = { .model = model };
    char more[40] = "";

    mf_clear_error(model->env);
    if (mf_folder_list(model->env, path, count_model, &only) != MF_OK)
        return model->env->error.status;
    if (only.count == 0)
        return no_model(model->env);
    if (only.count == 1 || (only.equal == 1 && only.rank > OTHER))
        return mf_model_open_path(model, only.path, only.shards);
    if (only.named < only.count)
        snprintf(more, sizeof(more), " and %zu more", only.count - only.named);
    return mf_fail(model->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                   "this folder holds %zu models: %s%s; name one of them",
                   only.count, only.names, more);
}

enum mf_status mf_model_open_path(struct mf_model *model, const char *path,
                                  enum mf_shards shards)
{
    bool is_folder = false;
    struct mf_source source;

    if (mf_pending_open_file(model->env, path, &source, &is_folder) != MF_OK)
        return is_folder ? open_folder(model, path) : model->env->error.status;
    if (mf_model_add_source(model, &source, path) != MF_OK)
        return model->env->error.status;
    if (model->format->list)
        return mf_model_open_listed(model, path);
    if (shards == MF_SHARDS_ALONE)
        return MF_OK;
    if (model->part[0].is_split && model->part[0].split_count > 1)
        return mf_model_open_split(model, path);
    return shards == MF_SHARDS_BY_NAME &&
                   model->format->sharding == MF_SHARDING_LISTED
               ? mf_model_open_numbered(model, path)
               : MF_OK;
}
