/* SPDX-License-Identifier: MIT
 *
 * scan.c - a YAML text as tokens
 *
 * Indentation makes tokens of its own: a block begins where a line is indented
 * deeper and ends where one is less.  That something is a key shows at the ":"
 * after it; until then it waits in a queue, and the token for the key is put in
 * before it.
 */
#include <stdio.h>

#include "lib/base/text.h"
#include "lib/yaml/yaml.h"

/* Characters of a key at most. */
#define KEY_MAX 1024

enum mf_status mf_yaml_fail(struct mf_yaml *yaml, size_t line, const char *what)
{
    return mf_fail(yaml->env, MF_ERR_CORRUPT, MF_NO_OFFSET, "line %zu: %s",
                   line + 2, what); /* after the first line, which is "---" */
}

static bool fail(struct mf_yaml *yaml, const char *what)
{
    mf_yaml_fail(yaml, yaml->line, what);
    return false;
}

/* What a text may consist of: no control characters. */
static bool is_printable(uint32_t code)
{
    return code == '\n' || (code >= 0x20 && code <= 0x7e) || code == 0x85 ||
           (code >= 0xa0 && code != 0xfffe && code != 0xffff);
}

enum mf_status mf_yaml_init(struct mf_yaml *yaml, struct mf_env *env,
                            struct mf_arena *arena, struct mf_str text)
{
    *yaml = (struct mf_yaml){ .env = env,
                              .arena = arena,
                              .text = text.at,
                              .size = text.size,
                              .indent = -1,
                              .key_allowed = true };
    for (size_t i = 0, size; i < text.size; i += size) {
        uint32_t code = 0;

        size = mf_utf8_next(text.at + i, text.size - i, &code);
        if (size == 0 || !is_printable(code))
            return mf_yaml_fail(yaml, yaml->line,
                                "a control character is not allowed");
        yaml->line += code == '\n';
    }
    yaml->line = 0;
    /* An escape of two bytes becomes three at most. */
    yaml->scratch = mf_arena_text(arena, text.size + text.size / 2 + 8);
    return yaml->scratch ? MF_OK : env->error.status;
}

/* ---- the queue ---- */

static struct mf_yaml_token *put_at(struct mf_yaml *yaml, size_t place,
                                    enum mf_yaml_kind kind)
{
    if (yaml->first + yaml->count == MF_YAML_QUEUE) {
        memmove(yaml->queue, yaml->queue + yaml->first,
                yaml->count * sizeof(*yaml->queue));
        yaml->first = 0;
    }
    if (yaml->count == MF_YAML_QUEUE) {
        fail(yaml, "a line is too long");
        return NULL;
    }
    place += yaml->first;
    memmove(yaml->queue + place + 1, yaml->queue + place,
            (yaml->first + yaml->count - place) * sizeof(*yaml->queue));
    yaml->count++;
    yaml->queue[place] =
        (struct mf_yaml_token){ .kind = kind, .line = yaml->line };
    return &yaml->queue[place];
}

static bool put(struct mf_yaml *yaml, enum mf_yaml_kind kind, size_t taken)
{
    if (!put_at(yaml, yaml->count, kind))
        return false;
    yaml->at += taken;
    return true;
}

/* ---- keys ---- */

static bool is_too_long(const struct mf_yaml *yaml, size_t from)
{
    size_t characters = 0;

    if (yaml->at - from <= KEY_MAX)
        return false;
    for (size_t i = from; i < yaml->at; i++)
        characters += ((unsigned char)yaml->text[i] & 0xc0) != 0x80;
    return characters > KEY_MAX;
}

static bool drop_key(struct mf_yaml *yaml, struct mf_yaml_key *key)
{
    if (key->possible && key->required) {
        mf_yaml_fail(yaml, key->line, "a ':' is missing after the key");
        return false;
    }
    key->possible = false;
    return true;
}

/* A key is in one line. */
static bool drop_stale(struct mf_yaml *yaml)
{
    for (unsigned i = 0; i <= yaml->flow; i++) {
        struct mf_yaml_key *key = &yaml->key[i];

        if (key->possible &&
            (key->line != yaml->line || is_too_long(yaml, key->at)) &&
            !drop_key(yaml, key))
            return false;
    }
    return true;
}

static bool save_key(struct mf_yaml *yaml)
{
    struct mf_yaml_key *key = &yaml->key[yaml->flow];

    if (!yaml->key_allowed)
        return true;
    if (!drop_key(yaml, key))
        return false;
    *key =
        (struct mf_yaml_key){ .possible = true,
                              .required = !yaml->flow &&
                                          yaml->indent == mf_yaml_column(yaml),
                              .token = yaml->taken + yaml->count,
                              .at = yaml->at,
                              .line = yaml->line,
                              .column = mf_yaml_column(yaml) };
    return true;
}

/* ---- indentation ---- */

static bool unwind(struct mf_yaml *yaml, int column)
{
    while (!yaml->flow && yaml->indent > column) {
        yaml->indent = yaml->indents[--yaml->indent_count];
        if (!put(yaml, MF_YAML_BLOCK_END, 0))
            return false;
    }
    return true;
}

/* A block begins, if the column is deeper; its token goes to that place. */
static bool begin_block(struct mf_yaml *yaml, int column,
                        enum mf_yaml_kind kind, size_t place)
{
    if (yaml->flow || yaml->indent >= column)
        return true;
    if (yaml->indent_count == MF_YAML_DEPTH)
        return fail(yaml, "it is nested too deeply");
    yaml->indents[yaml->indent_count++] = yaml->indent;
    yaml->indent = column;
    return put_at(yaml, place, kind) != NULL;
}

/* ---- tokens ---- */

bool mf_yaml_at_separator(const struct mf_yaml *yaml)
{
    const char *at = yaml->text + yaml->at;

    return yaml->size - yaml->at >= 3 &&
           (memcmp(at, "---", 3) == 0 || memcmp(at, "...", 3) == 0) &&
           mf_yaml_is_blank(mf_yaml_char(yaml, 3));
}

static void pass_to_token(struct mf_yaml *yaml)
{
    for (;;) {
        while (mf_yaml_char(yaml, 0) == ' ')
            yaml->at++;
        if (mf_yaml_char(yaml, 0) == '#')
            while (mf_yaml_char(yaml, 0) && mf_yaml_char(yaml, 0) != '\n')
                yaml->at++;
        if (mf_yaml_char(yaml, 0) != '\n')
            return;
        mf_yaml_break(yaml);
        yaml->key_allowed |= !yaml->flow;
    }
}

static bool fetch_end(struct mf_yaml *yaml)
{
    yaml->done = true;
    return unwind(yaml, -1) && drop_key(yaml, &yaml->key[yaml->flow]) &&
           put(yaml, MF_YAML_END, 0);
}

static bool fetch_separator(struct mf_yaml *yaml)
{
    enum mf_yaml_kind kind = mf_yaml_char(yaml, 0) == '-'
                                 ? MF_YAML_DOCUMENT_START
                                 : MF_YAML_DOCUMENT_END;

    if (!unwind(yaml, -1) || !drop_key(yaml, &yaml->key[yaml->flow]))
        return false;
    yaml->key_allowed = false;
    return put(yaml, kind, 3);
}

static bool fetch_open(struct mf_yaml *yaml, enum mf_yaml_kind kind)
{
    if (!save_key(yaml))
        return false;
    if (yaml->flow == MF_YAML_DEPTH)
        return fail(yaml, "it is nested too deeply");
    yaml->key[++yaml->flow].possible = false;
    yaml->key_allowed = true;
    return put(yaml, kind, 1);
}

static bool fetch_close(struct mf_yaml *yaml, enum mf_yaml_kind kind)
{
    if (!drop_key(yaml, &yaml->key[yaml->flow]))
        return false;
    if (yaml->flow == 0)
        return fail(yaml, "a bracket is closed that was not opened");
    yaml->flow--;
    yaml->key_allowed = false;
    return put(yaml, kind, 1);
}

/* "-", "?" or ",": what follows may be a key. */
static bool fetch_entry(struct mf_yaml *yaml, enum mf_yaml_kind kind,
                        enum mf_yaml_kind block)
{
    if (kind != MF_YAML_FLOW_ENTRY && !yaml->flow && !yaml->key_allowed)
        return fail(yaml, "an entry of a list or mapping is not allowed here");
    if (kind != MF_YAML_FLOW_ENTRY &&
        !begin_block(yaml, mf_yaml_column(yaml), block, yaml->count))
        return false;
    yaml->key_allowed = kind != MF_YAML_KEY || !yaml->flow;
    return drop_key(yaml, &yaml->key[yaml->flow]) && put(yaml, kind, 1);
}

static bool fetch_value(struct mf_yaml *yaml)
{
    struct mf_yaml_key *key = &yaml->key[yaml->flow];

    if (key->possible) {
        size_t place = key->token - yaml->taken;

        key->possible = false;
        yaml->key_allowed = false;
        return put_at(yaml, place, MF_YAML_KEY) &&
               begin_block(yaml, key->column, MF_YAML_BLOCK_MAPPING, place) &&
               put(yaml, MF_YAML_VALUE, 1);
    }
    if (!yaml->flow && !yaml->key_allowed)
        return fail(yaml, "a ':' is not allowed here: a text that has one "
                          "needs quotes");
    if (!begin_block(yaml, mf_yaml_column(yaml), MF_YAML_BLOCK_MAPPING,
                     yaml->count))
        return false;
    yaml->key_allowed = !yaml->flow;
    return put(yaml, MF_YAML_VALUE, 1);
}

static bool is_name(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

/* An anchor or alias. */
static bool fetch_name(struct mf_yaml *yaml, enum mf_yaml_kind kind)
{
    struct mf_yaml_token *token;
    size_t size = 0;

    if (!save_key(yaml))
        return false;
    yaml->key_allowed = false;
    token = put_at(yaml, yaml->count, kind);
    if (!token)
        return false;
    while (is_name(mf_yaml_char(yaml, 1 + size)))
        size++;
    token->text = (struct mf_str){ yaml->text + yaml->at + 1, size };
    yaml->at += size + 1;
    if (size == 0 || (!mf_yaml_is_blank(mf_yaml_char(yaml, 0)) &&
                      !strchr("?:,]}%@`", mf_yaml_char(yaml, 0))))
        return fail(yaml, "the name of an anchor is invalid");
    return true;
}

static bool fetch_tag(struct mf_yaml *yaml)
{
    struct mf_yaml_token *token;
    size_t size = 1;

    if (!save_key(yaml))
        return false;
    yaml->key_allowed = false;
    token = put_at(yaml, yaml->count, MF_YAML_TAG);
    if (!token)
        return false;
    while (!mf_yaml_is_blank(mf_yaml_char(yaml, size)))
        size++;
    token->text = (struct mf_str){ yaml->text + yaml->at, size };
    yaml->at += size;
    return true;
}

static bool fetch_scalar(struct mf_yaml *yaml)
{
    char c = mf_yaml_char(yaml, 0);
    bool block = c == '|' || c == '>', quoted = c == '\'' || c == '"', is_read;
    struct mf_yaml_token *token;
    size_t line = yaml->line;
    struct mf_str text;

    if (block ? !drop_key(yaml, &yaml->key[yaml->flow]) : !save_key(yaml))
        return false;
    yaml->key_allowed = block;
    is_read = block    ? mf_yaml_scan_block(yaml, &text)
              : quoted ? mf_yaml_scan_quoted(yaml, &text)
                       : mf_yaml_scan_plain(yaml, &text);
    token = is_read ? put_at(yaml, yaml->count, MF_YAML_SCALAR) : NULL;
    if (!token)
        return false;
    token->plain = !block && !quoted;
    token->text = text;
    token->line = line;
    return true;
}

static bool begins_plain(const struct mf_yaml *yaml, char c)
{
    if (!strchr("-?:,[]{}#&*!|>'\"%@`", c))
        return true;
    return !mf_yaml_is_blank(mf_yaml_char(yaml, 1)) &&
           (c == '-' || (!yaml->flow && (c == '?' || c == ':')));
}

static bool fetch_other(struct mf_yaml *yaml, char c)
{
    bool blank = mf_yaml_is_blank(mf_yaml_char(yaml, 1));

    if (c == '-' && blank)
        return fetch_entry(yaml, MF_YAML_BLOCK_ENTRY, MF_YAML_BLOCK_SEQUENCE);
    if (c == '?' && (yaml->flow || blank))
        return fetch_entry(yaml, MF_YAML_KEY, MF_YAML_BLOCK_MAPPING);
    if (c == ':' && (yaml->flow || blank))
        return fetch_value(yaml);
    if (c == '\'' || c == '"' || ((c == '|' || c == '>') && !yaml->flow) ||
        begins_plain(yaml, c))
        return fetch_scalar(yaml);
    return fail(yaml, "a text that begins with this character needs quotes");
}

static bool fetch(struct mf_yaml *yaml)
{
    char c;

    pass_to_token(yaml);
    if (!drop_stale(yaml) || !unwind(yaml, mf_yaml_column(yaml)))
        return false;
    c = mf_yaml_char(yaml, 0);
    if (mf_yaml_column(yaml) == 0 && c && mf_yaml_at_separator(yaml))
        return fetch_separator(yaml);
    if (mf_yaml_column(yaml) == 0 && c == '%')
        return fail(yaml, "directives are not supported");
    switch (c) {
    case 0:
        return fetch_end(yaml);
    case '[':
        return fetch_open(yaml, MF_YAML_FLOW_SEQUENCE);
    case '{':
        return fetch_open(yaml, MF_YAML_FLOW_MAPPING);
    case ']':
        return fetch_close(yaml, MF_YAML_FLOW_SEQUENCE_END);
    case '}':
        return fetch_close(yaml, MF_YAML_FLOW_MAPPING_END);
    case ',':
        return fetch_entry(yaml, MF_YAML_FLOW_ENTRY, MF_YAML_END);
    case '*':
        return fetch_name(yaml, MF_YAML_ALIAS);
    case '&':
        return fetch_name(yaml, MF_YAML_ANCHOR);
    case '!':
        return fetch_tag(yaml);
    default:
        return fetch_other(yaml, c);
    }
}

/* Whether the first token may yet get a key before it. */
static bool is_waiting(const struct mf_yaml *yaml)
{
    for (unsigned i = 0; i <= yaml->flow; i++)
        if (yaml->key[i].possible && yaml->key[i].token == yaml->taken)
            return true;
    return false;
}

enum mf_yaml_kind mf_yaml_peek(struct mf_yaml *yaml)
{
    if (yaml->env->error.status != MF_OK)
        return MF_YAML_ERROR;
    while (!yaml->done) {
        if (yaml->count > 0 && !drop_stale(yaml))
            return MF_YAML_ERROR;
        if (yaml->count > 0 && !is_waiting(yaml))
            break;
        if (!fetch(yaml))
            return MF_YAML_ERROR;
    }
    return yaml->queue[yaml->first].kind;
}

struct mf_yaml_token mf_yaml_next(struct mf_yaml *yaml)
{
    struct mf_yaml_token token = { .kind = mf_yaml_peek(yaml) };

    if (token.kind == MF_YAML_ERROR || token.kind == MF_YAML_END)
        return token;
    token = yaml->queue[yaml->first++];
    yaml->count--;
    yaml->taken++;
    return token;
}
