/* SPDX-License-Identifier: MIT
 *
 * keys.c - the keys of a GGUF file as names of expressions
 *
 * "llama.attention.head_count" is attention.head_count, "general.name" is
 * general.name.  A key below another one that has a value itself, such as
 * general.license.name, has no name here.
 */
#include "lib/restore/keys.h"

#include "lib/base/str.h"

/* No file that a converter wrote has a tenth of them. */
#define KEYS_MAX 4096

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

static const struct mf_node *text(struct mf_recipe *recipe, struct mf_str at)
{
    char *copy = mf_arena_text(recipe->arena, at.size);

    if (!copy)
        return NULL;
    memcpy(copy, at.at, at.size);
    return mf_node_of_text(recipe->arena, (struct mf_str){ copy, at.size });
}

struct list_maker {
    struct mf_recipe *recipe;
    struct mf_str key;
    enum mf_value_type of;
    struct mf_node_list list;
};

static enum mf_status add_element(void *user, const struct mf_value *value)
{
    struct list_maker *maker = user;
    struct mf_recipe *recipe = maker->recipe;
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
    node = maker->of == MF_VALUE_STRING ? text(recipe, value->text)
                                        : number(recipe, maker->of, as);
    return node && mf_list_add(recipe, &maker->list, node)
               ? MF_OK
               : recipe->env->error.status;
}

static const struct mf_node *list_of(struct mf_recipe *recipe,
                                     const struct mf_entry *entry)
{
    struct list_maker maker = { .recipe = recipe,
                                .key = entry->key,
                                .of = entry->of };

    return mf_list_begin(recipe, &maker.list) &&
                   mf_entry_read(recipe->env, entry, add_element, &maker) ==
                       MF_OK
               ? maker.list.node
               : NULL;
}

/* NULL after mf_fail; null: it is not for expressions. */
static const struct mf_node *value_of(struct mf_recipe *recipe,
                                      const struct mf_entry *entry)
{
    if (entry->type == MF_VALUE_STRING)
        return entry->text.at ? text(recipe, entry->text) : &mf_node_null;
    if (entry->type != MF_VALUE_ARRAY)
        return number(recipe, entry->type, entry->number);
    if (entry->count > MF_RECIPE_LIST || entry->of == MF_VALUE_ARRAY ||
        mf_str_begins(entry->key, "tokenizer."))
        return &mf_node_null;
    return list_of(recipe, entry);
}

struct mf_node *mf_restore_keys(struct mf_recipe *recipe,
                                const struct mf_draft *facts,
                                struct mf_str arch)
{
    struct mf_node *root = mf_arena_take(recipe->arena, sizeof(*root));

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
        const struct mf_node *value = value_of(recipe, &facts->entry[i]);
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
