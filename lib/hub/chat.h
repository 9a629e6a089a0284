/* SPDX-License-Identifier: MIT
 *
 * chat.h - the chat templates of a Hugging Face model, as metadata of GGUF
 *
 * They stand in tokenizer_config.json or in files of their own; one, or several
 * with names.
 */
#ifndef MF_LIB_CHAT_H
#define MF_LIB_CHAT_H

#include "lib/draft/draft.h"
#include "lib/json/json.h"
#include "lib/model/model.h"

struct mf_chat_template {
    struct mf_chat_template *next;
    struct mf_str name; /* as GGUF has it; "default" is the one without name */
    struct mf_str text; /* at NULL: not said yet */
};

struct mf_chat {
    struct mf_env *env;
    struct mf_draft *draft; /* its arena keeps everything */
    struct mf_json *json;   /* of the file that is read */
    struct mf_chat_template *first, *last;
    size_t count;
    bool met; /* the key was there, be it null: no other file is asked */
};

/* A value of a JSON file whose path begins with "chat_template". */
enum mf_status mf_chat_visit(struct mf_chat *chat, const char *path,
                             enum mf_json_token token);

/* What the other files say where tokenizer_config.json has no such key: first
 * chat_template.jinja with additional_chat_templates, then chat_template.json.
 */
enum mf_status mf_chat_read(struct mf_chat *chat, const struct mf_model *model);

/* All of it, into the draft. */
enum mf_status mf_chat_add(const struct mf_chat *chat);

#endif
