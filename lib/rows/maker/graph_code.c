/* SPDX-License-Identifier: MIT
 *
 * graph_code.c - rows about what an architecture computes, as bytes
 */
#include "lib/rows/maker/languages.h"

static void put_source(struct writing *to, struct text word)
{
    size_t type = list_find(graph_types, word);

    put_byte(to, graph_types[type] ? type + 1 : 0);
    if (!graph_types[type])
        put_pattern(to, word);
}

/* "OP SOURCE ... : NUMBER, ..." */
static void put_call(struct writing *to, struct text name, struct text rest)
{
    struct text head = take_until(&rest, ':'), op = take_word(&head);
    bool optional = text_ends(op, "?");
    size_t place, count = 0;

    op.size -= optional;
    put_byte(to, optional);
    put_byte(to, (size_t)(graph_operation_find(op) - graph_operations));
    put_word(to, name);
    place = begin_byte(to);
    for (; head.size > 0; count++)
        put_source(to, take_word(&head));
    end_byte(to, place, count);
    put_list(to, trimmed(rest));
}

static void put_input(struct writing *to, struct text rest)
{
    struct text name = take_word(&rest), type = take_until(&rest, ':');

    put_word(to, name);
    put_byte(to, list_find(graph_types, type));
    put_list(to, trimmed(rest));
}

static void put_carry(struct writing *to, struct text rest)
{
    struct text list = rest;
    size_t count = 0;

    for (; list.size > 0; count++)
        take_word(&list);
    put_byte(to, count);
    while (rest.size > 0)
        put_text(to, take_word(&rest));
}

enum mf_code_row put_graph_row(struct writing *to, struct text word,
                               struct text rest)
{
    if (text_is(word, "input")) {
        put_input(to, rest);
        return MF_DO_INPUT;
    }
    if (text_is(word, "carry")) {
        put_carry(to, rest);
        return MF_DO_CARRY;
    }
    if (text_is(word, "expand") || text_is(word, "output")) {
        put_word(to, rest);
        return text_is(word, "expand") ? MF_DO_EXPAND : MF_DO_OUTPUT;
    }
    if (text_is(word, "rough"))
        return MF_DO_ROUGH;
    if (text_is(word, "vary")) {
        put_whole(to, rest);
        return MF_DO_VARY;
    }
    take_word(&rest); /* "=" */
    put_call(to, word, rest);
    return MF_DO_CALL;
}
