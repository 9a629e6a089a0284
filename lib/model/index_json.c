/* SPDX-License-Identifier: MIT
 *
 * index_json.c - models whose files are listed: model.safetensors.index.json
 *
 * The list is read twice: once for the names of the files, and once all of
 * them are open, to compare which tensor it has in which file with what the
 * files have.  Keeping the first reading would need memory for every tensor
 * name in the list, whatever a hostile list claims.
 */

#include <errno.h>
#include <string.h>

#include "lib/base/str.h"
#include "lib/io/path.h"
#include "lib/io/system.h"
#include "lib/model/formats.h"
#include "lib/model/model.h"
#include "lib/model/nearby.h"
#include "lib/model/open_parts.h"

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

/* ---- the list that has a file ---- */

/* A shard of safetensors does not say which model it belongs to, and names do
 * not follow one rule everywhere (model-00001-of-000163.safetensors).  So every
 * index.json in the folder is read and searched for the file's name.  One that
 * cannot be read is an error, because it might list the file. */

static bool is_index_name(const struct mf_env *env, const char *name)
{
    for (size_t i = 0; env->formats[i]; i++)
        if (env->formats[i]->list &&
            mf_name_ends(name, env->formats[i]->suffix))
            return true;
    return false;
}

static enum mf_status list_names(struct mf_env *env,
                                 const struct mf_source *source,
                                 struct mf_shard_names *names)
{
    uint8_t bytes[MF_HEAD_SIZE];
    const struct mf_format *format;
    struct mf_detection kind;
    struct mf_head head;
    struct mf_reader reader;
    enum mf_status status = mf_head_read(env, source, bytes, &head);

    if (status != MF_OK)
        return status;
    format = mf_format_detect(env, &head, &kind);
    mf_head_release(env, &head);
    if (!format || !format->list)
        return mf_fail(env, MF_ERR_FORMAT, MF_NO_OFFSET,
                       "not a list of shards");
    status = mf_reader_init(&reader, env, source, head.at, head.size);
    if (status == MF_OK)
        status = format->list(&reader, names);
    mf_reader_release(&reader);
    return status;
}

static bool has_name(const struct mf_shard_names *names, struct mf_str name)
{
    for (size_t i = 0; i < names->count; i++)
        if (mf_str_same(names->name[i], name))
            return true;
    return false;
}

/* Puts the name of the index in front of the error message. */
static enum mf_status add_context(struct mf_env *env, const char *index)
{
    struct mf_error error = env->error;
    const char *name = mf_base_name(index);

    mf_clear_error(env);
    mf_fail(env, error.status, MF_NO_OFFSET,
            "cannot read '%s', which may list this file: %s",
            mf_quote((struct mf_str){ name, strlen(name) }).text,
            error.message);
    env->error.rule = error.rule;
    return error.status;
}

/* *lists: whether the index lists the file. */
static enum mf_status read_index(struct mf_model *model, const char *index,
                                 struct mf_str file, bool *lists)
{
    struct mf_env *env = model->env;
    struct mf_arena arena;
    struct mf_shard_names names = { .arena = &arena };
    struct mf_source source;
    enum mf_status status = mf_nearby_open(model, index, &source);

    if (status != MF_OK)
        return add_context(env, index);
    mf_arena_init(&arena, env);
    status = mf_source_check_size(env, &source, MF_LIST_MAX);
    if (status == MF_OK)
        status = list_names(env, &source, &names);
    *lists = status == MF_OK && has_name(&names, file);
    mf_release(env, names.name, names.room * sizeof(*names.name));
    mf_arena_release(&arena);
    mf_source_close(&source);
    return status == MF_OK ? MF_OK : add_context(env, index);
}

/* Two lists with the same file may be two models; the message names them in
 * alphabetical order, whatever order the folder has. */
static enum mf_status ambiguous(struct mf_env *env, const char *a,
                                const char *b)
{
    bool swapped = strcmp(a, b) > 0;
    const char *first = mf_base_name(swapped ? b : a);
    const char *second = mf_base_name(swapped ? a : b);

    return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                   "listed by both '%s' and '%s': open the one you mean",
                   mf_quote((struct mf_str){ first, strlen(first) }).text,
                   mf_quote((struct mf_str){ second, strlen(second) }).text);
}

/* Looks at one index; *out becomes its path if it lists the file. */
static enum mf_status try_index(struct mf_model *model, const char *path,
                                const char *name, const char **out)
{
    const char *file = mf_base_name(path);
    const char *index = mf_path_sibling(&model->paths, path,
                                        (struct mf_str){ name, strlen(name) });
    bool lists = false;

    if (!index ||
        read_index(model, index, (struct mf_str){ file, strlen(file) },
                   &lists) != MF_OK)
        return model->env->error.status;
    if (lists && *out)
        return ambiguous(model->env, *out, index);
    *out = lists ? index : *out;
    return MF_OK;
}

enum mf_status mf_model_find_index(struct mf_model *model, const char *path,
                                   const char **out)
{
    int folder = mf_nearby_folder_of(model, path);
    enum mf_status status = MF_OK;
    struct mf_entries entries;
    const char *name;

    *out = NULL;
    if (folder < 0) /* one that cannot be listed has no index for us */
        return MF_OK;
    mf_entries_begin(&entries, folder);
    errno = 0;
    while (status == MF_OK && (name = mf_entries_next(&entries)) != NULL) {
        if (is_index_name(model->env, name))
            status = try_index(model, path, name, out);
        errno = 0;
    }
    if (status == MF_OK && errno != 0)
        status =
            mf_fail_system(model->env, mf_status_of(errno), MF_NO_OFFSET, errno,
                           "cannot read the folder: %s", mf_errno_text(errno));
    mf_entries_end(&entries);
    return status;
}
