/* SPDX-License-Identifier: MIT
 *
 * vocab.h - the room that checks what turns text into tokens and back
 *
 * In: an open model whose format has a tokenizer among its metadata.  Out: more
 * findings of that model.  They were compared with llama.cpp v0.5.0: what it
 * refuses in a file, abort, hang, or read something else than the file says is
 * an error.
 *
 * Names are rows: tokenizers.def, pre_tokenizers.def, keys.def.  keys.c checks
 * types, lengths and ids; tokens.c and merges.c read each token and each merge
 * again, charsmap.c the table of replacements.
 *
 * What always holds:
 * - At most 15 bytes of heap for each token (token_set.h), and two windows.
 *   Where the heap's limit leaves less, tokens and merges are read in several
 *   passes, with the same findings.
 * - A token's text is hashed piece by piece, whatever its length.  Two tokens
 *   are only called duplicates after their texts have been compared.
 * - One finding for each kind of fault, with a count and the first place.
 *
 * What was considered instead: keeping the texts, as a loader does.  That is
 * simpler and takes 40 bytes a token and more, as many as the file wants.
 */
#ifndef MF_LIB_VOCAB_H
#define MF_LIB_VOCAB_H

#include "lib/model/model.h"

/* Checks the tokenizer that the first shard's metadata has, if any. */
enum mf_status mf_vocab_check(struct mf_model *model);

#endif
