/* SPDX-License-Identifier: MIT
 *
 * chat.c - the chat templates of a Hugging Face model, as metadata of GGUF
 */
#include "lib/hf/tokenizer/parts.h"

#include <stdio.h>

#include "lib/base/str.h"
#include "lib/base/text.h"
#include "lib/draft/put.h"
#include "lib/folder/sidecar.h"
#include "lib/io/path.h"
#include "lib/model/nearby.h"

#define TEMPLATE_MAX  ((size_t)1 << 20) /* bytes of a chat template */
#define TEMPLATES_MAX 64                /* real files have up to four */
#define CHAT_NAME_MAX 64                /* of the name of one */

struct template
{
    struct template *next;
    struct mf_str name; /* in GGUF; "default" for one without a name */
    struct mf_str text; /* at NULL: missing */
};

struct chat {
    struct mf_env *env;
    struct mf_draft *draft; /* its arena has all texts */
    struct template *first, *last;
};

static enum mf_status failed(const struct chat *chat)
{
    return chat->env->error.status;
}

/* ---- templates in JSON ---- */

static enum mf_status add_template(struct chat *chat, struct mf_str name,
                                   struct mf_str text)
{
    struct template *new = mf_arena_take(&chat->draft->arena, sizeof(*new));

    if (!new)
        return failed(chat);
    *new = (struct template){ .name = name, .text = text };
    if (chat->last)
        chat->last->next = new;
    else
        chat->first = new;
    chat->last = new;
    return MF_OK;
}

/* Letters and digits of ASCII stay; any other character becomes one '_'. */
static size_t clean_name(char *name, size_t size)
{
    size_t used = 0;
    uint32_t code;

    for (size_t at = 0, step; at < size; at += step) {
        char c = name[at];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     (c >= '0' && c <= '9');

        step = mf_utf8_next(name + at, size - at, &code);
        step = step ? step : 1;
        name[used++] = plain ? c : '_';
    }
    return used;
}

static enum mf_status wrong(struct chat *chat, const char *file,
                            const struct mf_node *node, const char *what)
{
    return mf_fail(chat->env, MF_ERR_CORRUPT, node->offset,
                   "'%s': 'chat_template' has %s, which is %s", file, what,
                   mf_node_kind_name(node));
}

/* { "name": "tool_use", "template": "..." }; either may be missing. */
static enum mf_status add_listed(struct chat *chat, const char *file,
                                 const struct mf_node *node)
{
    const struct mf_node *name = mf_node_at(node, "name");
    const struct mf_node *text = mf_node_at(node, "template");
    struct mf_str copy = { "", 0 };

    if (node->kind != MF_NODE_OBJECT)
        return wrong(chat, file, node, "an element");
    if (name && name->kind != MF_NODE_STRING)
        return wrong(chat, file, name, "a name");
    if (text && text->kind != MF_NODE_STRING && text->kind != MF_NODE_NULL)
        return wrong(chat, file, text, "a template");
    if (name) {
        copy = mf_draft_text(chat->draft, name->text);
        if (!copy.at)
            return failed(chat);
        copy.size = clean_name((char *)copy.at, copy.size);
    }
    if (copy.size >= CHAT_NAME_MAX)
        return mf_fail(chat->env, MF_ERR_UNSUPPORTED, node->offset,
                       "'%s': the name of a chat template is longer than %d "
                       "bytes",
                       file, CHAT_NAME_MAX - 1);
    return add_template(chat, copy,
                        text ? text->text : (struct mf_str){ NULL, 0 });
}

/* A string, or a list of templates with names.  Other values are ignored, as
 * llama.cpp's converter does. */
static enum mf_status add_value(struct chat *chat, const char *file,
                                const struct mf_node *node)
{
    if (node->kind == MF_NODE_STRING)
        return add_template(chat, (struct mf_str){ "default", 7 }, node->text);
    if (node->kind != MF_NODE_ARRAY)
        return MF_OK;
    if (node->count > TEMPLATES_MAX)
        return mf_fail(chat->env, MF_ERR_UNSUPPORTED, node->offset,
                       "'%s' has more than %d chat templates", file,
                       TEMPLATES_MAX);
    for (node = node->first; node; node = node->next)
        if (add_listed(chat, file, node) != MF_OK)
            return failed(chat);
    return MF_OK;
}

/* ---- files of their own ---- */

/* Lines end with \n alone, as a file read as text has them in Python. */
static size_t plain_lines(char *text, size_t size)
{
    size_t to = 0;

    for (size_t from = 0; from < size; from++) {
        bool pair =
            text[from] == '\r' && from + 1 < size && text[from + 1] == '\n';

        if (!pair)
            text[to++] = text[from] == '\r' ? '\n' : text[from];
    }
    return to;
}

static enum mf_status read_file(struct chat *chat,
                                const struct mf_sidecar *file, const char *name)
{
    size_t size = (size_t)file->source.size;
    char *text;

    if (file->source.size > TEMPLATE_MAX)
        return mf_fail(chat->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "larger than %zu bytes", TEMPLATE_MAX);
    text = mf_arena_text(&chat->draft->arena, size);
    if (!text ||
        mf_source_read(chat->env, &file->source, 0, text, size) != MF_OK)
        return failed(chat);
    if (!mf_text_is_utf8(text, size))
        return mf_fail(chat->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "not valid UTF-8");
    return add_template(chat, (struct mf_str){ name, strlen(name) },
                        (struct mf_str){ text, plain_lines(text, size) });
}

static enum mf_status read_template_file(struct chat *chat,
                                         const struct mf_model *model,
                                         const char *path, const char *name)
{
    struct mf_sidecar file;
    enum mf_status status =
        mf_sidecar_open(&file, model, &chat->draft->arena, path);

    if (status == MF_OK)
        status = read_file(chat, &file, name);
    return mf_sidecar_close(&file, status);
}

#define JINJA ".jinja"

/* The template of "additional_chat_templates/tool use.jinja" is "tool_use". */
static enum mf_status read_additional_file(struct chat *chat,
                                           const struct mf_model *model,
                                           const char *file)
{
    size_t size = strlen(MF_SIDECAR_FOLDER) + 1 + strlen(file);
    char *path = mf_arena_text(&chat->draft->arena, size);
    char *name =
        mf_arena_text(&chat->draft->arena, strlen(file) - strlen(JINJA));

    if (!path || !name)
        return failed(chat);
    snprintf(path, size + 1, "%s/%s", MF_SIDECAR_FOLDER, file);
    size = strlen(file) - strlen(JINJA);
    memcpy(name, file, size);
    name[clean_name(name, size)] = 0;
    if (strlen(name) >= CHAT_NAME_MAX)
        return mf_fail(chat->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "'%s': the name of a chat template is longer than %d "
                       "bytes",
                       mf_quote((struct mf_str){ path, strlen(path) }).text,
                       CHAT_NAME_MAX - 1);
    return read_template_file(chat, model, path, name);
}

/* The names in the folder, sorted: a folder has no order, and output bytes must
 * not depend on it.  False where there are too many. */
static bool list_additional(struct chat *chat, struct mf_entries *entries,
                            const char **names, size_t *count)
{
    const char *entry;

    while ((entry = mf_entries_next(entries)) != NULL) {
        struct mf_str name = { entry, strlen(entry) };
        size_t at = *count;

        if (entry[0] == '.' || !mf_str_ends(name, JINJA))
            continue;
        if (at == TEMPLATES_MAX)
            return false;
        name = mf_draft_text(chat->draft, name);
        if (!name.at)
            return false;
        for (; at > 0 && strcmp(names[at - 1], name.at) > 0; at--)
            names[at] = names[at - 1];
        names[at] = name.at;
        ++*count;
    }
    return true;
}

/* The folder of further templates next to chat_template.jinja. */
static enum mf_status read_additional(struct chat *chat,
                                      const struct mf_model *model)
{
    const char *names[TEMPLATES_MAX];
    const char *path = mf_path_sibling(
        &chat->draft->arena, model->file[0].path,
        (struct mf_str){ MF_SIDECAR_FOLDER, strlen(MF_SIDECAR_FOLDER) });
    struct mf_entries entries;
    size_t count = 0;
    bool listed;

    if (!path)
        return failed(chat);
    mf_entries_begin(&entries, mf_nearby_folder(model, path));
    listed = list_additional(chat, &entries, names, &count);
    mf_entries_end(&entries);
    if (!listed)
        return failed(chat) ? failed(chat)
                            : mf_fail(chat->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                                      "'%s' has more than %d templates",
                                      MF_SIDECAR_FOLDER, TEMPLATES_MAX);
    for (size_t i = 0; i < count; i++)
        if (read_additional_file(chat, model, names[i]) != MF_OK)
            return failed(chat);
    return MF_OK;
}

/* chat_template.json: an object with one key. */
static enum mf_status add_json(struct chat *chat, const struct mf_model *model)
{
    static const char name[] = "chat_template.json";
    const struct mf_node *value;
    struct mf_node *root;

    if (mf_sidecar_tree(model, &chat->draft->arena, name, MF_SIDECAR_LIMIT,
                        &root) != MF_OK)
        return failed(chat);
    if (root && root->kind != MF_NODE_OBJECT)
        return mf_fail(chat->env, MF_ERR_CORRUPT, 0,
                       "'%s' is %s, not an object", name,
                       mf_node_kind_name(root));
    value = mf_node_at(root, "chat_template");
    return value ? add_value(chat, name, value) : MF_OK;
}

static enum mf_status collect(struct chat *chat, const struct mf_model *model,
                              const struct mf_node *config)
{
    static const char jinja[] = "chat_template.jinja";
    const struct mf_node *value = mf_node_at(config, "chat_template");

    if (value)
        return add_value(chat, "tokenizer_config.json", value);
    if (mf_sidecar_exists(model, &chat->draft->arena, jinja))
        return read_template_file(chat, model, jinja, "default") == MF_OK
                   ? read_additional(chat, model)
                   : failed(chat);
    return failed(chat) ? failed(chat) : add_json(chat, model);
}

/* ---- adding to the draft ---- */

/* Templates without a name or a text are ignored, as in llama.cpp's converter.
 */
static bool has_key(const struct template *template)
{
    return template->name.size > 0 && template->text.at &&
           !mf_str_is(template->name, "default");
}

static enum mf_status put_named(const struct chat *chat,
                                const struct template *template)
{
    char key[CHAT_NAME_MAX + 32];

    snprintf(key, sizeof(key), "tokenizer.chat_template.%.*s",
             (int)template->name.size, template->name.at);
    return mf_set_text(chat->draft, key, template->text);
}

static bool has_name(const struct mf_str *names, size_t count,
                     struct mf_str name)
{
    for (size_t i = 0; i < count; i++)
        if (mf_str_same(names[i], name))
            return true;
    return false;
}

enum mf_status mf_chat_put(struct mf_draft *draft, const struct mf_model *model,
                           const struct mf_node *config)
{
    struct chat chat = { .env = draft->env, .draft = draft };
    struct mf_str text = { NULL, 0 };
    struct mf_str *names =
        mf_arena_take(&draft->arena, (TEMPLATES_MAX + 1) * sizeof(*names));
    size_t count = 0;

    if (!names || collect(&chat, model, config) != MF_OK)
        return failed(&chat);
    for (const struct template *at = chat.first; at; at = at->next) {
        if (mf_str_is(at->name, "default") && at->text.at)
            text = at->text; /* the last one counts */
        if (!has_key(at))
            continue;
        if (put_named(&chat, at) != MF_OK)
            return failed(&chat);
        if (!has_name(names, count, at->name))
            names[count++] = at->name;
    }
    if (count > 0 && mf_set_array(draft, "tokenizer.chat_templates",
                                  MF_VALUE_STRING, names, count) != MF_OK)
        return failed(&chat);
    return text.at ? mf_set_text(draft, "tokenizer.chat_template", text)
                   : MF_OK;
}

enum mf_status mf_chat_put_file(struct mf_draft *draft,
                                const struct mf_model *model, const char *name)
{
    struct chat chat = { .env = draft->env, .draft = draft };

    return read_template_file(&chat, model, name, "default") == MF_OK
               ? mf_set_text(draft, "tokenizer.chat_template", chat.first->text)
               : failed(&chat);
}
