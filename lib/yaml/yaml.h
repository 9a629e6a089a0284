/* SPDX-License-Identifier: MIT
 *
 * yaml.h - a short YAML document as nodes
 *
 * The language as PyYAML's safe_load reads it, which is YAML 1.1: block and
 * flow collections, plain and quoted texts, literal and folded ones, comments,
 * anchors, merged mappings.  What that refuses is refused here, and also: tags
 * other than !!str, !!seq and !!map, directives, anchors inside of which they
 * are named again.
 *
 * A plain scalar is null, a boolean, a number or a date by how it looks.  A
 * date is a number of the type MF_VALUE_STRING, with its text: no key of a GGUF
 * file can have it.
 *
 * Nothing recurses.  The text has no tabs and no line breaks but "\n".
 */
#ifndef MF_LIB_YAML_H
#define MF_LIB_YAML_H

#include "lib/base/str.h"
#include "lib/json/tree.h"

/* How deep collections may be in each other, and how many values and anchors a
 * document may have. */
#define MF_YAML_DEPTH   100
#define MF_YAML_NODES   ((uint64_t)1 << 17)
#define MF_YAML_ANCHORS 256

/* *root is of kind null for an empty document.  A key that is there twice is
 * listed twice, and the last one counts: use mf_yaml_get.  A key that is not
 * text is at NULL. */
enum mf_status mf_yaml_read(struct mf_env *env, struct mf_arena *arena,
                            struct mf_str text, struct mf_node **root);

/* NULL: it has no such key, or is not a mapping. */
static inline const struct mf_node *mf_yaml_get(const struct mf_node *mapping,
                                                const char *key)
{
    const struct mf_node *found = NULL;

    if (!mapping || mapping->kind != MF_NODE_OBJECT)
        return NULL;
    for (const struct mf_node *node = mapping->first; node; node = node->next)
        if (mf_str_is(node->key, key))
            found = node;
    return found;
}

/* ---- between the files of this room ---- */

enum mf_yaml_kind {
    MF_YAML_END, /* of the text */
    MF_YAML_DOCUMENT_START,
    MF_YAML_DOCUMENT_END,
    MF_YAML_BLOCK_SEQUENCE,
    MF_YAML_BLOCK_MAPPING,
    MF_YAML_BLOCK_END,
    MF_YAML_FLOW_SEQUENCE,
    MF_YAML_FLOW_SEQUENCE_END,
    MF_YAML_FLOW_MAPPING,
    MF_YAML_FLOW_MAPPING_END,
    MF_YAML_BLOCK_ENTRY,
    MF_YAML_FLOW_ENTRY,
    MF_YAML_KEY,
    MF_YAML_VALUE,
    MF_YAML_ALIAS,
    MF_YAML_ANCHOR,
    MF_YAML_TAG,
    MF_YAML_SCALAR,
    MF_YAML_ERROR /* env has it */
};

struct mf_yaml_token {
    enum mf_yaml_kind kind;
    bool plain;         /* a scalar without quotes or the like */
    struct mf_str text; /* of a scalar, or a name */
    size_t line;        /* from 0 */
};

/* Where a key may have begun that shows only at the ":" after it. */
struct mf_yaml_key {
    bool possible, required;
    size_t token; /* its number */
    size_t at, line;
    int column;
};

/* Tokens that wait for what follows: a key has at most 1024 characters, and
 * each of them is at most two tokens. */
#define MF_YAML_QUEUE 2560

struct mf_yaml {
    struct mf_env *env;
    struct mf_arena *arena;
    const char *text; /* with a NUL after it */
    size_t size, at;
    size_t line, line_start;
    int indent;
    int indents[MF_YAML_DEPTH];
    unsigned indent_count, flow;
    bool key_allowed, done;
    struct mf_yaml_key key[MF_YAML_DEPTH + 1]; /* by the flow's depth */
    size_t taken, count; /* tokens given, and those in the queue */
    size_t first;        /* in the queue */
    struct mf_yaml_token queue[MF_YAML_QUEUE];
    char *scratch; /* for the text of a scalar */
    size_t length;
};

enum mf_status mf_yaml_init(struct mf_yaml *yaml, struct mf_env *env,
                            struct mf_arena *arena, struct mf_str text);

/* The kind of the next token, which stays the next. */
enum mf_yaml_kind mf_yaml_peek(struct mf_yaml *yaml);
struct mf_yaml_token mf_yaml_next(struct mf_yaml *yaml);

/* Sets the error, with the line. */
enum mf_status mf_yaml_fail(struct mf_yaml *yaml, size_t line,
                            const char *what);

/* The character `ahead` bytes further, NUL after the end. */
static inline char mf_yaml_char(const struct mf_yaml *yaml, size_t ahead)
{
    return yaml->at + ahead < yaml->size ? yaml->text[yaml->at + ahead] : 0;
}

static inline bool mf_yaml_is_blank(char c)
{
    return c == 0 || c == ' ' || c == '\n';
}

static inline int mf_yaml_column(const struct mf_yaml *yaml)
{
    return (int)(yaml->at - yaml->line_start);
}

/* Takes the line break that is next. */
static inline void mf_yaml_break(struct mf_yaml *yaml)
{
    yaml->line_start = ++yaml->at;
    yaml->line++;
}

/* Whether "---" or "..." is here, alone. */
bool mf_yaml_at_separator(const struct mf_yaml *yaml);

/* Scalars: the token's text, or false after mf_yaml_fail. */
bool mf_yaml_scan_plain(struct mf_yaml *yaml, struct mf_str *out);
bool mf_yaml_scan_quoted(struct mf_yaml *yaml, struct mf_str *out);
bool mf_yaml_scan_block(struct mf_yaml *yaml, struct mf_str *out);

/* What a plain scalar is: sets kind, type, number.  False: it looks like a
 * number or a date, but is a text. */
bool mf_yaml_resolve(struct mf_node *node);

#endif
