/* SPDX-License-Identifier: MIT
 *
 * resume_piece.c - a piece whose bytes were written before a stop is verified
 *
 * What was recoded is digested: to recode it again would be the work itself.
 * What was copied of a file is compared with it.  So copying needs no digest,
 * and the kernel can go on to copy without our seeing the bytes.  What was
 * copied of a program's source is digested if the source tells its version: to
 * fetch it again would be the work itself, too.
 */
#include "lib/base/little.h"
#include "lib/write/resume.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* ---- digests ---- */

_Static_assert(sizeof(XXH3_state_t) <= sizeof(struct mf_piece_digest) &&
                   alignof(XXH3_state_t) <= alignof(struct mf_piece_digest),
               "the state fits");

static XXH3_state_t *state_of(struct mf_piece_digest *digest)
{
    return (XXH3_state_t *)(void *)digest->state;
}

void mf_piece_digest_begin(struct mf_piece_digest *digest)
{
    XXH3_128bits_reset(state_of(digest));
}

void mf_piece_digest_add(struct mf_piece_digest *digest,
                         const struct mf_isa *isa, const void *bytes,
                         size_t size)
{
    mf_xxh3_add_of(isa)(state_of(digest), bytes, size);
}

void mf_piece_digest_end(const struct mf_piece_digest *digest, uint64_t out[2])
{
    XXH128_hash_t sum =
        XXH3_128bits_digest((const XXH3_state_t *)(const void *)digest->state);

    out[0] = sum.low64;
    out[1] = sum.high64;
}

void mf_piece_digest_join(uint64_t all[2], const uint64_t digest[2])
{
    uint8_t both[4 * sizeof(uint64_t)];
    XXH128_hash_t sum;

    for (size_t i = 0; i < 4; i++)
        mf_put_little_64(both + i * sizeof(uint64_t),
                         i < 2 ? all[i] : digest[i - 2]);
    sum = XXH3_128bits(both, sizeof(both));
    all[0] = sum.low64;
    all[1] = sum.high64;
}

void mf_piece_digest_input(struct mf_piece_digest *digest,
                           const struct mf_piece *piece, const uint8_t *buffer,
                           bool first, size_t size)
{
    size_t prefix = piece->recoding.prefix;

    /* What is before all rows was read again with each part of them. */
    mf_piece_digest_add(digest, piece->hasher, buffer + (first ? 0 : prefix),
                        first ? prefix + size : size);
}

/* ---- verifying ---- */

uint64_t mf_piece_written(const struct mf_piece *piece)
{
    const struct mf_recoding *recoding = &piece->recoding;
    uint64_t rows;

    if (!recoding->decode)
        return piece->size;
    rows = mf_recoding_count(recoding, piece->size);
    return mf_numbers_size(
        recoding->to,
        mf_recoding_numbers(recoding, piece->at / recoding->in, (size_t)rows));
}

/* Of the rows that the piece was made of, as they are now. */
static enum mf_status digest_input(struct mf_worker *worker,
                                   struct mf_piece *piece)
{
    const struct mf_recoding *recoding = &piece->recoding;
    size_t most = mf_recoding_rows(recoding, worker->buffer_size), some;
    uint64_t first = piece->at / recoding->in;
    uint64_t count = mf_recoding_count(recoding, piece->size);
    struct mf_piece_digest digest;

    mf_piece_digest_begin(&digest);
    for (uint64_t done = 0; done < count; done += some) {
        some = mf_next_part(&worker->env, count - done, most);
        if (some == 0 ||
            mf_piece_read_rows(worker, piece, first + done, some) != MF_OK)
            return worker->env.error.status;
        mf_piece_digest_input(
            &digest, piece, worker->buffer, done == 0,
            (size_t)mf_numbers_size(
                recoding->from,
                mf_recoding_numbers(recoding, first + done, some)));
    }
    mf_piece_digest_end(&digest, piece->result.input);
    return MF_OK;
}

enum mf_status mf_piece_digest_written(struct mf_worker *worker,
                                       struct mf_piece *piece)
{
    uint64_t size = mf_piece_written(piece);
    struct mf_piece_digest digest;

    mf_piece_digest_begin(&digest);
    for (uint64_t at = 0, some; at < size; at += some) {
        some = mf_next_part(&worker->env, size - at, worker->buffer_size);
        if (some == 0 ||
            mf_target_read(&worker->env, &piece->output->target, piece->to + at,
                           worker->buffer, (size_t)some) != MF_OK)
            return worker->env.error.status;
        mf_piece_digest_add(&digest, piece->hasher, worker->buffer,
                            (size_t)some);
    }
    mf_piece_digest_end(&digest, piece->result.digest);
    return MF_OK;
}

static enum mf_status digest_kept(struct mf_worker *worker,
                                  struct mf_piece *piece)
{
    if (mf_piece_digest_written(worker, piece) != MF_OK)
        return worker->env.error.status;
    mf_worker_done(worker, piece->size);
    return piece->inputs ? digest_input(worker, piece) : MF_OK;
}

enum mf_status mf_piece_compare(struct mf_worker *worker,
                                struct mf_piece *piece, uint64_t to,
                                const uint8_t *bytes, size_t size)
{
    uint8_t there[4096];

    for (size_t at = 0, some; at < size && !piece->result.differs; at += some) {
        some = size - at < sizeof(there) ? size - at : sizeof(there);
        if (mf_target_read(&worker->env, &piece->output->target, to + at, there,
                           some) != MF_OK)
            return worker->env.error.status;
        piece->result.differs = memcmp(bytes + at, there, some) != 0;
    }
    return MF_OK;
}

/* Half of the buffer has what was read, half what is there. */
static enum mf_status compare_kept(struct mf_worker *worker,
                                   struct mf_piece *piece)
{
    size_t half = worker->buffer_size / 16 * 8;
    uint8_t *there = worker->buffer + half;

    half -= half % mf_piece_stride(piece);
    for (uint64_t at = 0, some; at < piece->size && !piece->result.differs;
         at += some) {
        some = mf_next_part(&worker->env, piece->size - at, half);
        if (some == 0 ||
            mf_piece_read(worker, piece, piece->at + at, worker->buffer,
                          (size_t)some) != MF_OK ||
            mf_target_read(&worker->env, &piece->output->target, piece->to + at,
                           there, (size_t)some) != MF_OK)
            return worker->env.error.status;
        piece->result.differs =
            memcmp(worker->buffer, there, (size_t)some) != 0;
        mf_worker_done(worker, piece->source ? some : 0);
    }
    return MF_OK;
}

enum mf_status mf_piece_verify(struct mf_worker *worker, struct mf_piece *piece)
{
    return mf_piece_is_digested(piece) && !piece->again
               ? digest_kept(worker, piece)
               : compare_kept(worker, piece);
}
