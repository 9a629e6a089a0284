/* SPDX-License-Identifier: MIT
 *
 * token_set.h - which texts are tokens: a set of their hashes
 *
 * Eight bytes for a hash and a table of which a fifth is empty: 10 bytes for
 * each token.  What is not in the set is certainly no token.  A hit is nearly
 * certain: of 2^18 tokens two have the same 64 bits once in 2^28 vocabularies,
 * and an attacker cannot prepare them without the seed.
 *
 * Where that is more memory than there is, the set has several passes, each
 * with a share of all hashes; the caller goes through the tokens once for each.
 */
#ifndef MF_LIB_TOKEN_SET_H
#define MF_LIB_TOKEN_SET_H

#include "lib/base/chunk.h"

struct mf_token_set {
    struct mf_env *env;
    uint64_t *slot; /* a hash; 0: free */
    size_t slots, filled;
    uint32_t pass, passes;
};

/* For count tokens.  Memory decides on the passes; the set leaves `spare` bytes
 * of what is left. */
enum mf_status mf_token_set_init(struct mf_token_set *set, struct mf_env *env,
                                 uint64_t count, size_t spare);
void mf_token_set_release(struct mf_token_set *set);

/* Empties the set for that pass. */
void mf_token_set_begin(struct mf_token_set *set, uint32_t pass);

/* Whether the hash belongs to this pass; each belongs to exactly one. */
bool mf_token_set_takes(const struct mf_token_set *set, uint64_t hash);

/* Adds a hash of this pass; false if it was there already. */
bool mf_token_set_add(struct mf_token_set *set, uint64_t hash);
bool mf_token_set_has(const struct mf_token_set *set, uint64_t hash);

#endif
