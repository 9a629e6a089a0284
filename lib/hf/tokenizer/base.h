/* SPDX-License-Identifier: MIT
 *
 * base.h - vocabularies of byte-level BPE and of WordPiece
 */
#ifndef MF_LIB_TOKENIZER_BASE_H
#define MF_LIB_TOKENIZER_BASE_H

#include "lib/hf/encode/fast.h"
#include "lib/hf/tokenizer/tokenizer.h"

mf_tokenizer_procedure mf_base_put_gpt2;
mf_tokenizer_procedure
    mf_base_put_bert; /* WordPiece, with a mark before words */
mf_tokenizer_procedure mf_base_put_whitespace;

/* The same for a tokenizer.ggml.model, where tokenizer.json exists.  pre: of a
 * tokenizer that is known; NULL: it is found out. */
enum mf_status mf_base_put(struct mf_draft *draft,
                           const struct mf_tokenizer_request *request,
                           const struct mf_special_options *options,
                           const char *model, const char *pre);

/* tokenizer.json, opened; its vocabulary may be read already.  NULL after
 * mf_fail. */
struct mf_fast *mf_base_fast(const struct mf_tokenizer_request *request);

/* The id of an added token, by its text; MF_ERR_UNSUPPORTED: there is none. */
enum mf_status mf_base_added_id(const struct mf_tokenizer_request *request,
                                struct mf_str text, uint64_t *id);

#endif
