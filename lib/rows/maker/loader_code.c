/* SPDX-License-Identifier: MIT
 *
 * loader_code.c - rows about what a loader reads, as bytes
 */
#include "lib/rows/maker/languages.h"

static void put_type(struct writing *to, struct text text)
{
    struct key_type type;

    loader_type(text, &type);
    put_byte(to, type.base);
    put_byte(to, type.flags);
    put_two(to, type.most);
}

/* A space need not follow it. */
static bool take_comma(struct text *rest)
{
    if (!text_begins(*rest, ","))
        return false;
    *rest = (struct text){ rest->at + 1, rest->size - 1 };
    return true;
}

/* "NAME DIMENSION, ... [reshape] [optional EXPRESSION]" */
static void put_tensor(struct writing *to, struct text rest, size_t flags)
{
    struct text name = take_word(&rest);
    size_t place = begin_byte(to), dimensions, count = 0;

    put_text(to, name);
    dimensions = begin_byte(to);
    do {
        put_expression(to, &rest);
        count++;
    } while (take_comma(&rest));
    end_byte(to, dimensions, count);
    if (text_begins(rest, "reshape")) {
        flags |= MF_TENSOR_RESHAPE;
        take_word(&rest);
    }
    if (text_begins(rest, "optional")) {
        flags |= MF_TENSOR_CONDITION;
        take_word(&rest);
        put_whole(to, rest);
    }
    end_byte(to, place, flags);
}

enum mf_code_row put_loader_row(struct writing *to, struct text word,
                                struct text rest)
{
    if (text_is(word, "key")) {
        put_type(to, take_word(&rest));
        put_text(to, rest);
        return MF_DO_KEY;
    }
    if (text_is(word, "need")) {
        put_text(to, rest);
        put_whole(to, rest);
        return MF_DO_NEED;
    }
    put_tensor(to, rest, text_is(word, "tensor?") ? MF_TENSOR_OPTIONAL : 0);
    return MF_DO_TENSOR;
}
