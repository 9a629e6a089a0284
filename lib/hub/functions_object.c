/* SPDX-License-Identifier: MIT
 *
 * functions_object.c - what expressions of recipes can do with objects
 */
#include <stdio.h>

#include "lib/base/str.h"
#include "lib/hub/evaluate.h"

/* Puts copies of the members before those that the object has. */
static bool put_over(struct mf_parser *parser, struct mf_node *object,
                     const struct mf_node *value)
{
    struct mf_node **last = &object->first, *below = object->first;

    for (const struct mf_node *node = value->first; node; node = node->next) {
        *last = mf_arena_take(parser->recipe->arena, sizeof(**last));
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
const struct mf_node *mf_call_over(struct mf_parser *parser)
{
    struct mf_node *object =
        mf_arena_take(parser->recipe->arena, sizeof(*object));

    if (object)
        *object = (struct mf_node){ .kind = MF_NODE_OBJECT };
    else
        mf_parser_value(parser, NULL); /* the rest is only parsed */
    do {
        const struct mf_node *value = mf_parser_choice(parser);

        if (!parser->live || value->kind == MF_NODE_NULL)
            continue;
        if (value->kind != MF_NODE_OBJECT)
            mf_parser_wrong(parser, value, "an object");
        else if (!put_over(parser, object, value))
            mf_parser_value(parser, NULL);
    } while (mf_parser_take(parser, ","));
    return object ? object : &mf_node_null;
}

/* The member whose key is that number; NULL: none is. */
static const struct mf_node *numbered(const struct mf_node *object,
                                      uint64_t number)
{
    char key[24];
    int size = snprintf(key, sizeof(key), "%" PRIu64, number);

    return mf_node_get(object, (struct mf_str){ key, (size_t)size });
}

const struct mf_node *mf_call_by_number(struct mf_parser *parser,
                                        const struct mf_node *const *argument)
{
    const struct mf_node *object = argument[0];
    struct mf_node_list list;

    if (object->kind != MF_NODE_OBJECT)
        return mf_parser_wrong(parser, object, "an object");
    if (!mf_parser_may_walk(parser, object) ||
        !mf_list_begin(parser->recipe, &list))
        return mf_parser_value(parser, NULL);
    for (uint64_t i = 0; i < object->count; i++) {
        const struct mf_node *node = numbered(object, i);

        if (!node)
            return mf_parser_wrong(parser, object,
                                   "an object with keys from '0' on");
        if (!mf_list_add(parser->recipe, &list, node))
            return mf_parser_value(parser, NULL);
    }
    return list.node;
}

const struct mf_node *mf_call_numbered(struct mf_parser *parser,
                                       const struct mf_node *const *argument)
{
    struct mf_arena *arena = parser->recipe->arena;
    struct mf_node_list list;
    uint64_t i = 0;

    if (argument[0]->kind != MF_NODE_ARRAY)
        return mf_parser_wrong(parser, argument[0], "a list");
    if (!mf_list_begin(parser->recipe, &list))
        return mf_parser_value(parser, NULL);
    for (const struct mf_node *each = argument[0]->first; each;
         each = each->next) {
        char *key = mf_arena_text(arena, 20);

        if (!key || !mf_list_add(parser->recipe, &list, each))
            return mf_parser_value(parser, NULL);
        list.last->key.at = key;
        list.last->key.size = (size_t)sprintf(key, "%" PRIu64, i++);
    }
    list.node->kind = MF_NODE_OBJECT;
    return list.node;
}

/* object(KEYS, LIST): one member for each element. */
const struct mf_node *mf_call_object(struct mf_parser *parser,
                                     const struct mf_node *const *argument)
{
    const struct mf_node *key = argument[0]->first, *each = argument[1]->first;
    struct mf_node_list list;

    for (size_t i = 0; i < 2; i++)
        if (argument[i]->kind != MF_NODE_ARRAY)
            return mf_parser_wrong(parser, argument[i], "a list");
    if (argument[0]->count != argument[1]->count)
        return mf_parser_wrong(parser, argument[1],
                               "a list with an element for each key");
    if (!mf_list_begin(parser->recipe, &list))
        return mf_parser_value(parser, NULL);
    for (; key; key = key->next, each = each->next) {
        char *text;

        if (key->kind != MF_NODE_STRING)
            return mf_parser_wrong(parser, argument[0], "a list of texts");
        text = mf_arena_text(parser->recipe->arena, key->text.size);
        if (!text || !mf_list_add(parser->recipe, &list, each))
            return mf_parser_value(parser, NULL);
        memcpy(text, key->text.at, key->text.size);
        list.last->key = (struct mf_str){ text, key->text.size };
    }
    list.node->kind = MF_NODE_OBJECT;
    return list.node;
}
