/* SPDX-License-Identifier: MIT
 *
 * mistral.h - what the vocabularies of Mistral's own format have in common
 *
 * They have versions: tekken.json says its own, and of a SentencePiece model it
 * is the end of the name, tokenizer.model.v3.
 */
#ifndef MF_LIB_TOKENIZER_MISTRAL_H
#define MF_LIB_TOKENIZER_MISTRAL_H

#include "lib/hf/tokenizer/tokenizer.h"

/* tokenizer.model, or one with a version. */
mf_tokenizer_procedure mf_mistral_put_pieces;

/* The chat template: the folder's, or else the name of one that llama.cpp has
 * built in for the version. */
enum mf_status
mf_mistral_put_template(struct mf_draft *draft,
                        const struct mf_tokenizer_request *request,
                        struct mf_str version, bool pieces);

#endif
