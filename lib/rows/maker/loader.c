/* SPDX-License-Identifier: MIT
 *
 * loader.c - rows about what a loader reads: section loader
 *
 * Here each row for itself; loader_names.c then looks at the names in them.
 */
#include "lib/rows/maker/loader.h"

#include <string.h>

#include "lib/rows/maker/names.h"

static const char *const kinds[] = { "arch", "group", NULL };
static const char *const sections[] = { "loader", NULL };
const struct language loader_language = { .sections = sections,
                                          .kinds = kinds };

const struct function loader_functions[] = {
#define FUNCTION(NAME, name, arguments) { name, arguments },
#include "lib/arch/functions.def"
#undef FUNCTION
    { NULL, NULL },
};

static const char *const words[] = { "key", "let",  "need", "tensor", "tensor?",
                                     "use", "use?", "like", "if",     "else",
                                     "end", "each", NULL };

/* ---- each row for itself ---- */

static void any_name(void *user, const struct row *row, struct text name,
                     struct text whole)
{
    (void)user, (void)row, (void)name, (void)whole;
}

static void check_tensor_name(void *user, const struct row *row,
                              struct text name)
{
    (void)user;
    names_check_tensor(row, name);
}

static struct expression expression_of(const struct row *row)
{
    return (struct expression){ .row = row,
                                .functions = loader_functions,
                                .name = any_name,
                                .tensor = check_tensor_name };
}

static void check_expression(const struct row *row, struct text text)
{
    struct expression expression = expression_of(row);

    expression_check(&expression, text);
}

static bool take_sign(struct text *text, char sign)
{
    bool there = text->size > 0 && *text->at == sign;

    text->at += there;
    text->size -= there;
    return there;
}

/* At most 0xffff, as many as two bytes of a row can say: what is left is not
 * the rest of a type. */
static size_t take_count(struct text *text)
{
    size_t count = 0;

    while (text->size > 0 && *text->at >= '0' && *text->at <= '9' &&
           count * 10 + (size_t)(*text->at - '0') <= 0xffff) {
        count = count * 10 + (size_t)(*text->at++ - '0');
        text->size--;
    }
    return count;
}

/* What follows the word of a type, or nothing. */
static bool take_array(struct text *text, struct key_type *out)
{
    bool single = take_sign(text, '|');

    if (take_sign(text, '[')) {
        out->flags = MF_KEY_ARRAY | (single ? MF_KEY_SINGLE : 0);
        out->most = take_count(text);
        return take_sign(text, ']');
    }
    out->flags = MF_KEY_SINGLE;
    if (take_sign(text, '*')) {
        out->flags |= MF_KEY_ARRAY | MF_KEY_EXACT;
        if (take_sign(text, '-'))
            out->flags |= MF_KEY_TRUNK;
        else
            out->most = take_count(text);
    }
    return !single;
}

bool loader_type(struct text text, struct key_type *out)
{
    static const char *const bases[] = { MF_KEY_TYPES, NULL };
    struct text base = { text.at, 0 };

    while (base.size < text.size && text.at[base.size] >= 'a' &&
           text.at[base.size] <= 'z')
        base.size++;
    *out = (struct key_type){ .base = list_find(bases, base) };
    text.at += base.size;
    text.size -= base.size;
    if (!bases[out->base] || !take_array(&text, out))
        return false;
    out->flags |= take_sign(&text, '?') ? MF_KEY_OPTIONAL : 0;
    return text.size == 0;
}

static void check_key(const struct row *row, struct text rest)
{
    struct text type = take_word(&rest), name = take_word(&rest);
    struct key_type read;

    if (!loader_type(type, &read))
        row_error(row, "unknown key type '%.*s'", (int)type.size, type.at);
    if (name.size == 0)
        row_error(row, "'key TYPE NAME' lacks its name");
    if (rest.size > 0)
        row_error(row, "nothing follows the name of a key: '%.*s'",
                  (int)rest.size, rest.at);
}

static void check_let(const struct row *row, struct text rest)
{
    struct text name = take_word(&rest);

    if (name.size == 0 || rest.size == 0)
        row_error(row, "'let NAME EXPRESSION' lacks something");
    else
        check_expression(row, rest);
}

/* "NAME DIMENSION, ... [reshape] [optional EXPRESSION]" */
static void check_tensor(const struct row *row, struct text rest)
{
    struct expression expression = expression_of(row);
    struct text name = take_word(&rest), word, after;
    size_t count = 0;

    if (name.size == 0)
        row_error(row, "'tensor NAME DIMENSION, ...' lacks its name");
    else
        names_check_tensor(row, name);
    do {
        if (!expression_take(&expression, &rest))
            return;
        count++;
        rest = trimmed(rest);
        if (rest.size == 0 || *rest.at != ',')
            break;
        rest.at++;
        rest.size--;
    } while (true);
    if (count > 4)
        row_error(row, "a tensor has at most 4 dimensions, not %zu", count);
    after = rest;
    if (text_is(take_word(&after), "reshape"))
        rest = after;
    if (rest.size == 0)
        return;
    word = take_word(&rest);
    if (text_is(word, "optional"))
        check_expression(row, rest);
    else
        row_error(row,
                  "a comma, 'reshape' or 'optional' expected before "
                  "'%.*s'",
                  (int)word.size, word.at);
}

/* "FROM .. TO" */
static void check_each(const struct row *row, struct text rest)
{
    struct expression expression = expression_of(row);
    struct text dots;

    if (!expression_take(&expression, &rest))
        return;
    dots = take_word(&rest);
    if (!text_is(dots, ".."))
        row_error(row, "'..' expected in 'each FROM .. TO'");
    else
        check_expression(row, rest);
}

static void check_arguments(const struct row *row, struct text rest)
{
    take_word(&rest);
    while (rest.size > 0)
        check_expression(row, take_until(&rest, ','));
}

static void check_like(const struct source *source, const struct row *row,
                       struct text rest)
{
    struct words known = { .count = 0 };

    if (source_find(source, "arch", rest))
        return;
    for (size_t i = 0; i < source->count; i++)
        if (text_is(source->part[i].kind, "arch"))
            words_add(&known, source->part[i].name);
    row_unknown(row, rest, "architecture", &known);
    words_free(&known);
}

static void check_condition(const struct row *row, struct text rest)
{
    if (expression_is_constant(rest))
        row_error(row, "the condition always has the same value");
    else
        check_expression(row, rest);
}

static void check_row(const struct source *source, const struct row *row)
{
    struct text rest = text_of(row->text), word = take_word(&rest);

    if (text_is(word, "key"))
        check_key(row, rest);
    else if (text_is(word, "let"))
        check_let(row, rest);
    else if (text_is(word, "need") || text_is(word, "if"))
        check_condition(row, rest);
    else if (text_is(word, "tensor") || text_is(word, "tensor?"))
        check_tensor(row, rest);
    else if (text_is(word, "use") || text_is(word, "use?")) {
        rows_use(source, row, rest);
        check_arguments(row, rest);
    } else if (text_is(word, "like"))
        check_like(source, row, rest);
    else if (text_is(word, "each"))
        check_each(row, rest);
    else if (!text_is(word, "else") && !text_is(word, "end"))
        row_unknown_of(row, word, "row", words);
}

void loader_check(struct source *source, struct words *used)
{
    for (size_t i = 0; i < source->count; i++) {
        rows_twice(source, &source->part[i]);
        if (!text_is(source->part[i].kind, "group"))
            rows_one_name(&source->part[i]);
        rows_nesting(&source->part[i], false);
        rows_parameters(&source->part[i], MF_ARGUMENTS_MAX);
        for (size_t j = 0; j < source->part[i].count; j++)
            check_row(source, &source->part[i].row[j]);
    }
    rows_cycles(source);
    if (row_errors == 0)
        loader_check_names(source, used);
    if (row_errors == 0)
        loader_check_lets(source);
}
