/* SPDX-License-Identifier: MIT
 *
 * functions_text.c - texts, for expressions of recipes
 */
#include <stdio.h>

#include "lib/base/str.h"
#include "lib/hf/hub/evaluate.h"

const struct mf_node *mf_call_lower(struct mf_eval *eval,
                                    const struct mf_node *const *argument)
{
    struct mf_str text = argument[0]->text;
    char *copy;

    if (argument[0]->kind != MF_NODE_STRING)
        return mf_eval_wrong(eval, argument[0], "a string");
    copy = mf_arena_text(eval->recipe->arena, text.size);
    for (size_t i = 0; copy && i < text.size; i++)
        copy[i] = text.at[i] >= 'A' && text.at[i] <= 'Z'
                      ? (char)(text.at[i] + 'a' - 'A')
                      : text.at[i];
    return mf_eval_value(
        eval, copy ? mf_node_of_text(eval->recipe->arena,
                                     (struct mf_str){ copy, text.size })
                   : NULL);
}

const struct mf_node *mf_call_ends(struct mf_eval *eval,
                                   const struct mf_node *const *argument)
{
    if (argument[0]->kind != MF_NODE_STRING)
        return mf_eval_wrong(eval, argument[0], "a string");
    return mf_node_of_bool(
        mf_str_ends(argument[0]->text, argument[1]->text.at));
}

const struct mf_node *mf_call_text(struct mf_eval *eval,
                                   const struct mf_node *const *argument)
{
    char digits[24], *copy;
    int64_t value;
    int size;

    if (!mf_node_int(argument[0], &value))
        return mf_eval_wrong(eval, argument[0], "a whole number");
    size = snprintf(digits, sizeof(digits), "%" PRIi64, value);
    copy = mf_arena_text(eval->recipe->arena, (size_t)size);
    if (!copy)
        return mf_eval_value(eval, NULL);
    memcpy(copy, digits, (size_t)size);
    return mf_eval_value(
        eval, mf_node_of_text(eval->recipe->arena,
                              (struct mf_str){ copy, (size_t)size }));
}

const struct mf_node *mf_call_join(struct mf_eval *eval,
                                   const struct mf_node *const *argument)
{
    const struct mf_node *list = argument[0];
    struct mf_str all = { NULL, 0 };
    char *at;

    if (list->kind != MF_NODE_ARRAY)
        return mf_eval_wrong(eval, list, "a list");
    for (const struct mf_node *node = list->first; node; node = node->next) {
        if (node->kind != MF_NODE_STRING)
            return mf_eval_wrong(eval, list, "a list of texts");
        all.size += node->text.size;
    }
    at = mf_arena_text(eval->recipe->arena, all.size);
    if (!at)
        return mf_eval_value(eval, NULL);
    all.at = at;
    for (const struct mf_node *node = list->first; node; node = node->next) {
        memcpy(at, node->text.at, node->text.size);
        at += node->text.size;
    }
    return mf_eval_value(eval, mf_node_of_text(eval->recipe->arena, all));
}

/* Digits, which may have spaces before them; -1: others, or too many. */
static int64_t digits_of(struct mf_str text)
{
    int64_t number = 0;
    size_t i = 0, first;

    while (i < text.size && text.at[i] == ' ')
        i++;
    first = i;
    for (; i < text.size; i++) {
        if (text.at[i] < '0' || text.at[i] > '9' || i - first == 9)
            return -1;
        number = number * 10 + (text.at[i] - '0');
    }
    return i > first ? number : -1;
}

const struct mf_node *mf_call_integers(struct mf_eval *eval,
                                       const struct mf_node *const *argument)
{
    struct mf_str rest = argument[0]->text;
    struct mf_node_list list;

    if (argument[0]->kind != MF_NODE_STRING)
        return mf_eval_wrong(eval, argument[0], "a string");
    if (!mf_list_begin(eval->recipe, &list))
        return mf_eval_value(eval, NULL);
    for (;;) {
        size_t size = 0;
        int64_t number;

        while (size < rest.size && rest.at[size] != ',')
            size++;
        number = digits_of((struct mf_str){ rest.at, size });
        if (number < 0)
            return mf_eval_wrong(eval, argument[0], "whole numbers and commas");
        if (!mf_list_add(eval->recipe, &list, mf_eval_int(eval, number)))
            return mf_eval_value(eval, NULL);
        if (size == rest.size)
            return list.node;
        rest = (struct mf_str){ rest.at + size + 1, rest.size - size - 1 };
    }
}
