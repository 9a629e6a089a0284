/* SPDX-License-Identifier: MIT
 *
 * hash_meta.c - the digest of a model's metadata
 *
 * Like the model's digest, it covers lines, one for each key, so that it
 * depends neither on the order of the keys nor on how the file is laid out.
 * What only says how it is laid out is left out: general.alignment, and which
 * shard of how many a file is.  In a folder of Hugging Face's format,
 * config.json and the files like it are metadata, too.
 */
#include <errno.h>
#include <string.h>

#include "lib/base/sort.h"
#include "lib/base/str.h"
#include "lib/base/timings.h"
#include "lib/compare/hash.h"
#include "lib/folder/sidecar.h"
#include "lib/io/digest.h"
#include "lib/io/path.h"
#include "lib/model/nearby.h"
#include "lib/model/steady.h"

/* The type of a file next to a model, after the types of values. */
#define TYPE_FILE (MF_VALUE_MIXED + 1)

#define TEMPLATES_MAX 64

struct entry {
    struct mf_str key;
    uint8_t digest[MF_DIGEST_MAX];
};

struct meta {
    struct mf_model *model;
    struct mf_digest *digest;
    struct mf_arena arena;
    struct entry *entry;
    size_t count, room;
};

static enum mf_status status_of(const struct meta *meta)
{
    return meta->model->env->error.status;
}

/* ---- entries ---- */

static enum mf_status add_entry(struct meta *meta, struct mf_str key)
{
    struct mf_env *env = meta->model->env;
    struct entry *entry = &meta->entry[meta->count++];

    entry->key = key;
    memset(entry->digest, 0, sizeof(entry->digest));
    return mf_hash_finish(env, meta->digest, entry->digest);
}

/* Keys about the file, not about the model in it. */
static bool is_layout(const struct mf_model *model, struct mf_str key)
{
    return model->format->sharding == MF_SHARDING_NUMBERED &&
           (mf_str_is(key, "general.alignment") || mf_str_is(key, "split.no") ||
            mf_str_is(key, "split.count") ||
            mf_str_is(key, "split.tensors.count"));
}

static enum mf_status add_values(struct meta *meta)
{
    struct mf_model *model = meta->model;

    for (size_t i = 0; i < model->index.meta_count; i++) {
        struct mf_str key = model->index.meta[i].key;

        if (is_layout(model, key))
            continue;
        mf_digest_restart(meta->digest);
        if (mf_hash_value(model, meta->digest, i) != MF_OK ||
            add_entry(meta, key) != MF_OK)
            return status_of(meta);
    }
    return MF_OK;
}

/* ---- files ---- */

static enum mf_status add_file(struct meta *meta, const char *name)
{
    struct mf_sidecar file;
    enum mf_status status;

    mf_digest_restart(meta->digest);
    mf_hash_type(meta->digest, TYPE_FILE);
    status = mf_sidecar_open(&file, meta->model, &meta->arena, name);
    if (status == MF_OK)
        status = mf_hash_rest(&file.reader, meta->digest);
    status = mf_sidecar_close(&file, status);
    return status == MF_OK
               ? add_entry(meta, (struct mf_str){ name, strlen(name) })
               : status;
}

/* A card is not metadata, and weights are tensors. */
static bool is_counted(const char *name)
{
    return strcmp(name, "README.md") != 0 &&
           !mf_name_ends(name, ".safetensors");
}

/* The path of a template in its folder; "" if it is not a template, NULL after
 * mf_fail.
 */
static const char *template_path(struct meta *meta, const char *name)
{
    size_t size = strlen(MF_SIDECAR_FOLDER) + 1 + strlen(name);
    char *path;

    if (!mf_name_ends(name, ".jinja"))
        return "";
    path = mf_arena_text(&meta->arena, size);
    if (!path)
        return NULL;
    memcpy(path, MF_SIDECAR_FOLDER "/", strlen(MF_SIDECAR_FOLDER) + 1);
    memcpy(path + strlen(MF_SIDECAR_FOLDER) + 1, name, strlen(name) + 1);
    return path;
}

static enum mf_status add_template(struct meta *meta, const char *name)
{
    const char *path = template_path(meta, name);

    if (!path || !*path)
        return status_of(meta);
    if (meta->count == meta->room)
        return mf_fail(meta->model->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "'%s' has more than %d templates", MF_SIDECAR_FOLDER,
                       TEMPLATES_MAX);
    return add_file(meta, path);
}

static enum mf_status add_templates(struct meta *meta)
{
    static const struct mf_str name = { MF_SIDECAR_FOLDER,
                                        sizeof(MF_SIDECAR_FOLDER) - 1 };
    const char *path =
        mf_path_sibling(&meta->arena, meta->model->file[0].path, name);
    enum mf_status status = MF_OK;
    struct mf_entries entries;
    const char *next;

    if (!path)
        return status_of(meta);
    mf_entries_begin(&entries, mf_nearby_folder(meta->model, path));
    while (status == MF_OK && (next = mf_entries_next(&entries)) != NULL)
        status = add_template(meta, next);
    mf_entries_end(&entries);
    return status;
}

/* Whether the files next to the model belong to it. */
static bool has_files(const struct mf_model *model)
{
    return model->format->naming == MF_NAMING_HF && mf_nearby_any(model);
}

static enum mf_status add_files(struct meta *meta)
{
    if (!has_files(meta->model))
        return MF_OK;
    for (size_t i = 0; mf_sidecar_names[i]; i++) {
        const char *name = mf_sidecar_names[i];

        if (is_counted(name) &&
            mf_sidecar_exists(meta->model, &meta->arena, name) &&
            add_file(meta, name) != MF_OK)
            return status_of(meta);
    }
    return add_templates(meta);
}

/* ---- lines ---- */

/* By the bytes of the keys; equal ones by their digests, so that their order
 * does not matter either. */
static bool before(const void *table, uint32_t a, uint32_t b)
{
    const struct entry *entry = table;
    size_t size = entry[a].key.size < entry[b].key.size ? entry[a].key.size
                                                        : entry[b].key.size;
    int order = size > 0 ? memcmp(entry[a].key.at, entry[b].key.at, size) : 0;

    if (order != 0)
        return order < 0;
    if (entry[a].key.size != entry[b].key.size)
        return entry[a].key.size < entry[b].key.size;
    return memcmp(entry[a].digest, entry[b].digest, MF_DIGEST_MAX) < 0;
}

static enum mf_status add_lines(struct meta *meta, size_t size)
{
    uint32_t *row =
        mf_arena_take(&meta->arena, (meta->count + 1) * sizeof(*row));
    size_t longest = 0;
    char *text;

    for (size_t i = 0; i < meta->count; i++)
        if (meta->entry[i].key.size > longest)
            longest = meta->entry[i].key.size;
    text = mf_arena_text(&meta->arena, MF_HASH_LINE_ROOM(longest));
    if (!row || !text)
        return status_of(meta);
    for (size_t i = 0; i < meta->count; i++)
        row[i] = (uint32_t)i;
    mf_sort(row, meta->count, before, meta->entry);
    mf_digest_restart(meta->digest);
    for (size_t i = 0; i < meta->count; i++) {
        const struct entry *entry = &meta->entry[row[i]];

        mf_digest_add(meta->digest, text,
                      mf_hash_line(entry->key, entry->digest, size, text));
    }
    return MF_OK;
}

static enum mf_status hash(struct meta *meta, enum mf_digest_kind kind,
                           uint8_t out[MF_DIGEST_MAX])
{
    struct mf_env *env = meta->model->env;

    meta->count = 0;
    meta->room = meta->model->index.meta_count + TEMPLATES_MAX;
    for (size_t i = 0; mf_sidecar_names[i]; i++)
        meta->room++;
    meta->entry =
        mf_arena_take(&meta->arena, meta->room * sizeof(*meta->entry));
    if (!meta->entry || add_values(meta) != MF_OK || add_files(meta) != MF_OK ||
        add_lines(meta, mf_digest_size(kind)) != MF_OK)
        return env->error.status;
    return mf_hash_finish(env, meta->digest, out);
}

enum mf_status mf_model_hash_metadata(struct mf_model *model,
                                      enum mf_digest_kind kind,
                                      uint8_t out[MF_DIGEST_MAX])
{
    MF_NEED(NULL, model);
    MF_NEED(model->env, out);

    struct mf_env *env = model->env;
    struct meta meta = { .model = model };
    struct mf_timed timed = mf_timed_begin(env, MF_PHASE_DIGEST);
    enum mf_status status = mf_hash_begin(env, kind);

    mf_arena_init(&meta.arena, env);
    if (status == MF_OK) {
        meta.digest = mf_digest_new(env, kind);
        for (unsigned round = 0;
             meta.digest && mf_steady_next(env, &model, 1, &round);)
            hash(&meta, kind, out);
        status = env->error.status;
    }
    mf_digest_free(meta.digest);
    mf_arena_release(&meta.arena);
    mf_timed_end(env, timed);
    return status;
}
