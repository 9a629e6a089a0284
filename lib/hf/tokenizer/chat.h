/* SPDX-License-Identifier: MIT
 *
 * chat.h - the chat templates of a Hugging Face model, as metadata of GGUF
 *
 * One template, or several with names, in tokenizer_config.json or in files of
 * their own.  Where there are several places the first one counts, also if it
 * says null: tokenizer_config.json, chat_template.jinja (together with
 * additional_chat_templates), chat_template.json.
 */
#ifndef MF_LIB_CHAT_H
#define MF_LIB_CHAT_H

#include "lib/draft/draft.h"
#include "lib/json/tree.h"

/* config: tokenizer_config.json. */
enum mf_status mf_chat_put(struct mf_draft *draft, const struct mf_model *model,
                           const struct mf_node *config);

/* The template that is all of that file of the model's folder. */
enum mf_status mf_chat_put_file(struct mf_draft *draft,
                                const struct mf_model *model, const char *name);

#endif
