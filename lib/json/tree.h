/* SPDX-License-Identifier: MIT
 *
 * tree.h - a small JSON document as nodes
 *
 * For the files of a model's folder that are read in no fixed order, some
 * kilobytes long: config.json and its like.  A node has 80 bytes, so what may
 * be large (a vocabulary, a header of tensors) is never made a tree.
 */
#ifndef MF_LIB_TREE_H
#define MF_LIB_TREE_H

#include "lib/json/json.h"

/* Values of a document at most: with those the nodes have 40 MiB.  A
 * tokenizer_config.json that lists 16,000 added tokens has 130,000. */
#define MF_TREE_NODES ((uint64_t)1 << 19)

enum mf_node_kind {
    MF_NODE_NULL,
    MF_NODE_FALSE,
    MF_NODE_TRUE,
    MF_NODE_NUMBER,
    MF_NODE_STRING,
    MF_NODE_ARRAY,
    MF_NODE_OBJECT
};

struct mf_node {       /* one value */
    struct mf_str key; /* in an object; unescaped, terminated; at NULL elsewhere
                        */
    enum mf_node_kind kind;
    enum mf_value_type type; /* of a number: U64, I64 if negative, or F64 */
    union mf_number number;  /* of a number */
    struct mf_str text;      /* of a string; unescaped, terminated */
    uint64_t offset;         /* in the file, for messages */
    struct mf_node *first, *next; /* what an array or object has; a sibling */
    uint64_t count;               /* of what it has */
};

/* The whole document, in the arena: at most `limit` bytes of text and
 * MF_TREE_NODES values (MF_ERR_LIMIT).  As Python reads it: NaN, Infinity and
 * -Infinity are numbers, and of a key that is there twice the last value
 * counts, at the first one's place. */
enum mf_status mf_tree_read(struct mf_json *json, struct mf_arena *arena,
                            uint64_t limit, struct mf_node **root);

/* The same, but the arrays and objects at these paths (NULL after the last)
 * stay in the file, and their text does not count: such a node has its kind,
 * the offset of its bracket, and in number.u64 the offset after it. */
enum mf_status mf_tree_read_but(struct mf_json *json, struct mf_arena *arena,
                                uint64_t limit, const char *const *left,
                                struct mf_node **root);

/* A value with all that is in it, for who changes it; texts are not copied.  A
 * copy of NULL is NULL. */
enum mf_status mf_node_copy(struct mf_arena *arena, const struct mf_node *from,
                            struct mf_node **to);

/* The string just announced, unescaped and terminated, in the arena; one of
 * more than max bytes is MF_ERR_LIMIT. */
enum mf_status mf_json_keep(struct mf_json *json, struct mf_arena *arena,
                            uint64_t max, struct mf_str *out);

/* The value of a key; NULL: the object lacks it, or is not an object, or NULL.
 * A null value is a node. */
const struct mf_node *mf_node_get(const struct mf_node *object,
                                  struct mf_str key);

/* The same by a path with dots, in which a number is an index of an array:
 * "architectures.0".  Parts of an object's key that has dots are not found. */
const struct mf_node *mf_node_at(const struct mf_node *object,
                                 const char *path);

/* The text of a string at that path; at NULL where there is no string. */
struct mf_str mf_node_text(const struct mf_node *object, const char *path);

/* Whether Python takes the value for true: null, false, 0, "" and what is empty
 * are not. */
bool mf_node_holds(const struct mf_node *value);

/* "null", "a boolean", "a number" and so on: for messages. */
const char *mf_node_kind_name(const struct mf_node *node);

#endif
