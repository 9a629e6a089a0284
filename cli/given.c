/* SPDX-License-Identifier: MIT
 *
 * given.c - an option that is given, as text
 */
#include "cli/given.h"

#include <stdio.h>
#include <string.h>

#include "cli/out.h"

static void put_choice(const struct option *option, given_put *put, void *user)
{
    const char *word = option->value;
    char value[64];

    for (unsigned i = option->first; i < *option->set.choice; i++)
        word += strcspn(word, "|") + 1;
    snprintf(value, sizeof(value), "%.*s", (int)strcspn(word, "|"), word);
    put(user, option->name, value);
}

static void put_number(const struct option *option, given_put *put, void *user)
{
    char value[24];

    value[put_decimal(value, *option->set.number)] = 0;
    put(user, option->name, value);
}

void given_values(const struct option *option, given_put *put, void *user)
{
    const struct text_list *list = option->set.list;

    switch (option->kind) {
    case KIND_FLAG:
        if (*option->set.flag)
            put(user, option->name, NULL);
        break;
    case KIND_CHOICE:
        if (*option->set.choice > 0)
            put_choice(option, put, user);
        break;
    case KIND_COUNT:
    case KIND_SIZE:
        if (*option->set.number > 0)
            put_number(option, put, user);
        break;
    case KIND_LIST:
        for (size_t i = 0; i < list->count; i++)
            put(user, option->name, list->at[i]);
        break;
    default:
        if (*option->set.text)
            put(user, option->name, *option->set.text);
    }
}
