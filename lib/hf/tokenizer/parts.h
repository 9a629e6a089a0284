/* SPDX-License-Identifier: MIT
 *
 * parts.h - between the files of this room
 */
#ifndef MF_LIB_HF_TOKENIZER_PARTS_H
#define MF_LIB_HF_TOKENIZER_PARTS_H

#include "lib/draft/draft.h"
#include "lib/hf/encode/fast.h"
#include "lib/hf/tokenizer/tokenizer.h"
#include "lib/json/tree.h"

/* ---- what a stream of tokens sends ---- */

/* The begin or end of an entry's array. */
enum mf_status mf_send_bracket(mf_each_event *each, void *user,
                               enum mf_event event,
                               const struct mf_entry *entry);

/* A text, or a part of one where more follows. */
enum mf_status mf_send_text(mf_each_event *each, void *user, struct mf_str text,
                            bool more);

/* ---- the text that one token is decoded to ---- */

/* As tokenizers decodes a text of a single token, by the "decoder" of
 * tokenizer.json. */

/* The decoded text, in the arena or text itself.  decoder NULL or a null: none.
 * An unknown kind of decoder is refused. */
enum mf_status mf_token_decode(struct mf_arena *arena,
                               const struct mf_node *decoder,
                               struct mf_str text, struct mf_str *out);

/* What clean_up_tokenization_spaces does to a text. */
enum mf_status mf_token_clean(struct mf_arena *arena, struct mf_str text,
                              struct mf_str *out);

/* ---- vocabularies of byte-level BPE and of WordPiece ---- */

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

/* ---- the merges of a byte-pair encoding, streamed from their file ---- */

/* From tokenizer.json, in either of its forms ("a b", and since 2024 ["a",
 * "b"]), else from merges.txt. */

/* Adds tokenizer.ggml.merges where there are merges.  json: tokenizer.json, of
 * which model.merges stayed in the file; NULL: missing. */
enum mf_status mf_merges_put(struct mf_draft *draft,
                             const struct mf_model *model,
                             const struct mf_node *json);

/* ---- the chat templates of a Hugging Face model, as metadata of GGUF ---- */

/* One template, or several with names, in tokenizer_config.json or in files of
 * their own.  Where there are several places the first one counts, also if it
 * says null: tokenizer_config.json, chat_template.jinja (together with
 * additional_chat_templates), chat_template.json. */

/* config: tokenizer_config.json. */
enum mf_status mf_chat_put(struct mf_draft *draft, const struct mf_model *model,
                           const struct mf_node *config);

/* The template that is all of that file of the model's folder. */
enum mf_status mf_chat_put_file(struct mf_draft *draft,
                                const struct mf_model *model, const char *name);

/* ---- what the vocabularies of Mistral's own format have in common ---- */

/* They have versions: tekken.json says its own, and of a SentencePiece model it
 * is the end of the name, tokenizer.model.v3. */

/* tokenizer.model, or one with a version. */
mf_tokenizer_procedure mf_mistral_put_pieces;

/* The chat template: the folder's, or else the name of one that llama.cpp has
 * built in for the version. */
enum mf_status
mf_mistral_put_template(struct mf_draft *draft,
                        const struct mf_tokenizer_request *request,
                        struct mf_str version, bool pieces);

#endif
