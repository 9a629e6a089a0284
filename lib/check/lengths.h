/* SPDX-License-Identifier: MIT
 *
 * lengths.h - the lengths that tensor shapes are made of
 *
 * A length is a value of the metadata or computed from some.  0: unknown, which
 * matches any dimension.
 */
#ifndef MF_LIB_LENGTHS_H
#define MF_LIB_LENGTHS_H

#include "lib/model/model.h"

/* Columns of lib/check/architecture.def, which explains them. */
enum mf_length {
    MF_LENGTH_ANY, /* always unknown */
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

/* The arrays of llama.cpp have room for so many blocks.  No model has more, and
 * no more memory is reserved for any. */
#define MF_BLOCKS_MAX 512

/* A number for all blocks, or one for each. */
struct mf_by_block {
    uint64_t all;         /* 0: unknown, or see each */
    const uint64_t *each; /* one per block; NULL: see all */
};

struct mf_lengths {
    uint64_t blocks;    /* the block count in the metadata */
    uint64_t predicted; /* the last of these, for speculative decoding */
    uint64_t key, value;
    struct mf_by_block heads, heads_kv, feed;
    uint64_t experts_used, expert; /* expert: feed-forward length of one */
    bool has_expert;               /* the metadata has it */
    uint64_t block;                /* the one that of[] is for */
    uint64_t of[MF_LENGTH_COUNT];
};

/* Reads the metadata.  Values per block are kept in the index's arena. */
enum mf_status mf_lengths_init(struct mf_model *model,
                               struct mf_lengths *lengths);

/* Sets of[] to the lengths of a block; 0 for tensors outside blocks. */
void mf_lengths_set_block(struct mf_lengths *lengths, uint64_t block);

#endif
