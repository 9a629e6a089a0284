/* SPDX-License-Identifier: MIT
 *
 * hash_model.c - digests of all tensors of a model, and one of the model
 */
#include "lib/compare/hash.h"

#include <string.h>

#include "lib/base/timings.h"
#include "lib/model/steady.h"

/* ---- tensors ---- */

/* Tensor indices in an order; NULL after mf_fail. */
static uint32_t *sorted(const struct mf_model *model, enum mf_order order)
{
    size_t count = model->index.tensor_count;
    uint32_t *tensor = mf_alloc(model->env, (count + 1) * sizeof(*tensor));

    for (size_t i = 0; tensor && i < count; i++)
        tensor[i] = (uint32_t)i;
    if (tensor)
        mf_tensor_sort(model, order, tensor, count);
    return tensor;
}

static void release_sorted(const struct mf_model *model, uint32_t *tensor)
{
    mf_release(model->env, tensor,
               (model->index.tensor_count + 1) * sizeof(*tensor));
}

enum mf_status mf_model_hash_tensors(struct mf_model *model,
                                     enum mf_digest_kind kind, uint8_t *digests)
{
    MF_NEED(NULL, model);
    MF_NEED(model->env, digests);

    uint32_t *tensor;

    if (mf_hash_begin(model->env, kind) != MF_OK ||
        mf_table_refuse(model) != MF_OK || mf_missing_refuse(model) != MF_OK)
        return model->env->error.status;
    /* One thread reads in order, which a pipe requires; the largest first is
     * for several. */
    tensor = sorted(model, mf_env_threads(model->env) > 1 ? MF_ORDER_SIZE
                                                          : MF_ORDER_OFFSET);
    if (!tensor)
        return model->env->error.status;
    for (unsigned round = 0; mf_steady_next(model->env, &model, 1, &round);)
        mf_hash_some(model, kind, tensor, model->index.tensor_count, digests);
    release_sorted(model, tensor);
    return model->env->error.status;
}

/* ---- the model: a digest of lines, one for each tensor ---- */

static size_t put_hex(const uint8_t *bytes, size_t size, char *out)
{
    for (size_t i = 0; i < size; i++) {
        *out++ = "0123456789abcdef"[bytes[i] >> 4];
        *out++ = "0123456789abcdef"[bytes[i] & 15];
    }
    return 2 * size;
}

static size_t put_name(struct mf_str name, char *out)
{
    char *at = out, escape[12];

    while (name.size > 0) {
        size_t size = mf_text_clean(name.at, name.size);

        for (size_t i = 0; i < size; i++) {
            if (name.at[i] == '\\')
                *at++ = '\\';
            *at++ = name.at[i];
        }
        if (size == 0) {
            size = mf_text_escape(name.at, name.size, escape);
            memcpy(at, escape, strlen(escape));
            at += strlen(escape);
        }
        name.at += size;
        name.size -= size;
    }
    return (size_t)(at - out);
}

/* Room for the longest line. */
static size_t line_room(const struct mf_model *model)
{
    size_t longest = 0;

    for (size_t i = 0; i < model->index.tensor_count; i++)
        if (model->index.tensor[i].name_size > longest)
            longest = model->index.tensor[i].name_size;
    return MF_HASH_LINE_ROOM(longest);
}

size_t mf_hash_line(struct mf_str name, const uint8_t *digest, size_t size,
                    char *out)
{
    size_t at = put_hex(digest, size, out);

    out[at++] = ' ';
    out[at++] = ' ';
    at += put_name(name, out + at);
    out[at++] = '\n';
    return at;
}

enum mf_status mf_model_hash(struct mf_model *model, enum mf_digest_kind kind,
                             const uint8_t *digests, uint8_t out[MF_DIGEST_MAX],
                             void (*line)(void *user, size_t tensor,
                                          const char *text, size_t size),
                             void *user)
{
    MF_NEED(NULL, model);
    MF_NEED(model->env, digests);
    MF_NEED(model->env, out);

    struct mf_env *env = model->env;
    struct mf_timed timed = mf_timed_begin(env, MF_PHASE_DIGEST);
    struct mf_digest *digest = mf_digest_new(env, kind);
    size_t room = line_room(model), size = digest ? mf_digest_size(kind) : 0;
    uint32_t *tensor = digest ? sorted(model, MF_ORDER_NAME) : NULL;
    char *text = tensor ? mf_alloc(env, room) : NULL;

    for (size_t i = 0; text && i < model->index.tensor_count; i++) {
        const struct mf_record *record = &model->index.tensor[tensor[i]];
        size_t filled =
            mf_hash_line((struct mf_str){ record->name, record->name_size },
                         digests + tensor[i] * size, size, text);

        mf_digest_add(digest, text, filled);
        if (line)
            line(user, tensor[i], text, filled);
    }
    if (text)
        mf_hash_finish(env, digest, out);
    mf_release(env, text, room);
    release_sorted(model, tensor);
    mf_digest_free(digest);
    mf_timed_end(env, timed);
    return env->error.status;
}

/* ---- a file ---- */

enum mf_status mf_file_hash(struct mf_env *env, const char *path,
                            enum mf_digest_kind kind,
                            uint8_t out[MF_DIGEST_MAX])
{
    MF_NEED(NULL, env);
    MF_NEED(env, path);
    MF_NEED(env, out);

    struct mf_source source = { 0 };
    const struct mf_source *only = &source;
    bool touched = true; /* since it was hashed */
    struct mf_timed timed = mf_timed_begin(env, MF_PHASE_OPEN);
    enum mf_status status = mf_hash_begin(env, kind);

    if (status == MF_OK)
        status = mf_source_open_file(env, path, &source, NULL);
    mf_timed_end(env, timed);
    for (int i = 0; i < 8 && status == MF_OK && touched; i++) {
        status = mf_hash_sources(env, &only, 1, kind, out);
        if (status == MF_OK)
            status = mf_source_steady(env, &source, &touched);
    }
    mf_source_close(&source);
    return status;
}
