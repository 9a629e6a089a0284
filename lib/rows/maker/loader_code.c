/* SPDX-License-Identifier: MIT
 *
 * loader_code.c - rows about what a loader reads, as bytes
 */
#include "lib/rows/maker/languages.h"

/* The digits at the end of a type; 0: there are none. */
static size_t take_count(struct text *text)
{
    size_t count = 0, place = 1;

    while (text->size > 0 && text->at[text->size - 1] >= '0' &&
           text->at[text->size - 1] <= '9') {
        count += place * (size_t)(text->at[--text->size] - '0');
        place *= 10;
    }
    return count;
}

static bool take_end(struct text *text, const char *end)
{
    bool ends = text_ends(*text, end);

    text->size -= ends;
    return ends;
}

/* "uint|[4]?": lib/arch/keys.c explains types. */
static void put_type(struct writing *to, struct text type)
{
    static const char *const names[] = { MF_KEY_TYPES };
    size_t flags = take_end(&type, "?") ? MF_KEY_OPTIONAL : 0, most, i = 0;

    if (take_end(&type, "]")) {
        most = take_count(&type);
        take_end(&type, "[");
        flags |= MF_KEY_ARRAY | (take_end(&type, "|") ? MF_KEY_SINGLE : 0);
    } else {
        flags |= MF_KEY_SINGLE | (take_end(&type, "-") ? MF_KEY_TRUNK : 0);
        most = take_count(&type);
        if (take_end(&type, "*"))
            flags |= MF_KEY_ARRAY | MF_KEY_EXACT;
    }
    while (i + 1 < sizeof(names) / sizeof(*names) && !text_is(type, names[i]))
        i++;
    put_byte(to, i);
    put_byte(to, flags);
    put_two(to, most);
}

/* "NAME DIMENSION, ... [reshape] [optional EXPRESSION]" */
static void put_tensor(struct writing *to, struct text rest, size_t flags)
{
    struct text name = take_word(&rest);
    size_t place = to->program->code.size, count = 0;

    put_byte(to, 0);
    put_text(to, name);
    put_byte(to, 0);
    do {
        put_expression(to, &rest);
        count++;
        if (!text_begins(rest, ","))
            break;
        take_word(&rest);
    } while (rest.size > 0);
    to->program->code.at[place + 4] = (unsigned char)count;
    if (text_begins(rest, "reshape")) {
        flags |= MF_TENSOR_RESHAPE;
        take_word(&rest);
    }
    if (text_begins(rest, "optional")) {
        flags |= MF_TENSOR_CONDITION;
        take_word(&rest);
        put_whole(to, rest);
    }
    to->program->code.at[place] = (unsigned char)flags;
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
