/* SPDX-License-Identifier: MIT
 *
 * keys.c - the keys of a GGUF file as names of expressions
 *
 * "llama.attention.head_count" is attention.head_count, "general.name" is
 * general.name.  A key below another one that has a value itself, such as
 * general.license.name, has no name here.
 */
#include "lib/hf/restore/keys.h"

#include "lib/base/str.h"

/* No file that a converter wrote has a tenth of them. */
#define KEYS_MAX 4096

/* Nor of these, over all keys: elements of lists, parts of names, and pieces of
 * texts.  With them, nodes have 16 MiB. */
#define VALUES_MAX  65536
#define VALUES_TEXT 64 /* bytes of a piece */

static struct mf_node *add_member(struct mf_recipe *recipe,
                                  struct mf_node *object, struct mf_str key,
                                  const struct mf_node *value)
{
    struct mf_node *node = mf_arena_take(recipe->arena, sizeof(*node));
    char *copy = mf_arena_text(recipe->arena, key.size);
    struct mf_node **at = &object->first;

    if (!node || !copy)
        return NULL;
    memcpy(copy, key.at, key.size);
    *node = *value;
    node->key = (struct mf_str){ copy, key.size };
    node->next = NULL;
    while (*at)
        at = &(*at)->next;
    *at = node;
    object->count++;
    return node;
}

bool mf_restore_set(struct mf_recipe *recipe, struct mf_node *object,
                    struct mf_str path, const struct mf_node *value)
{
    const struct mf_node empty = { .kind = MF_NODE_OBJECT };

    while (object->kind == MF_NODE_OBJECT) {
        const char *dot = memchr(path.at, '.', path.size);
        struct mf_str part = { path.at,
                               dot ? (size_t)(dot - path.at) : path.size };
        struct mf_node *member = (struct mf_node *)mf_node_get(object, part);

        if (member && !dot) {
            struct mf_node *next = member->next;
            struct mf_str key = member->key;

            *member = *value;
            member->key = key;
            member->next = next;
            return true;
        }
        if (member && member->kind == MF_NODE_NULL)
            member->kind = MF_NODE_OBJECT;
        if (!member)
            member = add_member(recipe, object, part, dot ? &empty : value);
        if (!member || !dot)
            return member != NULL;
        object = member;
        path.size -= part.size + 1;
        path.at = dot + 1;
    }
    return true;
}

/* ---- values ---- */

struct making {
    struct mf_recipe *recipe;
    uint64_t left; /* of VALUES_MAX */
};

/* False after mf_fail. */
static bool use_up(struct making *making, struct mf_str key, uint64_t count)
{
    if (count <= making->left) {
        making->left -= count;
        return true;
    }
    mf_fail(making->recipe->env, MF_ERR_LIMIT, MF_NO_OFFSET,
            "with '%s', keys have more than %d values", mf_quote(key).text,
            VALUES_MAX);
    return false;
}

static uint64_t parts_of(struct mf_str key)
{
    uint64_t parts = 1;

    for (size_t i = 0; i < key.size; i++)
        parts += key.at[i] == '.';
    return parts;
}

static const struct mf_node *
number(struct mf_recipe *recipe, enum mf_value_type type, union mf_number value)
{
    union mf_number as;

    if (type == MF_VALUE_BOOL)
        return mf_node_of_bool(value.boolean);
    if (type == MF_VALUE_F32)
        return mf_node_of_real(recipe->arena,
                               mf_node_shortest((float)value.f64));
    if (type == MF_VALUE_F64)
        return mf_node_of_real(recipe->arena, value.f64);
    return mf_number_as(type, value, MF_VALUE_I64, &as)
               ? mf_node_of_int(recipe->arena, as.i64)
               : &mf_node_null;
}

static const struct mf_node *text(struct making *making, struct mf_str key,
                                  struct mf_str at)
{
    struct mf_recipe *recipe = making->recipe;
    char *copy;

    if (!use_up(making, key, at.size / VALUES_TEXT))
        return NULL;
    copy = mf_arena_text(recipe->arena, at.size);
    if (!copy)
        return NULL;
    memcpy(copy, at.at, at.size);
    return mf_node_of_text(recipe->arena, (struct mf_str){ copy, at.size });
}

struct list_maker {
    struct making *making;
    struct mf_str key;
    enum mf_value_type of;
    struct mf_node_list list;
};

static enum mf_status add_element(void *user, const struct mf_value *value)
{
    struct list_maker *maker = user;
    struct mf_recipe *recipe = maker->making->recipe;
    const struct mf_node *node = NULL;
    union mf_number as;

    if (value->event != MF_EVENT_ITEM)
        return MF_OK;
    if (maker->of == MF_VALUE_STRING || maker->of == MF_VALUE_BOOL)
        as = value->number;
    else if (!mf_value_as(value, maker->of, &as))
        return mf_fail(recipe->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "an element of '%s' is not a number",
                       mf_quote(maker->key).text);
    node = maker->of == MF_VALUE_STRING
               ? text(maker->making, maker->key, value->text)
               : number(recipe, maker->of, as);
    return node && mf_list_add(recipe, &maker->list, node)
               ? MF_OK
               : recipe->env->error.status;
}

static const struct mf_node *list_of(struct making *making,
                                     const struct mf_entry *entry)
{
    struct mf_recipe *recipe = making->recipe;
    struct list_maker maker = { .making = making,
                                .key = entry->key,
                                .of = entry->of };

    return use_up(making, entry->key, entry->count) &&
                   mf_list_begin(recipe, &maker.list) &&
                   mf_entry_read(recipe->env, entry, add_element, &maker) ==
                       MF_OK
               ? maker.list.node
               : NULL;
}

/* NULL after mf_fail; null: it is not for expressions. */
static const struct mf_node *value_of(struct making *making,
                                      const struct mf_entry *entry)
{
    if (!use_up(making, entry->key, parts_of(entry->key)))
        return NULL;
    if (entry->type == MF_VALUE_STRING)
        return entry->text.at ? text(making, entry->key, entry->text)
                              : &mf_node_null;
    if (entry->type != MF_VALUE_ARRAY)
        return number(making->recipe, entry->type, entry->number);
    if (entry->count > MF_RECIPE_LIST || entry->of == MF_VALUE_ARRAY ||
        mf_str_begins(entry->key, "tokenizer."))
        return &mf_node_null;
    return list_of(making, entry);
}

struct mf_node *mf_restore_keys(struct mf_recipe *recipe,
                                const struct mf_draft *facts,
                                struct mf_str arch)
{
    struct mf_node *root = mf_arena_take(recipe->arena, sizeof(*root));
    struct making making = { recipe, VALUES_MAX };

    if (!root)
        return NULL;
    *root = (struct mf_node){ .kind = MF_NODE_OBJECT };
    if (facts->entry_count > KEYS_MAX) {
        mf_fail(recipe->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                "the file has %zu keys, at most %d are supported",
                facts->entry_count, KEYS_MAX);
        return NULL;
    }
    for (size_t i = 0; i < facts->entry_count; i++) {
        const struct mf_node *value = value_of(&making, &facts->entry[i]);
        struct mf_str key = facts->entry[i].key;

        if (key.size > arch.size && key.at[arch.size] == '.' &&
            memcmp(key.at, arch.at, arch.size) == 0) {
            key.at += arch.size + 1;
            key.size -= arch.size + 1;
        }
        if (!value || !mf_restore_set(recipe, root, key, value))
            return NULL;
    }
    return root;
}
