/* SPDX-License-Identifier: MIT
 *
 * chat.c - the chat templates of a Hugging Face model, as metadata of GGUF
 */
#include "lib/tokenizer/chat.h"

#include <stdio.h>

#include "lib/base/str.h"
#include "lib/base/text.h"
#include "lib/folder/sidecar.h"
#include "lib/io/path.h"
#include "lib/json/json_walk.h"

#define TEMPLATE_MAX  ((size_t)1 << 20) /* bytes of a chat template */
#define TEMPLATES_MAX 64                /* real files have up to four */
#define CHAT_NAME_MAX 64                /* of the name of one */

static enum mf_status failed(const struct mf_chat *chat)
{
    return chat->env->error.status;
}

static enum mf_status uncertain(const struct mf_chat *chat, const char *path)
{
    struct mf_str name = { path, strlen(path) };

    return mf_fail(chat->env, MF_ERR_UNSUPPORTED, chat->json->token_offset,
                   "'%s' has no known equivalent in GGUF", mf_quote(name).text);
}

/* ---- one template ---- */

static enum mf_status add_template(struct mf_chat *chat, const char *name)
{
    struct mf_chat_template *new =
        mf_arena_take(&chat->draft->arena, sizeof(*new));

    if (!new)
        return failed(chat);
    *new = (struct mf_chat_template){ .name = { name, strlen(name) } };
    if (chat->last)
        chat->last->next = new;
    else
        chat->first = new;
    chat->last = new;
    chat->count++;
    return MF_OK;
}

/* The whole string, in the arena.  Room grows with what was read: a file says
 * nothing about the length of its strings. */
static enum mf_status read_text(struct mf_chat *chat, const char *path)
{
    char *text = NULL, *moved;
    size_t size = 0, room = 0;
    uint64_t piece;
    bool more = true;

    while (more) {
        if (size + 4096 > room) {
            room = room * 2 + 16384;
            if (room > 2 * TEMPLATE_MAX)
                return uncertain(chat, path);
            moved = mf_arena_text(&chat->draft->arena, room);
            if (!moved)
                return failed(chat);
            if (size > 0)
                memcpy(moved, text, size);
            text = moved;
        }
        if (mf_json_text(chat->json, text + size, room - size, &piece, &more) !=
            MF_OK)
            return failed(chat);
        size += (size_t)piece;
    }
    chat->last->text = (struct mf_str){ text, size };
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

static enum mf_status read_name(struct mf_chat *chat, const char *path)
{
    char name[CHAT_NAME_MAX];
    uint64_t size;
    bool more;

    if (mf_json_text(chat->json, name, sizeof(name), &size, &more) != MF_OK)
        return failed(chat);
    if (more)
        return uncertain(chat, path);
    chat->last->name = mf_draft_text(
        chat->draft, (struct mf_str){ name, clean_name(name, (size_t)size) });
    return chat->last->name.at ? MF_OK : failed(chat);
}

/* rest: the path after "chat_template.", such as "0.name". */
static enum mf_status visit_listed(struct mf_chat *chat, const char *path,
                                   const char *rest, enum mf_json_token token)
{
    const char *dot = strchr(rest, '.'), *name = dot ? dot + 1 : "";

    if (!dot)
        return token == MF_JSON_BEGIN_OBJECT && chat->count < TEMPLATES_MAX
                   ? add_template(chat, "")
                   : uncertain(chat, path);
    if (strcmp(name, "name") != 0 && strcmp(name, "template") != 0)
        return mf_json_skip(chat->json, token);
    if (token == MF_JSON_NULL)
        return MF_OK;
    if (token != MF_JSON_STRING)
        return uncertain(chat, path);
    return strcmp(name, "name") == 0 ? read_name(chat, path)
                                     : read_text(chat, path);
}

enum mf_status mf_chat_visit(struct mf_chat *chat, const char *path,
                             enum mf_json_token token)
{
    const char *rest = path + strlen("chat_template");

    if (*rest == '.')
        return visit_listed(chat, path, rest + 1, token);
    if (*rest)
        return mf_json_skip(chat->json, token);
    if (chat->seen)
        return uncertain(chat, path);
    chat->seen = true;
    if (token == MF_JSON_STRING)
        return add_template(chat, "default") == MF_OK ? read_text(chat, path)
                                                      : failed(chat);
    return token == MF_JSON_NULL || token == MF_JSON_BEGIN_ARRAY
               ? MF_OK
               : uncertain(chat, path);
}

/* ---- files of their own ---- */

static enum mf_status read_file(struct mf_chat *chat,
                                const struct mf_sidecar *file, const char *name)
{
    size_t size = (size_t)file->source.size;
    char *text;

    if (file->source.size > TEMPLATE_MAX)
        return mf_fail(chat->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "larger than %zu bytes", TEMPLATE_MAX);
    text = mf_arena_text(&chat->draft->arena, size);
    if (!text || add_template(chat, name) != MF_OK ||
        mf_source_read(chat->env, &file->source, 0, text, size) != MF_OK)
        return failed(chat);
    if (!mf_text_is_utf8(text, size))
        return mf_fail(chat->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "not valid UTF-8");
    chat->last->text = (struct mf_str){ text, size };
    return MF_OK;
}

static enum mf_status read_template_file(struct mf_chat *chat,
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
static enum mf_status read_additional_file(struct mf_chat *chat,
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
static bool list_additional(struct mf_chat *chat, struct mf_entries *entries,
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
static enum mf_status read_additional(struct mf_chat *chat,
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
    mf_entries_begin(&entries, mf_open_directory(path));
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

static enum mf_status visit(void *user, const char *path,
                            enum mf_json_token token)
{
    struct mf_chat *chat = user;

    if (strncmp(path, "chat_template", strlen("chat_template")) == 0)
        return mf_chat_visit(chat, path, token);
    return *path ? mf_json_skip(chat->json, token) : MF_OK;
}

enum mf_status mf_chat_read(struct mf_chat *chat, const struct mf_model *model)
{
    static const char jinja[] = "chat_template.jinja",
                      json[] = "chat_template.json";
    struct mf_arena *arena = &chat->draft->arena;
    struct mf_sidecar file;
    enum mf_status status;

    if (chat->seen)
        return MF_OK;
    if (mf_sidecar_exists(model, arena, jinja))
        return read_template_file(chat, model, jinja, "default") == MF_OK
                   ? read_additional(chat, model)
                   : failed(chat);
    if (failed(chat) || !mf_sidecar_exists(model, arena, json))
        return failed(chat);
    status = mf_sidecar_open(&file, model, arena, json);
    chat->json = &file.json;
    if (status == MF_OK)
        status = mf_json_walk(&file.json, visit, chat);
    return mf_sidecar_close(&file, status);
}

/* ---- adding to the draft ---- */

static struct mf_entry *add(struct mf_draft *draft, struct mf_str key,
                            enum mf_value_type type)
{
    struct mf_entry *entry = key.at ? mf_draft_add_entry(draft) : NULL;

    if (entry) {
        entry->key = key;
        entry->type = type;
    }
    return entry;
}

static enum mf_status add_text(struct mf_draft *draft, const char *key,
                               struct mf_str text)
{
    struct mf_entry *entry =
        add(draft, mf_draft_text(draft, (struct mf_str){ key, strlen(key) }),
            MF_VALUE_STRING);

    if (!entry)
        return draft->env->error.status;
    entry->text = text;
    entry->count = text.size;
    return MF_OK;
}

/* Templates without a name or a text are ignored, as in llama.cpp's converter.
 */
static bool has_key(const struct mf_chat_template *template)
{
    return template->name.size > 0 && template->text.at &&
           !mf_str_is(template->name, "default");
}

static enum mf_status add_named(const struct mf_chat *chat,
                                struct mf_str *names, size_t *count)
{
    struct mf_draft *draft = chat->draft;

    for (const struct mf_chat_template *at = chat->first; at; at = at->next) {
        char key[CHAT_NAME_MAX + 32];

        if (!has_key(at))
            continue;
        snprintf(key, sizeof(key), "tokenizer.chat_template.%.*s",
                 (int)at->name.size, at->name.at);
        if (mf_draft_find(draft, key))
            return mf_fail(chat->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                           "duplicate chat template '%.*s'", (int)at->name.size,
                           at->name.at);
        if (add_text(draft, key, at->text) != MF_OK)
            return failed(chat);
        names[(*count)++] = at->name;
    }
    return MF_OK;
}

static enum mf_status add_names(const struct mf_chat *chat,
                                const struct mf_str *names, size_t count)
{
    static const char key[] = "tokenizer.chat_templates";
    struct mf_entry *entry =
        add(chat->draft, (struct mf_str){ key, strlen(key) }, MF_VALUE_ARRAY);

    if (!entry)
        return failed(chat);
    entry->of = MF_VALUE_STRING;
    entry->count = count;
    entry->elements = names;
    return MF_OK;
}

enum mf_status mf_chat_add(const struct mf_chat *chat)
{
    struct mf_str text = { NULL, 0 }, *names;
    size_t room = 0, count = 0;

    for (const struct mf_chat_template *at = chat->first; at; at = at->next) {
        room += has_key(at);
        if (mf_str_is(at->name, "default") && at->text.at)
            text = at->text; /* the last one counts */
    }
    if (room > 0) {
        names = mf_arena_take(&chat->draft->arena, room * sizeof(*names));
        if (!names || add_named(chat, names, &count) != MF_OK ||
            add_names(chat, names, count) != MF_OK)
            return failed(chat);
    }
    return text.at ? add_text(chat->draft, "tokenizer.chat_template", text)
                   : MF_OK;
}
