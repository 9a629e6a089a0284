/* SPDX-License-Identifier: MIT
 *
 * hash_parts.h - what the files that compute digests share
 */
#ifndef MF_LIB_HASH_PARTS_H
#define MF_LIB_HASH_PARTS_H

#include "lib/compare/compare.h"
#include "lib/compare/hash.h"

struct mf_hashing {
    struct mf_env *env;
    struct mf_model *model;
    const struct mf_source *const *source; /* whole files, without a model */
    struct mf_crew crew;
    struct mf_digest **digest; /* one for each worker */
    struct mf_slices slices;
    enum mf_digest_kind kind;
    size_t size; /* of a digest */
    uint8_t *digests;
    struct mf_hash_large *large; /* tensors that all workers read together */
    size_t large_count;
    atomic_size_t turn; /* the piece of them to add next */
};

/* Workers for so many bytes in pieces of at most `piece`, each with a digest.
 */
enum mf_status mf_hash_prepare(struct mf_hashing *hash, uint64_t work,
                               uint64_t piece);
void mf_hash_release(struct mf_hashing *hash);

static inline uint64_t mf_hash_add_up(uint64_t sum, uint64_t more)
{
    return more > UINT64_MAX - sum ? UINT64_MAX : sum + more;
}

#endif
