/* SPDX-License-Identifier: MIT
 *
 * hash_whole.c - digests of all data of a model, and of files
 *
 * A digest of all data in order (llama-gguf-hash) and a file's digest have no
 * parallel part: one worker does each.
 */
#include "lib/compare/hash_parts.h"

#include <string.h>

#include "lib/base/timings.h"
#include "lib/io/digest.h"
#include "lib/model/steady.h"

/* All tensors, one after the other. */
static enum mf_status hash_all(struct mf_worker *worker, void *context,
                               size_t task)
{
    struct mf_hashing *hash = context;
    const struct mf_model *model = hash->model;

    (void)task; /* the only one */
    for (size_t i = 0; i < model->index.tensor_count; i++) {
        const struct mf_record *record = &model->index.tensor[i];
        struct mf_span span = { mf_record_data(model, record), record->size };

        if (mf_hash_add(worker, &model->file[record->shard].source, span,
                        hash->digest[0]) != MF_OK)
            return worker->env.error.status;
    }
    return mf_hash_finish(&worker->env, hash->digest[0], hash->digests);
}

static enum mf_status hash_source(struct mf_worker *worker, void *context,
                                  size_t task)
{
    struct mf_hashing *hash = context;
    const struct mf_source *source = hash->source[task];
    struct mf_digest *digest = hash->digest[worker - hash->crew.worker];
    uint8_t out[MF_DIGEST_MAX];

    mf_digest_restart(digest);
    if (mf_hash_add(worker, source, (struct mf_span){ 0, source->size },
                    digest) != MF_OK ||
        mf_source_unchanged(&worker->env, source) != MF_OK ||
        mf_hash_finish(&worker->env, digest, out) != MF_OK)
        return worker->env.error.status;
    memcpy(hash->digests + task * hash->size, out, hash->size);
    return MF_OK;
}

/* ---- all bytes, in order ---- */

enum mf_status mf_hash_begin(struct mf_env *env, enum mf_digest_kind kind)
{
    struct mf_digest_info info;

    mf_clear_error(env);
    if (mf_digest_at(kind, &info))
        return MF_OK;
    return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET, "unknown digest kind %d",
                   (int)kind);
}

/* The digest of `prefix` and the bytes of all tensors. */
static enum mf_status hash_all_data(struct mf_model *model,
                                    enum mf_digest_kind kind,
                                    struct mf_str prefix,
                                    uint8_t out[MF_DIGEST_MAX])
{
    struct mf_hashing hash = {
        .env = model->env, .model = model, .kind = kind, .digests = out
    };
    struct mf_timed timed = mf_timed_begin(model->env, MF_PHASE_REST);
    enum mf_status status = mf_hash_begin(model->env, kind);

    if (status == MF_OK)
        status = mf_table_refuse(model);
    if (status == MF_OK)
        status = mf_missing_refuse(model);
    for (size_t i = 0; i < model->index.tensor_count && status == MF_OK; i++) {
        status = mf_tensor_readable(model, i);
        if (status == MF_OK)
            status = mf_tensor_turnable(model, i);
    }
    /* No work for several: one worker. */
    if (status == MF_OK)
        status = mf_hash_prepare(&hash, 0, model->info.data_size);
    hash.crew.work = model->info.data_size;
    if (status == MF_OK) {
        for (unsigned round = 0;
             mf_steady_next(model->env, &model, 1, &round);) {
            mf_digest_restart(hash.digest[0]);
            mf_digest_add(hash.digest[0], prefix.at, prefix.size);
            mf_crew_run(&hash.crew, hash_all, &hash, 1);
        }
        status = model->env->error.status;
    }
    mf_hash_release(&hash);
    mf_timed_end(model->env, timed);
    return status;
}

enum mf_status mf_model_hash_data(struct mf_model *model,
                                  enum mf_digest_kind kind,
                                  uint8_t out[MF_DIGEST_MAX])
{
    MF_NEED(NULL, model);
    MF_NEED(model->env, out);

    return hash_all_data(model, kind, (struct mf_str){ 0 }, out);
}

enum mf_status mf_model_uuid(struct mf_model *model, uint8_t out[16])
{
    MF_NEED(NULL, model);
    MF_NEED(model->env, out);

    /* The UUID of https://en.wikipedia.org/wiki/Llama.cpp, without
     * "https://". */
    static const struct mf_str space = { "\xef\x00\x12\x06\xda\xdc\x5f\x6d"
                                         "\xa1\x5f\x33\x59\xe5\x77\xd4\xe5",
                                         16 };
    uint8_t sha1[MF_DIGEST_MAX];

    if (hash_all_data(model, MF_SHA1, space, sha1) != MF_OK)
        return model->env->error.status;
    memcpy(out, sha1, 16);
    out[6] = (uint8_t)(0x50 | (out[6] & 0x0f)); /* version */
    out[8] = (uint8_t)(0x80 | (out[8] & 0x3f)); /* variant */
    return MF_OK;
}

/* ---- a file ---- */

static void *digest_of_source(void *context, size_t task)
{
    struct mf_hashing *hash = context;

    return hash->digests + task * hash->size;
}

enum mf_status mf_hash_sources(struct mf_env *env,
                               const struct mf_source *const *source,
                               size_t count, enum mf_digest_kind kind,
                               uint8_t *digests)
{
    struct mf_hashing hash = {
        .env = env, .source = source, .kind = kind, .digests = digests
    };
    const struct mf_yields results = { digest_of_source, mf_digest_size(kind) };
    struct mf_timed timed = mf_timed_begin(env, MF_PHASE_REST);
    uint64_t work = 0, largest = 0;
    enum mf_status status;

    for (size_t i = 0; i < count; i++) {
        work = mf_hash_add_up(work, source[i]->size);
        largest = source[i]->size > largest ? source[i]->size : largest;
    }
    /* One file cannot be shared by workers. */
    status = mf_hash_prepare(&hash, count > 1 ? work : 0, largest);
    hash.crew.work = work;
    if (status == MF_OK)
        status = mf_crew_share(&hash.crew, hash_source, NULL, &hash, count,
                               &results);
    mf_hash_release(&hash);
    mf_timed_end(env, timed);
    return status;
}
