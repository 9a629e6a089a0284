/* SPDX-License-Identifier: MIT
 *
 * open_path.c - from a path to the files of a model
 *
 * A path can mean four things, tried in this order:
 *
 *   a folder        the one model in it
 *   a list          model.safetensors.index.json: the files it lists
 *   a marked shard  GGUF's split.no and split.count: all shards, by their
 *                   numbered names
 *   any other file  that file.  A shard of safetensors looks like a whole
 *                   model, so callers that write whole models pass
 *                   MF_SHARDS_BY_NAME: then the shards of the list that names
 *                   this file, or the shards that its name counts
 *
 * The first file has to be opened to know which.  If it turns out to be one of
 * several, it is closed and all are opened again in order, so that shard 1 is
 * always the first in the index and its metadata the model's.
 */
#include <stdio.h>
#include <string.h>

#include "lib/io/path.h"
#include "lib/io/system.h"
#include "lib/model/model.h"
#include "lib/model/nearby.h"
#include "lib/model/open_parts.h"
#include "lib/model/pending.h"

/* How likely a name is the model's when a folder has several: others may be
 * adapters, the publisher's own consolidated.safetensors, or files made from
 * the model.  transformers and llama.cpp's converter prefer the same names. */
enum rank { OTHER, MODEL_FILE, MODEL, MODEL_INDEX };

static enum rank rank_of(const struct mf_env *env, const char *name)
{
    static const char stem[] = "model";
    const char *rest;

    if (strncmp(name, stem, strlen(stem)) != 0)
        return OTHER;
    rest = name + strlen(stem);
    for (size_t i = 0; env->formats[i]; i++) {
        const struct mf_format *list = mf_format_list_of(env, env->formats[i]);

        if (list && strcmp(rest, list->suffix) == 0)
            return MODEL_INDEX;
        if (list && strcmp(rest, env->formats[i]->suffix) == 0)
            return MODEL;
        if (list && strstr(rest, env->formats[i]->suffix))
            return MODEL_FILE;
    }
    return OTHER;
}

/* The models of a folder, so far. */
struct candidates {
    struct mf_env *env;
    struct mf_arena *paths;
    bool listed;      /* paths are names, which may have folders in front */
    const char *path; /* the first one of the highest rank */
    enum mf_shards shards;
    enum rank rank;
    size_t equal;    /* how many have that rank */
    size_t count;    /* of any rank */
    size_t named;    /* how many are in names */
    char names[200]; /* "'a.gguf', 'b.gguf'" */
};

static void add_name(struct candidates *found, const char *name)
{
    struct mf_str text = { name, strlen(name) };
    size_t used = strlen(found->names), room = sizeof(found->names) - used;
    int size;

    if (found->named < found->count)
        return; /* an earlier name did not fit */
    size = snprintf(found->names + used, room, "%s'%s'", used > 0 ? ", " : "",
                    mf_quote(text).text);
    if (size > 0 && (size_t)size < room)
        found->named++;
    else
        found->names[used] = 0;
}

static enum mf_status add_candidate(void *user, const char *path,
                                    enum mf_shards shards)
{
    struct candidates *found = user;
    enum rank rank = rank_of(found->env, mf_base_name(path));
    size_t size = strlen(path);
    char *copy;

    add_name(found, found->listed ? path : mf_base_name(path));
    found->count++;
    if (found->path && rank <= found->rank) {
        found->equal += rank == found->rank;
        return MF_OK;
    }
    copy = mf_arena_text(found->paths, size);
    if (!copy)
        return found->env->error.status;
    memcpy(copy, path, size);
    found->path = copy;
    found->shards = shards;
    found->rank = rank;
    found->equal = 1;
    return MF_OK;
}

/* What folders without a model often have in its place. */
static const struct {
    const char *name, *hint;
} elsewhere[] = {
    { "snapshots", "this is a download cache, whose models are the folders in "
                   "'snapshots'" },
};

static const char *hint_of(const char *folder)
{
    char path[PATH_MAX];
    struct stat status;
    int size;

    for (size_t i = 0; i < sizeof(elsewhere) / sizeof(*elsewhere); i++) {
        size = snprintf(path, sizeof(path), "%s/%s", folder, elsewhere[i].name);
        if (size > 0 && (size_t)size < sizeof(path) && stat(path, &status) == 0)
            return elsewhere[i].hint;
    }
    return NULL;
}

/* No rule: there are no bytes that could break one.  folder: NULL if it is not
 * on the disk. */
static enum mf_status no_model(struct mf_env *env, const char *folder)
{
    const char *hint = folder ? hint_of(folder) : NULL;
    char suffixes[160];

    mf_formats_text(env->formats, true, suffixes, sizeof(suffixes));
    return mf_fail(env, MF_ERR_FORMAT, MF_NO_OFFSET,
                   "no model in this folder (no %s file)%s%s", suffixes,
                   hint ? "; " : "", hint ? hint : "");
}

static const char bare_name[] = "config.json";

/* A folder without a model, but with config.json: that.  NULL: not so. */
static const char *find_bare(struct mf_model *model, const char *folder)
{
    size_t size = strlen(folder), slash = size > 0 && folder[size - 1] != '/';
    struct stat status;
    char *path;

    if (!model->may_be_bare)
        return NULL;
    path = mf_arena_text(&model->paths, size + slash + strlen(bare_name));
    if (!path)
        return NULL;
    memcpy(path, folder, size);
    memcpy(path + size, "/", slash);
    memcpy(path + size + slash, bare_name, strlen(bare_name));
    return stat(path, &status) == 0 ? path : NULL;
}

/* One of them is preferred, or an error lists them. */
static enum mf_status judge(const struct candidates *found)
{
    char more[40] = "";

    if (found->count == 1 || (found->equal == 1 && found->rank > OTHER))
        return MF_OK;
    if (found->named < found->count)
        snprintf(more, sizeof(more), " and %zu more",
                 found->count - found->named);
    return mf_fail(found->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                   "this folder has %zu models: %s%s; choose one of them",
                   found->count, found->names, more);
}

static enum mf_status open_folder(struct mf_model *model, const char *path)
{
    struct candidates found = { .env = model->env, .paths = &model->paths };
    const char *bare;

    mf_clear_error(model->env);
    if (mf_folder_list(model->env, path, add_candidate, &found) != MF_OK)
        return model->env->error.status;
    if (found.count == 0) {
        bare = find_bare(model, path);
        return bare ? mf_model_open_path(model, bare, MF_SHARDS_ALONE)
                    : no_model(model->env, path);
    }
    return judge(&found) == MF_OK
               ? mf_model_open_path(model, found.path, found.shards)
               : model->env->error.status;
}

enum mf_status mf_names_choose(struct mf_env *env, const char *const *names,
                               size_t count, char *out, size_t room,
                               enum mf_shards *shards)
{
    struct mf_arena paths;
    struct candidates found = { .env = env, .paths = &paths, .listed = true };
    enum mf_status status;

    mf_clear_error(env);
    mf_arena_init(&paths, env);
    status = mf_folder_list_names(env, names, count, add_candidate, &found);
    if (status == MF_OK && found.count == 0)
        status = no_model(env, NULL);
    if (status == MF_OK)
        status = judge(&found);
    if (status == MF_OK && strlen(found.path) >= room)
        status = mf_fail(env, MF_ERR_LIMIT, MF_NO_OFFSET,
                         "the name of the model in it is too long");
    if (status == MF_OK) {
        strcpy(out, found.path);
        *shards = found.shards;
    }
    mf_arena_release(&paths);
    return status;
}

enum mf_status mf_model_open_path(struct mf_model *model, const char *path,
                                  enum mf_shards shards)
{
    bool is_folder = false;
    struct mf_source source;

    if (mf_nearby_open_own(model, path, &source, &is_folder) != MF_OK)
        return is_folder ? open_folder(model, path) : model->env->error.status;
    if (model->may_be_bare && strcmp(mf_base_name(path), bare_name) == 0)
        return mf_model_add_bare(model, &source, path);
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
