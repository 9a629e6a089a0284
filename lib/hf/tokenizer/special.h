/* SPDX-License-Identifier: MIT
 *
 * special.h - what the files say about special tokens
 */
#ifndef MF_LIB_SPECIAL_H
#define MF_LIB_SPECIAL_H

#include "lib/folder/sidecar.h"
#include "lib/hf/encode/added.h"
#include "lib/hf/tokenizer/tokenizer.h"

#define MF_SPECIAL_TYPES 16

struct mf_special_type { /* "bos" */
    const char *name;
    unsigned id_order, add_order; /* from 1 on; 0: none */
    uint64_t id;
    bool add; /* to texts */
    /* What tokenizer_config.json is taken to say instead of its own value. */
    bool replaced;
    const struct mf_node *token;
};

struct mf_special_tokens {
    struct mf_env *env;
    const struct mf_tokenizer_request *request;
    struct mf_node *json, *config; /* tokenizer.json, tokenizer_config.json */
    bool has_config;               /* and it is not empty */
    uint64_t vocab_size;
    const char *types[MF_SPECIAL_TYPES + 1]; /* that are looked for */
    struct mf_special_type type[MF_SPECIAL_TYPES];
    size_t type_count;
    unsigned orders;
    int lowercase, strip_accents; /* normalizers; -1: not known */
    bool in_list;                 /* while they are read */
};

/* The type of that name, NULL: nothing is known of it; or added. */
struct mf_special_type *mf_special_type(struct mf_special_tokens *special,
                                        const char *name);
struct mf_special_type *mf_special_add(struct mf_special_tokens *special,
                                       const char *name);

/* What tokenizer_config.json has for it, or is taken to have. */
const struct mf_node *mf_special_token(struct mf_special_tokens *special,
                                       const char *name);

/* Whether a token is added to texts. */
enum mf_status mf_special_add_to_texts(struct mf_special_tokens *special,
                                       const char *name, bool value);

/* Reads the post-processor of tokenizer.json. */
enum mf_status mf_special_read_post(struct mf_special_tokens *special);

#endif
