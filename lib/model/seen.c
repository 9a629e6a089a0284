/* SPDX-License-Identifier: MIT
 *
 * seen.c - files that were read next to a model, and are no longer open
 *
 * A tokenizer.json is parsed long before its model is written.  If it is edited
 * meanwhile, the output has its old content, unnoticed.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "lib/io/system.h"
#include "lib/model/steady.h"

/* No tokenizer has more bytes.  A larger file counts as changed whenever
 * anything of it was. */
#define DIGESTED ((uint64_t)256 * 1024 * 1024)

struct mf_seen {
    struct mf_seen *next;
    const struct mf_model *model;
    size_t size; /* of this */
    struct mf_source_id id;
    struct mf_source_times times;
    uint64_t file_size;
    XXH128_hash_t digest;
    const char *name; /* within text */
    char text[];      /* the path, and the name */
};

static enum mf_status digest_of(struct mf_env *env,
                                const struct mf_source *source,
                                XXH128_hash_t *out)
{
    size_t room;
    uint8_t *bytes = mf_chunk_table(env, (size_t)64 * 1024, 1, &room);
    enum mf_status status = bytes ? MF_OK : env->error.status;
    uint64_t size = source->size <= DIGESTED ? source->size : 0;
    XXH3_state_t state;

    XXH3_128bits_reset(&state);
    for (uint64_t at = 0; at < size && status == MF_OK;) {
        uint64_t left = size - at;
        size_t some = left < room ? (size_t)left : room;

        status = mf_source_read(env, source, at, bytes, some);
        if (status == MF_OK)
            XXH3_128bits_update(&state, bytes, some);
        at += some;
    }
    *out = XXH3_128bits_digest(&state);
    mf_release(env, bytes, room);
    return status;
}

static bool same_file(const struct mf_seen *seen, const struct mf_source *now)
{
    struct mf_source_id id = mf_source_identify(now);

    return id.device == seen->id.device && id.file == seen->id.file &&
           now->size == seen->file_size &&
           now->times.written == seen->times.written &&
           now->times.changed == seen->times.changed;
}

static bool is_seen(const struct mf_model *model, const char *path,
                    const struct mf_source *source)
{
    const struct mf_seen *seen = model->env->seen;

    for (; seen; seen = seen->next)
        if (seen->model == model && strcmp(seen->text, path) == 0 &&
            same_file(seen, source))
            return true;
    return false;
}

enum mf_status mf_seen_add(const struct mf_model *model, const char *name,
                           const char *path, const struct mf_source *source)
{
    struct mf_env *env = model->env;
    size_t path_size = strlen(path) + 1, size = sizeof(struct mf_seen);
    struct mf_seen *seen;

    if (model->given || is_seen(model, path, source))
        return MF_OK; /* what a program brings does not change */
    size += path_size + strlen(name) + 1;
    seen = mf_alloc(env, size);
    if (!seen)
        return env->error.status;
    *seen = (struct mf_seen){ .next = env->seen,
                              .model = model,
                              .size = size,
                              .id = mf_source_identify(source),
                              .times = source->times,
                              .file_size = source->size,
                              .name = seen->text + path_size };
    memcpy(seen->text, path, path_size);
    memcpy(seen->text + path_size, name, strlen(name) + 1);
    env->seen = seen;
    return digest_of(env, source, &seen->digest);
}

static enum mf_status changed(struct mf_env *env, const struct mf_seen *seen)
{
    mf_clear_error(env);
    return mf_fail(
        env, MF_ERR_IO, MF_NO_OFFSET,
        "'%s', which was read with the model, has changed since",
        mf_quote((struct mf_str){ seen->name, strlen(seen->name) }).text);
}

/* The bytes count, not who wrote them when: an editor may have saved what was
 * there. */
static enum mf_status check(struct mf_env *env, struct mf_seen *seen)
{
    struct mf_source now;
    XXH128_hash_t digest;
    enum mf_status status;

    if (mf_source_open_file(env, seen->text, &now, NULL) != MF_OK)
        return changed(env, seen);
    if (same_file(seen, &now)) {
        mf_source_close(&now);
        return MF_OK;
    }
    status = now.size == seen->file_size && now.size <= DIGESTED
                 ? digest_of(env, &now, &digest)
                 : MF_ERR_IO;
    mf_source_close(&now);
    if (status == MF_OK && XXH128_isEqual(digest, seen->digest))
        return MF_OK;
    return status == MF_ERR_MEMORY ? status : changed(env, seen);
}

enum mf_status mf_seen_check(const struct mf_model *model)
{
    struct mf_env *env = model->env;
    enum mf_status status = MF_OK;

    for (struct mf_seen *seen = env->seen; seen && status == MF_OK;
         seen = seen->next)
        if (seen->model == model)
            status = check(env, seen);
    return status;
}

void mf_seen_forget(const struct mf_model *model)
{
    struct mf_seen **at = &model->env->seen;

    while (*at) {
        struct mf_seen *seen = *at;

        if (seen->model != model) {
            at = &seen->next;
            continue;
        }
        *at = seen->next;
        mf_release(model->env, seen, seen->size);
    }
}
