/* SPDX-License-Identifier: MIT
 *
 * functions_object.c - what expressions of recipes can do with objects
 */
#include <stdio.h>

#include "lib/base/str.h"
#include "lib/hf/hub/evaluate.h"

/* Puts copies of the members before those that the object has. */
static bool put_over(struct mf_eval *eval, struct mf_node *object,
                     const struct mf_node *value)
{
    struct mf_node **last = &object->first, *below = object->first;

    for (const struct mf_node *node = value->first; node; node = node->next) {
        *last = mf_arena_take(eval->recipe->arena, sizeof(**last));
        if (!*last)
            return false;
        **last = *node;
        last = &(*last)->next;
    }
    *last = below;
    object->count += value->count;
    return true;
}

/* over(A, B, ...): an object with the members of all of them, of which the last
 * with a name counts; null has none. */
const struct mf_node *mf_call_over(struct mf_eval *eval, unsigned count)
{
    struct mf_node *object =
        mf_arena_take(eval->recipe->arena, sizeof(*object));

    if (!object)
        return mf_eval_value(eval, NULL);
    *object = (struct mf_node){ .kind = MF_NODE_OBJECT };
    for (; count > 0 && !eval->failed; count--) {
        const struct mf_node *value = mf_eval_next(eval);

        if (eval->failed || value->kind == MF_NODE_NULL)
            continue;
        if (value->kind != MF_NODE_OBJECT)
            mf_eval_wrong(eval, value, "an object");
        else if (!put_over(eval, object, value))
            mf_eval_value(eval, NULL);
    }
    return object;
}

/* The member whose key is that number; NULL: none is. */
static const struct mf_node *numbered(const struct mf_node *object,
                                      uint64_t number)
{
    char key[24];
    int size = snprintf(key, sizeof(key), "%" PRIu64, number);

    return mf_node_get(object, (struct mf_str){ key, (size_t)size });
}

const struct mf_node *mf_call_by_number(struct mf_eval *eval,
                                        const struct mf_node *const *argument)
{
    const struct mf_node *object = argument[0];
    struct mf_node_list list;

    if (object->kind != MF_NODE_OBJECT)
        return mf_eval_wrong(eval, object, "an object");
    if (!mf_eval_may_walk(eval, object) || !mf_list_begin(eval->recipe, &list))
        return mf_eval_value(eval, NULL);
    for (uint64_t i = 0; i < object->count; i++) {
        const struct mf_node *node = numbered(object, i);

        if (!node)
            return mf_eval_wrong(eval, object,
                                 "an object with keys from '0' on");
        if (!mf_list_add(eval->recipe, &list, node))
            return mf_eval_value(eval, NULL);
    }
    return list.node;
}

const struct mf_node *mf_call_numbered(struct mf_eval *eval,
                                       const struct mf_node *const *argument)
{
    struct mf_arena *arena = eval->recipe->arena;
    struct mf_node_list list;
    uint64_t i = 0;

    if (argument[0]->kind != MF_NODE_ARRAY)
        return mf_eval_wrong(eval, argument[0], "a list");
    if (!mf_list_begin(eval->recipe, &list))
        return mf_eval_value(eval, NULL);
    for (const struct mf_node *each = argument[0]->first; each;
         each = each->next) {
        char *key = mf_arena_text(arena, 20);

        if (!key || !mf_list_add(eval->recipe, &list, each))
            return mf_eval_value(eval, NULL);
        list.last->key.at = key;
        list.last->key.size = (size_t)sprintf(key, "%" PRIu64, i++);
    }
    list.node->kind = MF_NODE_OBJECT;
    return list.node;
}

/* object(KEYS, LIST): one member for each element. */
const struct mf_node *mf_call_object(struct mf_eval *eval,
                                     const struct mf_node *const *argument)
{
    const struct mf_node *key = argument[0]->first, *each = argument[1]->first;
    struct mf_node_list list;

    for (size_t i = 0; i < 2; i++)
        if (argument[i]->kind != MF_NODE_ARRAY)
            return mf_eval_wrong(eval, argument[i], "a list");
    if (argument[0]->count != argument[1]->count)
        return mf_eval_wrong(eval, argument[1],
                             "a list with an element for each key");
    if (!mf_list_begin(eval->recipe, &list))
        return mf_eval_value(eval, NULL);
    for (; key; key = key->next, each = each->next) {
        char *text;

        if (key->kind != MF_NODE_STRING)
            return mf_eval_wrong(eval, argument[0], "a list of texts");
        text = mf_arena_text(eval->recipe->arena, key->text.size);
        if (!text || !mf_list_add(eval->recipe, &list, each))
            return mf_eval_value(eval, NULL);
        memcpy(text, key->text.at, key->text.size);
        list.last->key = (struct mf_str){ text, key->text.size };
    }
    list.node->kind = MF_NODE_OBJECT;
    return list.node;
}
