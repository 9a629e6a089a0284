/* SPDX-License-Identifier: MIT
 *
 * yaml.c - the tokens of a YAML text as nodes
 *
 * The open collections are a stack.  Each step looks at the next token and, by
 * what the innermost one waits for, adds a value to it, opens another one in it
 * or closes it.
 */
#include "lib/yaml/yaml.h"

#include "lib/base/str.h"

enum state { /* what an open collection waits for */
             BLOCK_SEQUENCE,
             INDENTLESS, /* a sequence as deep as its key */
             BLOCK_KEY,
             BLOCK_VALUE,
             FLOW_SEQUENCE,
             FLOW_KEY,
             FLOW_VALUE,
             FLOW_NO_VALUE, /* of a key that no "?" or ":" marks */
             PAIR_KEY,      /* in a flow sequence, a mapping without brackets */
             PAIR_VALUE,
             PAIR_END
};

struct level {
    enum state state;
    struct mf_node *node, *last;
    struct mf_node *merged, *merged_last; /* of other mappings, by "<<" */
    bool has_key, is_merge, is_first;
    struct mf_str key;
};

struct anchor {
    struct mf_str name;
    const struct mf_node *node;
};

struct document {
    struct mf_yaml yaml;
    uint64_t nodes;
    size_t depth; /* open collections */
    struct level level[MF_YAML_DEPTH];
    struct mf_node *root;
    size_t anchors;
    struct anchor anchor[MF_YAML_ANCHORS];
};

static bool fail(struct document *doc, const char *what)
{
    mf_yaml_fail(&doc->yaml, doc->yaml.line, what);
    return false;
}

static enum mf_yaml_kind peek(struct document *doc)
{
    return mf_yaml_peek(&doc->yaml);
}

static bool take(struct document *doc, enum mf_yaml_kind kind)
{
    if (peek(doc) != kind)
        return false;
    mf_yaml_next(&doc->yaml);
    return true;
}

/* ---- nodes ---- */

static struct mf_node *new_node(struct document *doc, enum mf_node_kind kind)
{
    struct mf_node *node;

    if (doc->nodes++ == MF_YAML_NODES) {
        fail(doc, "the document has too many values");
        return NULL;
    }
    node = mf_arena_take(doc->yaml.arena, sizeof(*node));
    if (node)
        *node = (struct mf_node){ .kind = kind, .offset = MF_NO_OFFSET };
    return node;
}

static struct mf_node *copy(struct document *doc, const struct mf_node *from)
{
    struct mf_node *node = new_node(doc, from->kind);

    if (node) {
        *node = *from;
        node->next = NULL;
    }
    return node;
}

/* Members of a mapping go before those that this one has itself. */
static bool merge(struct document *doc, struct level *level,
                  const struct mf_node *from)
{
    for (const struct mf_node *node = from->first; node; node = node->next) {
        struct mf_node *same = copy(doc, node);

        if (!same)
            return false;
        if (level->merged_last)
            level->merged_last->next = same;
        else
            level->merged = same;
        level->merged_last = same;
        level->node->count++;
    }
    return true;
}

/* Of several mappings the first one counts, so that it comes last. */
static bool merge_all(struct document *doc, struct level *level,
                      const struct mf_node *value)
{
    if (value->kind == MF_NODE_OBJECT)
        return merge(doc, level, value);
    if (value->kind != MF_NODE_ARRAY || value->count > MF_YAML_DEPTH)
        return fail(doc, "only mappings can be merged");
    for (uint64_t i = value->count; i > 0; i--) {
        const struct mf_node *node = value->first;

        for (uint64_t j = 1; j < i; j++)
            node = node->next;
        if (node->kind != MF_NODE_OBJECT)
            return fail(doc, "only mappings can be merged");
        if (!merge(doc, level, node))
            return false;
    }
    return true;
}

/* Adds a value to the innermost collection; in a mapping every other one is a
 * key. */
static bool add(struct document *doc, struct mf_node *node, bool is_merge)
{
    struct level *level = doc->depth ? &doc->level[doc->depth - 1] : NULL;

    if (!level) {
        doc->root = node;
        return true;
    }
    if (level->node->kind == MF_NODE_OBJECT && !level->has_key) {
        if (node->kind == MF_NODE_OBJECT || node->kind == MF_NODE_ARRAY)
            return fail(doc, "a list or mapping cannot be a key");
        level->has_key = true;
        level->is_merge = is_merge;
        level->key = node->kind == MF_NODE_STRING ? node->text
                                                  : (struct mf_str){ NULL, 0 };
        return true;
    }
    if (is_merge)
        return fail(doc, "'<<' can only be a key");
    level->has_key = false;
    if (level->node->kind == MF_NODE_OBJECT && level->is_merge)
        return merge_all(doc, level, node);
    node->key = level->key;
    level->key = (struct mf_str){ NULL, 0 };
    if (level->last)
        level->last->next = node;
    else
        level->node->first = node;
    level->last = node;
    level->node->count++;
    return true;
}

static bool add_null(struct document *doc)
{
    struct mf_node *node = new_node(doc, MF_NODE_NULL);

    return node && add(doc, node, false);
}

static bool is_key_next(const struct document *doc)
{
    const struct level *level = doc->depth ? &doc->level[doc->depth - 1] : NULL;

    return level && level->node->kind == MF_NODE_OBJECT && !level->has_key;
}

static bool open(struct document *doc, enum mf_node_kind kind, enum state state,
                 struct mf_str anchor)
{
    struct mf_node *node = new_node(doc, kind);

    if (!node)
        return false;
    if (is_key_next(doc))
        return fail(doc, "a list or mapping cannot be a key");
    if (doc->depth == MF_YAML_DEPTH)
        return fail(doc, "it is nested too deeply");
    if (anchor.at)
        doc->anchor[doc->anchors++] = (struct anchor){ anchor, node };
    doc->level[doc->depth++] =
        (struct level){ .state = state, .node = node, .is_first = true };
    return true;
}

static bool close(struct document *doc)
{
    struct level *level = &doc->level[--doc->depth];

    if (level->merged) {
        level->merged_last->next = level->node->first;
        level->node->first = level->merged;
    }
    return add(doc, level->node, false);
}

/* ---- values ---- */

static bool add_alias(struct document *doc)
{
    struct mf_str name = mf_yaml_next(&doc->yaml).text;
    struct mf_node *node;

    for (size_t i = 0; i < doc->anchors; i++) {
        if (!mf_str_same(doc->anchor[i].name, name))
            continue;
        for (size_t j = 0; j < doc->depth; j++)
            if (doc->level[j].node == doc->anchor[i].node)
                return fail(doc,
                            "an alias is inside of the value that it names");
        node = copy(doc, doc->anchor[i].node);
        return node && add(doc, node, false);
    }
    return fail(doc, "an alias has no anchor");
}

struct properties {
    struct mf_str anchor, tag; /* at NULL: none */
};

static bool take_properties(struct document *doc, struct properties *out)
{
    *out = (struct properties){ { NULL, 0 }, { NULL, 0 } };
    for (int i = 0; i < 2; i++) {
        if (peek(doc) == MF_YAML_ANCHOR && !out->anchor.at)
            out->anchor = mf_yaml_next(&doc->yaml).text;
        else if (peek(doc) == MF_YAML_TAG && !out->tag.at)
            out->tag = mf_yaml_next(&doc->yaml).text;
    }
    if (out->anchor.at && doc->anchors == MF_YAML_ANCHORS)
        return fail(doc, "the document has too many anchors");
    for (size_t i = 0; out->anchor.at && i < doc->anchors; i++)
        if (mf_str_same(doc->anchor[i].name, out->anchor))
            return fail(doc, "two anchors have one name");
    return true;
}

/* Sets the kind of a scalar; *merge: it is the key "<<". */
static bool resolve(struct document *doc, struct mf_node *node, bool plain,
                    struct mf_str tag, bool *merge)
{
    node->kind = MF_NODE_STRING;
    *merge = false;
    if (tag.at && !mf_str_is(tag, "!") && !mf_str_is(tag, "!!str"))
        return fail(doc, "a tag is not supported");
    if (mf_str_is(tag, "!!str") || (!plain && !tag.at))
        return true;
    *merge = mf_str_is(node->text, "<<");
    if (mf_str_is(node->text, "=") && !is_key_next(doc))
        return fail(doc, "'=' can only be a key");
    if (!mf_yaml_resolve(node))
        return fail(doc, "a number or date is invalid; a text needs quotes");
    return true;
}

/* A scalar, or (text at NULL) an empty one that has properties. */
static bool add_scalar(struct document *doc, struct mf_str text, bool plain,
                       const struct properties *with)
{
    struct mf_node *node = new_node(doc, MF_NODE_STRING);
    bool merge;

    if (!node)
        return false;
    node->text = text.at ? text : (struct mf_str){ "", 0 };
    if (!resolve(doc, node, plain, with->tag, &merge))
        return false;
    if (with->anchor.at)
        doc->anchor[doc->anchors++] = (struct anchor){ with->anchor, node };
    if (with->anchor.at && merge)
        return fail(doc, "'<<' can only be a key");
    return add(doc, node, merge);
}

static bool open_tagged(struct document *doc, enum mf_node_kind kind,
                        enum state state, const struct properties *with)
{
    const char *tag = kind == MF_NODE_ARRAY ? "!!seq" : "!!map";

    if (with->tag.at && !mf_str_is(with->tag, "!") &&
        !mf_str_is(with->tag, tag))
        return fail(doc, "a tag is not supported");
    return open(doc, kind, state, with->anchor);
}

static bool parse_node(struct document *doc, bool block, bool indentless)
{
    struct mf_yaml_token token;
    struct properties with;

    if (peek(doc) == MF_YAML_ALIAS)
        return add_alias(doc);
    if (!take_properties(doc, &with))
        return false;
    if (indentless && peek(doc) == MF_YAML_BLOCK_ENTRY)
        return open_tagged(doc, MF_NODE_ARRAY, INDENTLESS, &with);
    if (peek(doc) == MF_YAML_SCALAR) {
        token = mf_yaml_next(&doc->yaml);
        return add_scalar(doc, token.text, token.plain, &with);
    }
    if (take(doc, MF_YAML_FLOW_SEQUENCE))
        return open_tagged(doc, MF_NODE_ARRAY, FLOW_SEQUENCE, &with);
    if (take(doc, MF_YAML_FLOW_MAPPING))
        return open_tagged(doc, MF_NODE_OBJECT, FLOW_KEY, &with);
    if (block && take(doc, MF_YAML_BLOCK_SEQUENCE))
        return open_tagged(doc, MF_NODE_ARRAY, BLOCK_SEQUENCE, &with);
    if (block && take(doc, MF_YAML_BLOCK_MAPPING))
        return open_tagged(doc, MF_NODE_OBJECT, BLOCK_KEY, &with);
    if (with.anchor.at || with.tag.at)
        return add_scalar(doc, (struct mf_str){ NULL, 0 }, true, &with);
    return fail(doc, "a value is missing");
}

/* ---- steps ---- */

/* The next token's kind is one of those, which end in MF_YAML_ERROR. */
static bool is_next(struct document *doc, const enum mf_yaml_kind *kinds)
{
    enum mf_yaml_kind kind = peek(doc);

    while (*kinds != kind && *kinds != MF_YAML_ERROR)
        kinds++;
    return *kinds == kind;
}

#define KINDS(...) ((const enum mf_yaml_kind[]){ __VA_ARGS__, MF_YAML_ERROR })

static bool step_block_sequence(struct document *doc, bool indentless)
{
    if (!take(doc, MF_YAML_BLOCK_ENTRY)) {
        if (indentless || take(doc, MF_YAML_BLOCK_END))
            return close(doc);
        return fail(doc, "an entry of a list has another indentation");
    }
    if (indentless
            ? is_next(doc, KINDS(MF_YAML_BLOCK_ENTRY, MF_YAML_KEY,
                                 MF_YAML_VALUE, MF_YAML_BLOCK_END))
            : is_next(doc, KINDS(MF_YAML_BLOCK_ENTRY, MF_YAML_BLOCK_END)))
        return add_null(doc);
    return parse_node(doc, true, false);
}

static bool step_block_mapping(struct document *doc, struct level *level)
{
    enum mf_yaml_kind kind =
        level->state == BLOCK_KEY ? MF_YAML_KEY : MF_YAML_VALUE;
    bool is_there = take(doc, kind);

    if (kind == MF_YAML_KEY && !is_there) {
        if (take(doc, MF_YAML_BLOCK_END))
            return close(doc);
        return fail(doc, "a key has another indentation, or is missing");
    }
    level->state = kind == MF_YAML_KEY ? BLOCK_VALUE : BLOCK_KEY;
    if (!is_there ||
        is_next(doc, KINDS(MF_YAML_KEY, MF_YAML_VALUE, MF_YAML_BLOCK_END)))
        return add_null(doc);
    return parse_node(doc, true, true);
}

/* The comma between entries of a flow; false: it is missing. */
static bool take_comma(struct document *doc, struct level *level)
{
    if (level->is_first) {
        level->is_first = false;
        return true;
    }
    return take(doc, MF_YAML_FLOW_ENTRY) ||
           fail(doc, "a ',' or a closing bracket is missing");
}

static bool step_flow_sequence(struct document *doc, struct level *level)
{
    if (take(doc, MF_YAML_FLOW_SEQUENCE_END))
        return close(doc);
    if (!take_comma(doc, level))
        return false;
    if (take(doc, MF_YAML_KEY))
        return open(doc, MF_NODE_OBJECT, PAIR_KEY, (struct mf_str){ NULL, 0 });
    if (take(doc, MF_YAML_FLOW_SEQUENCE_END))
        return close(doc);
    return parse_node(doc, false, false);
}

static bool step_flow_mapping(struct document *doc, struct level *level)
{
    if (take(doc, MF_YAML_FLOW_MAPPING_END))
        return close(doc);
    if (!take_comma(doc, level))
        return false;
    if (take(doc, MF_YAML_KEY)) {
        level->state = FLOW_VALUE;
        if (is_next(doc, KINDS(MF_YAML_VALUE, MF_YAML_FLOW_ENTRY,
                               MF_YAML_FLOW_MAPPING_END)))
            return add_null(doc);
        return parse_node(doc, false, false);
    }
    if (take(doc, MF_YAML_FLOW_MAPPING_END))
        return close(doc);
    level->state = FLOW_NO_VALUE;
    return parse_node(doc, false, false);
}

/* The value of a key in a flow, whose entries `end` ends. */
static bool flow_value(struct document *doc, enum mf_yaml_kind end)
{
    if (!take(doc, MF_YAML_VALUE) ||
        is_next(doc, KINDS(MF_YAML_FLOW_ENTRY, end)))
        return add_null(doc);
    return parse_node(doc, false, false);
}

static bool step(struct document *doc)
{
    struct level *level = &doc->level[doc->depth - 1];

    switch (level->state) {
    case BLOCK_SEQUENCE:
    case INDENTLESS:
        return step_block_sequence(doc, level->state == INDENTLESS);
    case BLOCK_KEY:
    case BLOCK_VALUE:
        return step_block_mapping(doc, level);
    case FLOW_SEQUENCE:
        return step_flow_sequence(doc, level);
    case FLOW_KEY:
        return step_flow_mapping(doc, level);
    case FLOW_VALUE:
        level->state = FLOW_KEY;
        return flow_value(doc, MF_YAML_FLOW_MAPPING_END);
    case FLOW_NO_VALUE:
        level->state = FLOW_KEY;
        return add_null(doc);
    case PAIR_KEY:
        level->state = PAIR_VALUE;
        if (is_next(doc, KINDS(MF_YAML_VALUE, MF_YAML_FLOW_ENTRY,
                               MF_YAML_FLOW_SEQUENCE_END)))
            return add_null(doc);
        return parse_node(doc, false, false);
    case PAIR_VALUE:
        level->state = PAIR_END;
        return flow_value(doc, MF_YAML_FLOW_SEQUENCE_END);
    default:
        return close(doc);
    }
}

static bool read_document(struct document *doc)
{
    bool explicit = take(doc, MF_YAML_DOCUMENT_START);
    bool empty = explicit
                     ? is_next(doc, KINDS(MF_YAML_DOCUMENT_START,
                                          MF_YAML_DOCUMENT_END, MF_YAML_END))
                     : peek(doc) == MF_YAML_END;

    if (empty ? !add_null(doc) : !parse_node(doc, true, false))
        return false;
    while (doc->depth > 0)
        if (!step(doc))
            return false;
    while (take(doc, MF_YAML_DOCUMENT_END))
        continue;
    return peek(doc) == MF_YAML_END ||
           fail(doc, "unexpected text after a value");
}

enum mf_status mf_yaml_read(struct mf_env *env, struct mf_arena *arena,
                            struct mf_str text, struct mf_node **root)
{
    struct document *doc = mf_arena_take(arena, sizeof(*doc));

    if (!doc)
        return env->error.status;
    doc->nodes = 0;
    doc->depth = doc->anchors = 0;
    doc->root = NULL;
    if (mf_yaml_init(&doc->yaml, env, arena, text) != MF_OK ||
        !read_document(doc))
        return env->error.status;
    *root = doc->root;
    return MF_OK;
}
