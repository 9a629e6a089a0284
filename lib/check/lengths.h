/* SPDX-License-Identifier: MIT
 *
 * lengths.h - the lengths that shapes of tensors are made of
 *
 * A length is what the metadata says, or follows from it.  0: not known, and
 * then nothing is held against it.
 */
#ifndef MF_LIB_LENGTHS_H
#define MF_LIB_LENGTHS_H

#include "lib/model/model.h"

/* Columns of lib/check/architecture.def, which explains them. */
enum mf_length {
    MF_LENGTH_ANY, /* never known */
    MF_LENGTH_ONE,
    MF_LENGTH_EMBED,
    MF_LENGTH_VOCAB,
    MF_LENGTH_CONTEXT,
    MF_LENGTH_HEADS,
    MF_LENGTH_HEADS_KV,
    MF_LENGTH_HEAD,
    MF_LENGTH_Q,
    MF_LENGTH_K,
    MF_LENGTH_V,
    MF_LENGTH_QKV,
    MF_LENGTH_OUT,
    MF_LENGTH_FEED,
    MF_LENGTH_FEED_2,
    MF_LENGTH_FEED_HALF,
    MF_LENGTH_EXPERTS,
    MF_LENGTH_EXPERT,
    MF_LENGTH_EXPERT_2,
    MF_LENGTH_SLICE,
    MF_LENGTH_SLICE_2,
    MF_LENGTH_SHARED,
    MF_LENGTH_TURN,
    MF_LENGTH_RANK_Q,
    MF_LENGTH_RANK_KV,
    MF_LENGTH_KV_A,
    MF_LENGTH_KV_B,
    MF_LENGTH_STILL,
    MF_LENGTH_INNER,
    MF_LENGTH_INNER_2,
    MF_LENGTH_STATE,
    MF_LENGTH_CONV,
    MF_LENGTH_STEP,
    MF_LENGTH_STEP_STATE,
    MF_LENGTH_COUNT
};

/* More than any model has, and more than a reader may reserve room for. */
#define MF_BLOCKS_MAX 65536

/* A fact that is one number for all blocks, or one for each. */
struct mf_by_block {
    uint64_t all;         /* 0: not known, or each its own */
    const uint64_t *each; /* NULL: the same for all */
};

struct mf_lengths {
    uint64_t blocks;    /* as many as the metadata says */
    uint64_t predicted; /* of these, at the end, for speculation only */
    uint64_t key, value;
    struct mf_by_block heads, heads_kv, feed;
    uint64_t experts_used, expert; /* expert: forward length of one */
    bool has_expert;
    uint64_t block; /* that of[] is for */
    uint64_t of[MF_LENGTH_COUNT];
};

/* What the metadata says.  Numbers of each block lie in the index's arena. */
enum mf_status mf_lengths_init(struct mf_model *model,
                               struct mf_lengths *lengths);

/* Makes of[] that of a block; 0 does for what is in none. */
void mf_lengths_set_block(struct mf_lengths *lengths, uint64_t block);

#endif
