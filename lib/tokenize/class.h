/* SPDX-License-Identifier: MIT
 *
 * class.h - tokenizer_config.json while a tokenizer is loaded
 */
#ifndef MF_LIB_TOKENIZE_CLASS_H
#define MF_LIB_TOKENIZE_CLASS_H

#include "lib/tokenize/load.h"

struct mf_given { /* a token that the file names, in the order of transformers
                   */
    struct mf_given *next;
    uint64_t id; /* of added_tokens_decoder */
    struct mf_tokenize_added token;
    bool object; /* it has flags of its own */
};

struct mf_reading {
    struct mf_tokenize *tokenizer;
    struct mf_env *env;
    struct mf_sidecar file;
    struct mf_given *decoder, *extra; /* extra: special, without a key */
    struct mf_given **last_decoder, **last_extra;
    struct mf_given special[MF_SPECIAL_COUNT];
};

/* Reads tokenizer_config.json and, where that has no added_tokens_decoder,
 * special_tokens_map.json, whose values then count. */
enum mf_status mf_reading_files(struct mf_reading *reading);

#endif
