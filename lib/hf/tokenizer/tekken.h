/* SPDX-License-Identifier: MIT
 *
 * tekken.h - tekken.json, the vocabulary of Mistral's own format
 *
 * Tokens are bytes in base64, by their ranks; special tokens have the first
 * ids.  There are no merges in the file: every way of making a token of two
 * others is one, and so the tokens' bytes are kept while a header is written,
 * unlike other vocabularies: some three MiB for 130,000 tokens.
 */
#ifndef MF_LIB_TEKKEN_H
#define MF_LIB_TEKKEN_H

#include "lib/hf/tokenizer/tokenizer.h"

mf_tokenizer_procedure mf_tekken_put;

/* ---- between tekken*.c ---- */

struct mf_tekken {
    struct mf_env *env;
    const struct mf_tokenizer_request *request;
    struct mf_node *json;         /* without its vocabulary */
    uint64_t size;                /* of the vocabulary, with special tokens */
    uint64_t special_count;       /* the first ids */
    const struct mf_str *special; /* those that the file names */
    uint64_t special_named;
    uint64_t count;        /* tokens that are not special */
    const char *bytes;     /* of all of them */
    const uint32_t *start; /* of each, and the end */
    uint32_t *slot;        /* rank + 1 by the hash of its bytes; 0: free */
    uint64_t slot_mask;
    uint64_t merge_count;
};

/* Reads the file. */
enum mf_status mf_tekken_read(struct mf_tekken *tekken);

/* The bytes of a token, and the rank of bytes; UINT64_MAX: no token. */
struct mf_str mf_tekken_bytes(const struct mf_tekken *tekken, uint64_t rank);
uint64_t mf_tekken_rank(const struct mf_tekken *tekken, struct mf_str bytes);

#endif
