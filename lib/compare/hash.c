/* SPDX-License-Identifier: MIT
 *
 * hash.c - digests of tensors
 *
 * Three ways to keep all threads busy, by what a digest allows:
 *
 * - CRC-32 of a concatenation follows from its parts' CRCs, so tensors are
 *   cut into slices that any thread computes (join_slices).
 * - XXH3 cannot be joined, but is five times as fast as reading: a large tensor
 *   is read by all threads at once, and each piece is added in its turn
 *   (hash_piece).
 * - The others are slower than reading: a tensor is one thread's, the largest
 *   first, so that none is left with a large one at the end.
 *
 * Of several processes each does whole tensors, except for CRC-32.
 */
#include "lib/compare/hash_parts.h"

#include <string.h>

#include "lib/base/timings.h"
#include "lib/io/digest.h"

/* A tensor that all workers read together; its pieces continue the numbers of
 * the tensor before. */
struct mf_hash_large {
    uint32_t tensor;
    size_t first_piece;
};

/* Worth reading together: waiting for turns costs little compared with it. */
#define LARGE ((uint64_t)8 * 1024 * 1024)

enum mf_status mf_tensor_readable(struct mf_model *model, size_t tensor)
{
    const struct mf_record *record = &model->index.tensor[tensor];

    if (!(record->flags & MF_TENSOR_DAMAGED))
        return MF_OK;
    return mf_fail(
        model->env, MF_ERR_CORRUPT, record->entry,
        "tensor '%s' cannot be read: its data is out of bounds or its "
        "size is wrong",
        mf_record_name(record).text);
}

/* ---- in a thread ---- */

static void digest_bytes(struct mf_env *env, struct mf_digest *digest,
                         const uint8_t *bytes, size_t size)
{
    struct mf_timed timed = mf_timed_begin(env, MF_PHASE_DIGEST);

    mf_digest_add(digest, bytes, size);
    mf_timed_end(env, timed);
}

enum mf_status mf_hash_add(struct mf_worker *worker,
                           const struct mf_source *source, struct mf_span span,
                           struct mf_digest *digest)
{
    if (span.size >= LARGE) /* of small ones the next is as likely */
        mf_source_expect(source, span);
    while (span.size > 0) {
        uint8_t *bytes = mf_worker_room(worker, span.offset);
        size_t size =
            mf_next_part(&worker->env, span.size, worker->buffer_size);

        if (size == 0 || mf_source_read(&worker->env, source, span.offset,
                                        bytes, size) != MF_OK)
            return worker->env.error.status;
        digest_bytes(&worker->env, digest, bytes, size);
        if (!mf_worker_done(worker, size))
            return mf_worker_stopped(worker);
        span.offset += size;
        span.size -= size;
    }
    return MF_OK;
}

enum mf_status mf_hash_finish(struct mf_env *env,
                              const struct mf_digest *digest,
                              uint8_t out[MF_DIGEST_MAX])
{
    if (mf_digest_finish(digest, out) > 0)
        return MF_OK;
    return mf_fail(env, MF_ERR_MEMORY, MF_NO_OFFSET,
                   "libcrypto cannot finish a digest");
}

static enum mf_status hash_slice(struct mf_worker *worker, void *context,
                                 size_t task)
{
    struct mf_hashing *hash = context;
    struct mf_slice *slice = &hash->slices.at[task];
    const struct mf_record *record = &hash->model->index.tensor[slice->thing];
    struct mf_digest *digest = hash->digest[worker - hash->crew.worker];
    struct mf_span span = { mf_record_data(hash->model, record) + slice->from,
                            slice->size };
    uint8_t out[MF_DIGEST_MAX];

    mf_worker_at(worker, record->name);
    mf_digest_restart(digest);
    if (mf_hash_add(worker, &hash->model->file[record->shard].source, span,
                    digest) != MF_OK ||
        mf_hash_finish(&worker->env, digest, out) != MF_OK)
        return worker->env.error.status;
    if (hash->kind == MF_CRC32)
        slice->found = (uint32_t)out[0] << 24 | (uint32_t)out[1] << 16 |
                       (uint32_t)out[2] << 8 | out[3];
    else
        memcpy(hash->digests + slice->thing * hash->size, out, hash->size);
    return MF_OK;
}

/* The tensor that a piece belongs to. */
static const struct mf_hash_large *large_of(const struct mf_hashing *hash,
                                            size_t piece)
{
    size_t low = 0, high = hash->large_count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (hash->large[middle].first_piece <= piece)
            low = middle;
        else
            high = middle;
    }
    return &hash->large[low];
}

/* When it is this piece's turn. */
static enum mf_status add_piece(struct mf_worker *worker,
                                struct mf_hashing *hash,
                                const struct mf_hash_large *large,
                                struct mf_span span, const uint8_t *bytes)
{
    const struct mf_record *record = &hash->model->index.tensor[large->tensor];
    struct mf_digest *digest = hash->digest[0];

    if (span.offset == 0)
        mf_digest_restart(digest);
    digest_bytes(&worker->env, digest, bytes, (size_t)span.size);
    mf_worker_done(worker, span.size);
    if (span.offset + span.size < record->size)
        return MF_OK;
    return mf_hash_finish(&worker->env, digest,
                          hash->digests + large->tensor * hash->size);
}

/* Pieces of a large tensor are read by all workers at once and added one after
 * the other, which takes a fifth of the time of reading. */
static enum mf_status hash_piece(struct mf_worker *worker, void *context,
                                 size_t task)
{
    struct mf_hashing *hash = context;
    const struct mf_hash_large *large = large_of(hash, task);
    const struct mf_record *record = &hash->model->index.tensor[large->tensor];
    uint64_t from = (uint64_t)(task - large->first_piece) * worker->buffer_size;
    uint64_t left = record->size - from;
    struct mf_span span = { from, left < worker->buffer_size
                                      ? left
                                      : worker->buffer_size };
    uint64_t at = mf_record_data(hash->model, record) + from;
    uint8_t *bytes = mf_worker_room(worker, at);

    mf_worker_at(worker, record->name);
    if (mf_source_read(&worker->env, &hash->model->file[record->shard].source,
                       at, bytes, (size_t)span.size) != MF_OK)
        return worker->env.error.status;
    if (!mf_worker_wait(worker, &hash->turn, task))
        return MF_OK; /* another worker has failed and said why */
    if (add_piece(worker, hash, large, span, bytes) != MF_OK)
        return worker->env.error.status;
    atomic_store_explicit(&hash->turn, task + 1, memory_order_release);
    return MF_OK;
}

/* XXH3 is far faster than reading; not than unpacking, which cannot be shared.
 */
static bool is_shared(const struct mf_hashing *hash,
                      const struct mf_record *record)
{
    return !mf_record_is_packed(&hash->model->index, record) &&
           (hash->kind == MF_XXH3_64 || hash->kind == MF_XXH3_128) &&
           hash->crew.count > 1 && !hash->env->ranks && record->size >= LARGE;
}

/* Hashes the `count` tensors that workers read together. */
static enum mf_status hash_large(struct mf_hashing *hash,
                                 const uint32_t *tensor, size_t count)
{
    struct mf_env *env = hash->env;
    size_t pieces = 0, piece = hash->crew.buffer_size;
    enum mf_status status;

    hash->large =
        mf_crew_resize(&hash->crew, NULL, 0, count * sizeof(*hash->large));
    if (!hash->large)
        return env->error.status;
    for (; hash->large_count < count; tensor++) {
        const struct mf_record *record = &hash->model->index.tensor[*tensor];

        if (!is_shared(hash, record))
            continue;
        mf_source_expect(&hash->model->file[record->shard].source,
                         (struct mf_span){ mf_record_data(hash->model, record),
                                           record->size });
        hash->large[hash->large_count++] =
            (struct mf_hash_large){ *tensor, pieces };
        pieces += (size_t)((record->size + piece - 1) / piece);
    }
    status = mf_crew_run(&hash->crew, hash_piece, hash, pieces);
    mf_release(env, hash->large, count * sizeof(*hash->large));
    return status;
}

/* ---- with all threads ---- */

void mf_hash_release(struct mf_hashing *hash)
{
    struct mf_env *env = hash->env;
    size_t count = hash->crew.count;

    for (size_t i = 0; hash->digest && i < count; i++)
        mf_digest_free(hash->digest[i]);
    mf_release(env, hash->digest, count * sizeof(*hash->digest));
    mf_slices_release(&hash->slices);
    mf_crew_release(&hash->crew);
}

/* libcrypto takes memory of its own; buffers shrink for it. */
static struct mf_digest *digest_new(struct mf_hashing *hash)
{
    struct mf_digest *digest;
    enum mf_status status;

    do {
        digest = mf_digest_new(hash->env, hash->kind);
        status = hash->env->error.status;
    } while (!digest && (status == MF_ERR_MEMORY || status == MF_ERR_LIMIT) &&
             mf_crew_shrink(&hash->crew));
    return digest;
}

enum mf_status mf_hash_prepare(struct mf_hashing *hash, uint64_t work,
                               uint64_t piece)
{
    struct mf_env *env = hash->env;
    size_t size;

    hash->size = mf_digest_size(hash->kind);
    if (mf_crew_init(&hash->crew, env, work, piece, 0) != MF_OK)
        return env->error.status;
    size = hash->crew.count * sizeof(*hash->digest);
    hash->digest = mf_crew_resize(&hash->crew, NULL, 0, size);
    if (!hash->digest)
        return env->error.status;
    memset(hash->digest, 0, size);
    for (size_t i = 0; i < hash->crew.count; i++) {
        hash->digest[i] = digest_new(hash);
        if (!hash->digest[i])
            return env->error.status;
    }
    return MF_OK;
}

static void *digest_of_slice(void *context, size_t task)
{
    struct mf_hashing *hash = context;

    return hash->digests + hash->slices.at[task].thing * hash->size;
}

static void *found_of_slice(void *context, size_t task)
{
    struct mf_hashing *hash = context;

    return &hash->slices.at[task].found;
}

static enum mf_status hash_slices(struct mf_hashing *hash)
{
    struct mf_yields results = { digest_of_slice, hash->size };

    if (hash->kind == MF_CRC32)
        results = (struct mf_yields){ found_of_slice, sizeof(uint64_t) };
    return mf_crew_share(&hash->crew, hash_slice, NULL, hash,
                         hash->slices.count, &results);
}

/* The checksum of a tensor from its slices' checksums, first to last. */
static void join_slices(struct mf_hashing *hash)
{
    uint32_t crc = 0;

    for (size_t i = 0; i < hash->slices.count; i++) {
        const struct mf_slice *slice = &hash->slices.at[i];
        uint8_t *out = hash->digests + slice->thing * hash->size;

        crc = slice->from == 0
                  ? (uint32_t)slice->found
                  : mf_crc32_join(crc, (uint32_t)slice->found, slice->size);
        for (int k = 0; k < 4; k++)
            out[k] = (uint8_t)(crc >> (24 - 8 * k));
    }
}

enum mf_status mf_hash_some(struct mf_model *model, enum mf_digest_kind kind,
                            const uint32_t *tensor, size_t count,
                            uint8_t *digests)
{
    const struct mf_record *record = model->index.tensor;
    struct mf_hashing hash = {
        .env = model->env, .model = model, .kind = kind, .digests = digests
    };
    uint64_t work = 0, largest = 0;
    size_t shared = 0;
    struct mf_timed timed;
    enum mf_status status;

    for (size_t i = 0; i < count; i++) {
        uint64_t size = record[tensor[i]].size;

        if (mf_tensor_readable(model, tensor[i]) != MF_OK ||
            mf_tensor_turnable(model, tensor[i]) != MF_OK)
            return model->env->error.status;
        work = mf_hash_add_up(work, size);
        largest = size > largest ? size : largest;
    }
    timed = mf_timed_begin(model->env, MF_PHASE_REST);
    status = mf_slices_init(&hash.slices, model->env, count, work);
    if (status == MF_OK)
        status = mf_hash_prepare(&hash, work, largest);
    for (size_t i = 0; i < count && status == MF_OK; i++)
        if (is_shared(&hash, &record[tensor[i]]))
            shared++;
        else /* only checksums can be joined */
            mf_slices_add(
                &hash.slices, tensor[i], record[tensor[i]].size,
                kind != MF_CRC32 ||
                    mf_record_is_packed(&model->index, &record[tensor[i]]));
    if (status == MF_OK && shared > 0)
        status = hash_large(&hash, tensor, shared);
    if (status == MF_OK)
        status = hash_slices(&hash);
    if (status == MF_OK && kind == MF_CRC32)
        join_slices(&hash);
    mf_hash_release(&hash);
    mf_timed_end(model->env, timed);
    return status;
}
