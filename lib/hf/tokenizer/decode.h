/* SPDX-License-Identifier: MIT
 *
 * decode.h - the text that one token is decoded to
 *
 * As tokenizers decodes a text of a single token, by the "decoder" of
 * tokenizer.json.
 */
#ifndef MF_LIB_DECODE_H
#define MF_LIB_DECODE_H

#include "lib/json/tree.h"

/* The decoded text, in the arena or text itself.  decoder NULL or a null: none.
 * An unknown kind of decoder is refused. */
enum mf_status mf_token_decode(struct mf_arena *arena,
                               const struct mf_node *decoder,
                               struct mf_str text, struct mf_str *out);

/* What clean_up_tokenization_spaces does to a text. */
enum mf_status mf_token_clean(struct mf_arena *arena, struct mf_str text,
                              struct mf_str *out);

#endif
