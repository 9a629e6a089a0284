/* SPDX-License-Identifier: MIT
 *
 * vocabulary.h - whether a tokenizer's arrays and ids go together
 */
#ifndef MF_LIB_VOCABULARY_H
#define MF_LIB_VOCABULARY_H

#include "lib/model/index.h"

#define MF_TAKES(type) (UINT32_C(1) << (type))

/* Where a format keeps a tokenizer. */
struct mf_vocabulary {
    /* Tokens, scores, types, merges. */
    struct {
        const char *key;
        uint32_t takes;      /* types of elements: bits of MF_TAKES */
        const char *expects; /* the same, for a message */
        bool for_each;       /* must be as many as tokens */
    } array[4];
    const char *ids; /* keys of special tokens: between this and "_token_id" */
    enum mf_rule length, type, id; /* of findings */
};

/* Checks them, after mf_index_build_names. */
void mf_vocabulary_check(struct mf_index *index,
                         const struct mf_vocabulary *vocabulary);

#endif
