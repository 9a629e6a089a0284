/* SPDX-License-Identifier: MIT
 *
 * tree.c - a small JSON document as nodes
 *
 * The open arrays and objects are a list of MF_JSON_DEPTH at most; nothing
 * recurses.  Keys that are there twice are looked for when their object ends.
 */
#include "lib/json/tree.h"

#include "lib/base/names.h"
#include "lib/base/str.h"

/* Keys of an object that are compared with each other; more are hashed. */
#define FEW 16

struct tree {
    struct mf_env *env;
    struct mf_json *json;
    struct mf_arena *arena;
    uint64_t nodes;
    uint64_t limit, start; /* bytes of text that may be read, from `start` */
    const char *const *left;
    struct mf_str key; /* read, and without its value yet */
    struct {
        struct mf_node *node, *last; /* open, and what it got last */
    } level[MF_JSON_DEPTH + 1];
};

/* Whether what was read is within the limit. */
static enum mf_status check_limit(struct tree *tree)
{
    uint64_t at = mf_reader_offset(tree->json->reader);

    return at - tree->start <= tree->limit
               ? MF_OK
               : mf_refuse(tree->env, MF_RULE_FILE_LIMIT, at,
                           "more than %" PRIu64 " bytes to keep in memory",
                           tree->limit);
}

/* It is gone over twice: its length is not known before its end. */
enum mf_status mf_json_keep(struct mf_json *json, struct mf_arena *arena,
                            uint64_t max, struct mf_str *out)
{
    struct mf_env *env = json->reader->env;
    uint64_t start = mf_reader_offset(json->reader), size;
    char *at;
    bool more;

    if (mf_json_text(json, NULL, 0, &size, &more) != MF_OK)
        return env->error.status;
    if (size > max)
        return mf_refuse(env, MF_RULE_FILE_LIMIT, json->token_offset,
                         "a text of %" PRIu64 " bytes, at most %" PRIu64
                         " are kept in memory",
                         size, max);
    mf_reader_seek(json->reader, start);
    json->text_pending = true;
    at = mf_arena_text(arena, size < 4 ? 4 : (size_t)size);
    if (!at || mf_json_text(json, at, size < 4 ? 4 : (size_t)size, &size,
                            &more) != MF_OK)
        return env->error.status;
    at[size] = 0;
    *out = (struct mf_str){ at, (size_t)size };
    return MF_OK;
}

static enum mf_status take_text(struct tree *tree, struct mf_str *out)
{
    uint64_t used = mf_reader_offset(tree->json->reader) - tree->start;

    return mf_json_keep(tree->json, tree->arena,
                        used < tree->limit ? tree->limit - used : 0, out);
}

/* ---- keys that are there twice ---- */

static struct mf_str key_at(const void *table, size_t row)
{
    return ((struct mf_node *const *)table)[row]->key;
}

/* The later value takes the earlier's place, and its node goes. */
static void replace(struct mf_node *earlier, struct mf_node *before)
{
    struct mf_node *later = before->next, *next = earlier->next;

    if (before == earlier)
        next = later->next;
    else
        before->next = later->next;
    *earlier = *later;
    earlier->next = next;
}

static void merge_few(struct mf_node *object)
{
    for (struct mf_node *before = object->first; before && before->next;) {
        struct mf_node *same = object->first;

        while (same != before->next &&
               !mf_str_same(same->key, before->next->key))
            same = same->next;
        if (same == before->next) {
            before = same;
            continue;
        }
        replace(same, before);
        object->count--;
    }
}

static enum mf_status merge_many(struct tree *tree, struct mf_node *object,
                                 struct mf_arena *scratch)
{
    size_t count = (size_t)object->count; /* nodes that are in memory */
    struct mf_node **table = mf_arena_take(scratch, count * sizeof(*table));
    struct mf_names names = { .seed = tree->env->hash_seed,
                              .name_at = key_at,
                              .table = table };
    size_t row = 0;

    if (!table || mf_names_init(&names, scratch, count) != MF_OK)
        return tree->env->error.status;
    table[row] = object->first;
    mf_names_add(&names, row++);
    for (struct mf_node *before = object->first; before->next;) {
        size_t same;

        table[row] = before->next;
        same = mf_names_add(&names, row);
        if (same == MF_NOT_FOUND) {
            before = table[row++];
            continue;
        }
        replace(table[same], before);
        object->count--;
    }
    return MF_OK;
}

static enum mf_status merge_keys(struct tree *tree, struct mf_node *object)
{
    struct mf_arena scratch;
    enum mf_status status;

    if (object->count <= FEW) {
        merge_few(object);
        return MF_OK;
    }
    mf_arena_init(&scratch, tree->env);
    status = merge_many(tree, object, &scratch);
    mf_arena_release(&scratch);
    return status;
}

/* ---- nodes ---- */

static enum mf_node_kind kind_of(enum mf_json_token token)
{
    switch (token) {
    case MF_JSON_BEGIN_OBJECT:
        return MF_NODE_OBJECT;
    case MF_JSON_BEGIN_ARRAY:
        return MF_NODE_ARRAY;
    case MF_JSON_STRING:
        return MF_NODE_STRING;
    case MF_JSON_NUMBER:
        return MF_NODE_NUMBER;
    case MF_JSON_TRUE:
        return MF_NODE_TRUE;
    case MF_JSON_FALSE:
        return MF_NODE_FALSE;
    default:
        return MF_NODE_NULL;
    }
}

/* The value that a token begins, in what is open at that depth. */
static enum mf_status add(struct tree *tree, enum mf_json_token token,
                          unsigned depth)
{
    struct mf_node *open = tree->level[depth].node, *node;

    if (tree->nodes++ == MF_TREE_NODES)
        return mf_refuse(
            tree->env, MF_RULE_FILE_LIMIT, tree->json->token_offset,
            "the document has more than %" PRIu64 " values", MF_TREE_NODES);
    node = mf_arena_take(tree->arena, sizeof(*node));
    if (!node)
        return tree->env->error.status;
    *node = (struct mf_node){ .key = tree->key,
                              .kind = kind_of(token),
                              .offset = tree->json->token_offset };
    tree->key = (struct mf_str){ NULL, 0 };
    if (node->kind == MF_NODE_NUMBER)
        node->type = mf_json_number(tree->json, &node->number);
    if (tree->level[depth].last)
        tree->level[depth].last->next = node;
    else
        open->first = node;
    open->count++;
    tree->level[depth].last = node;
    if (node->kind == MF_NODE_STRING)
        return take_text(tree, &node->text);
    if (node->kind == MF_NODE_ARRAY || node->kind == MF_NODE_OBJECT) {
        tree->level[depth + 1].node = node;
        tree->level[depth + 1].last = NULL;
    }
    return MF_OK;
}

/* Whether the path of the value just added is that one. */
static bool is_at(const struct tree *tree, unsigned depth, const char *path)
{
    for (unsigned i = 1; i <= depth; i++) {
        struct mf_str part = { path, strcspn(path, ".") };

        if (part.size == 0 || !mf_str_same(tree->level[i + 1].node->key, part))
            return false;
        path += part.size + (path[part.size] == '.');
    }
    return depth > 0 && !*path;
}

/* An array or object, just added to what is open at that depth, may be one
 * that is left in the file. */
static enum mf_status leave(struct tree *tree, enum mf_json_token token,
                            unsigned depth)
{
    struct mf_node *node = tree->level[depth + 1].node;
    size_t i = 0;

    while (tree->left[i] && !is_at(tree, depth, tree->left[i]))
        i++;
    if (!tree->left[i])
        return MF_OK;
    if (mf_json_skip(tree->json, token) != MF_OK)
        return tree->env->error.status;
    node->number.u64 = mf_reader_offset(tree->json->reader);
    tree->start += node->number.u64 - node->offset;
    return MF_OK;
}

static enum mf_status take_token(struct tree *tree, enum mf_json_token token)
{
    unsigned depth = tree->json->depth;

    switch (token) {
    case MF_JSON_ERROR:
        return tree->env->error.status;
    case MF_JSON_KEY:
        return take_text(tree, &tree->key);
    case MF_JSON_END_OBJECT:
        return merge_keys(tree, tree->level[depth + 1].node);
    case MF_JSON_END_ARRAY:
        return MF_OK;
    case MF_JSON_BEGIN_OBJECT:
    case MF_JSON_BEGIN_ARRAY:
        return add(tree, token, depth - 1) == MF_OK && tree->left
                   ? leave(tree, token, depth - 1)
                   : tree->env->error.status;
    default:
        return add(tree, token, depth);
    }
}

enum mf_status mf_tree_read(struct mf_json *json, struct mf_arena *arena,
                            uint64_t limit, struct mf_node **root)
{
    struct mf_reader *reader = json->reader;

    if (mf_reader_left(reader) > limit)
        return mf_refuse(reader->env, MF_RULE_FILE_LIMIT, 0,
                         "it has %" PRIu64 " bytes, at most %" PRIu64
                         " are read",
                         mf_reader_left(reader), limit);
    return mf_tree_read_but(json, arena, limit, NULL, root);
}

enum mf_status mf_tree_read_but(struct mf_json *json, struct mf_arena *arena,
                                uint64_t limit, const char *const *left,
                                struct mf_node **root)
{
    struct mf_reader *reader = json->reader;
    struct mf_node all = { .kind = MF_NODE_ARRAY };
    struct tree tree = { .env = reader->env,
                         .json = json,
                         .arena = arena,
                         .limit = limit,
                         .start = mf_reader_offset(reader),
                         .left = left };
    enum mf_json_token token = MF_JSON_NULL;
    enum mf_status status = MF_OK;

    json->not_finite = true;
    tree.level[0].node = &all;
    while (status == MF_OK && (token = mf_json_next(json)) != MF_JSON_END) {
        status = take_token(&tree, token);
        if (status == MF_OK)
            status = check_limit(&tree);
    }
    if (status == MF_OK)
        *root = all.first;
    return status;
}

/* ---- copying ---- */

enum mf_status mf_node_copy(struct mf_arena *arena, const struct mf_node *from,
                            struct mf_node **to)
{
    struct {
        const struct mf_node *next; /* to copy */
        struct mf_node **last;      /* where to */
    } level[MF_JSON_DEPTH + 1] = { { from, to } };
    size_t depth = 0;

    *to = NULL;
    for (;;) {
        const struct mf_node *node = level[depth].next;
        struct mf_node *copy;

        if (!node && depth-- == 0)
            return MF_OK;
        if (!node)
            continue;
        copy = mf_arena_take(arena, sizeof(*copy));
        if (!copy)
            return arena->env->error.status;
        *copy = *node;
        copy->first = copy->next = NULL;
        *level[depth].last = copy;
        level[depth].last = &copy->next;
        level[depth].next = depth > 0 ? node->next : NULL;
        if (!node->first)
            continue;
        level[++depth].next = node->first;
        level[depth].last = &copy->first;
    }
}

/* ---- finding ---- */

const struct mf_node *mf_node_get(const struct mf_node *object,
                                  struct mf_str key)
{
    const struct mf_node *node;

    if (!object || object->kind != MF_NODE_OBJECT)
        return NULL;
    for (node = object->first; node; node = node->next)
        if (mf_str_same(node->key, key))
            return node;
    return NULL;
}

static const struct mf_node *element(const struct mf_node *array,
                                     struct mf_str digits)
{
    const struct mf_node *node = array->first;
    uint64_t index = 0;

    for (size_t i = 0; i < digits.size; i++)
        if (digits.at[i] < '0' || digits.at[i] > '9' ||
            !mf_mul(index, 10, &index) ||
            !mf_add(index, (uint64_t)(digits.at[i] - '0'), &index))
            return NULL;
    while (node && index-- > 0)
        node = node->next;
    return digits.size > 0 ? node : NULL;
}

const struct mf_node *mf_node_at(const struct mf_node *object, const char *path)
{
    while (object && *path) {
        struct mf_str part = { path, strcspn(path, ".") };

        object = object->kind == MF_NODE_ARRAY ? element(object, part)
                                               : mf_node_get(object, part);
        path += part.size + (path[part.size] == '.');
    }
    return object;
}

struct mf_str mf_node_text(const struct mf_node *object, const char *path)
{
    const struct mf_node *node = mf_node_at(object, path);

    return node && node->kind == MF_NODE_STRING ? node->text
                                                : (struct mf_str){ NULL, 0 };
}

bool mf_node_holds(const struct mf_node *value)
{
    switch (value->kind) {
    case MF_NODE_NULL:
    case MF_NODE_FALSE:
        return false;
    case MF_NODE_TRUE:
        return true;
    case MF_NODE_NUMBER:
        return value->type == MF_VALUE_F64 ? value->number.f64 != 0
                                           : value->number.u64 != 0;
    case MF_NODE_STRING:
        return value->text.size > 0;
    default:
        return value->count > 0;
    }
}

const char *mf_node_kind_name(const struct mf_node *node)
{
    static const char *const names[] = {
        [MF_NODE_NULL] = "null",       [MF_NODE_FALSE] = "a boolean",
        [MF_NODE_TRUE] = "a boolean",  [MF_NODE_NUMBER] = "a number",
        [MF_NODE_STRING] = "a string", [MF_NODE_ARRAY] = "a list",
        [MF_NODE_OBJECT] = "an object"
    };

    return names[node->kind];
}
