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
#include "lib/json/json.h"
#include "lib/model/model.h"

struct mf_chat_template {
    struct mf_chat_template *next;
    struct mf_str name; /* in GGUF; "default" for one without a name */
    struct mf_str text; /* at NULL: not read yet */
};

struct mf_chat {
    struct mf_env *env;
    struct mf_draft *draft; /* its arena has all texts */
    struct mf_json *json;   /* the file being read */
    struct mf_chat_template *first, *last;
    size_t count;
    bool seen; /* the key exists, maybe null: no other file is read */
};

/* Takes a value of a JSON file whose path begins with "chat_template". */
enum mf_status mf_chat_visit(struct mf_chat *chat, const char *path,
                             enum mf_json_token token);

/* Reads the other files, where tokenizer_config.json has no such key. */
enum mf_status mf_chat_read(struct mf_chat *chat, const struct mf_model *model);

/* Adds all templates to the draft. */
enum mf_status mf_chat_add(const struct mf_chat *chat);

#endif
