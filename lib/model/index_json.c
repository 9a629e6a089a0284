/* SPDX-License-Identifier: MIT
 *
 * index_json.c - models whose files are listed: model.safetensors.index.json
 *
 * The list is read twice: once for the names of the files, and once all of
 * them are open, to compare which tensor it has in which file with what the
 * files have.  Keeping the first reading would need memory for every tensor
 * name in the list, whatever a hostile list claims.
 */
#include <string.h>

#include "lib/io/path.h"
#include "lib/model/index_json.h"
#include "lib/model/model.h"
#include "lib/model/shards.h"

enum mf_status mf_shard_names_add(struct mf_shard_names *names,
                                  struct mf_str name, size_t *at)
{
    size_t room = names->room ? names->room * 2 : 8;
    struct mf_str *moved;
    char *copy;

    if (names->count == names->room) {
        moved =
            mf_env_resize(names->arena->env, names->name,
                          names->room * sizeof(*moved), room * sizeof(*moved));
        if (!moved)
            return names->arena->env->error.status;
        names->name = moved;
        names->room = room;
    }
    copy = mf_arena_text(names->arena, name.size);
    if (!copy)
        return names->arena->env->error.status;
    memcpy(copy, name.at, name.size);
    *at = names->count;
    names->name[names->count++] = (struct mf_str){ copy, name.size };
    return MF_OK;
}

static enum mf_status open_listed(struct mf_model *model, const char *path,
                                  const struct mf_shard_names *names)
{
    size_t count = names->count;

    if (model->index.metadata_only && count > 1)
        count = 1;
    for (size_t i = 0; i < count; i++) {
        const char *shard =
            mf_path_sibling(&model->paths, path, names->name[i]);

        if (!shard)
            return model->env->error.status;
        if (mf_model_add_file(model, shard) != MF_OK)
            return mf_shard_add_context(model, shard);
        if (model->format->list) {
            mf_refuse(model->env, MF_RULE_SHARD_FOREIGN, MF_NO_OFFSET,
                      "this is a list of shards, not a shard");
            return mf_shard_add_context(model, shard);
        }
    }
    return MF_OK;
}

static enum mf_status list_and_open(struct mf_model *model,
                                    const struct mf_format *format,
                                    const struct mf_source *source,
                                    const char *path,
                                    struct mf_shard_names *names)
{
    struct mf_reader reader;
    enum mf_status status =
        mf_reader_init(&reader, model->env, source, NULL, 0);

    if (status == MF_OK)
        status = format->list(&reader, names);
    mf_reader_release(&reader);
    if (status != MF_OK || open_listed(model, path, names) != MF_OK)
        return model->env->error.status;
    if (model->index.metadata_only)
        return MF_OK;
    if (mf_index_build_names(&model->index) != MF_OK)
        return model->env->error.status;
    status = mf_reader_init(&reader, model->env, source, NULL, 0);
    if (status == MF_OK)
        status = format->verify(&reader, &model->index, names);
    mf_reader_release(&reader);
    return status;
}

enum mf_status mf_model_open_listed(struct mf_model *model, const char *path)
{
    const struct mf_format *format = model->format;
    struct mf_source source = model->file[0].source;
    struct mf_shard_names names = { .arena = &model->paths };
    enum mf_status status;

    model->list = path;
    model->file_count = 0; /* the list is not a shard */
    model->format = NULL;
    status = mf_source_check_size(model->env, &source, MF_LIST_MAX);
    if (status == MF_OK)
        status = list_and_open(model, format, &source, path, &names);
    mf_release(model->env, names.name, names.room * sizeof(*names.name));
    mf_source_close(&source);
    return status;
}
