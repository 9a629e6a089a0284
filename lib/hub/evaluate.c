/* SPDX-License-Identifier: MIT
 *
 * evaluate.c - the values of expressions in recipes
 *
 * A descent with one function per level of precedence, over the text of a row.
 * What is not needed (the other side of ?:, && and ||) is parsed but not
 * computed.  Rows are part of this library; the depth of the recursion is
 * theirs, never the file's.
 */
#include "lib/hub/evaluate.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/decimal.h"
#include "lib/base/str.h"

/* ---- words ---- */

static void skip_spaces(struct mf_parser *parser)
{
    while (parser->rest.size > 0 && *parser->rest.at == ' ') {
        parser->rest.at++;
        parser->rest.size--;
    }
}

static void skip(struct mf_parser *parser, size_t size)
{
    parser->rest.at += size;
    parser->rest.size -= size;
}

bool mf_parser_take(struct mf_parser *parser, const char *sign)
{
    skip_spaces(parser);
    if (!mf_str_begins(parser->rest, sign))
        return false;
    skip(parser, strlen(sign));
    return true;
}

void mf_parser_expect(struct mf_parser *parser, const char *sign)
{
    bool found = mf_parser_take(parser, sign);

    assert(found); /* in a row, not in a file */
    (void)found;
}

static bool is_in_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
}

struct mf_str mf_parser_name(struct mf_parser *parser)
{
    struct mf_str name;

    skip_spaces(parser);
    name = (struct mf_str){ parser->rest.at, 0 };
    while (parser->rest.size > 0 && is_in_name(*parser->rest.at)) {
        skip(parser, 1);
        name.size++;
    }
    return name;
}

/* The word, and not the beginning of a longer one. */
static bool take_word(struct mf_parser *parser, const char *word)
{
    size_t size = strlen(word);

    skip_spaces(parser);
    if (!mf_str_begins(parser->rest, word) ||
        (parser->rest.size > size && is_in_name(parser->rest.at[size])))
        return false;
    skip(parser, size);
    return true;
}

/* ---- failing ---- */

const struct mf_node *mf_parser_value(struct mf_parser *parser,
                                      const struct mf_node *value)
{
    if (value)
        return value;
    parser->failed = true;
    parser->live = false;
    return &mf_node_null;
}

const struct mf_node *mf_parser_wrong(struct mf_parser *parser,
                                      const struct mf_node *value,
                                      const char *wanted)
{
    mf_recipe_wrong(parser->recipe, value, wanted);
    return mf_parser_value(parser, NULL);
}

bool mf_parser_may_walk(struct mf_parser *parser, const struct mf_node *node)
{
    const char *mark = node->key.at ? "'" : "";

    if (node->count <= MF_RECIPE_LIST)
        return true;
    mf_fail(parser->recipe->env, MF_ERR_LIMIT, node->offset,
            "'%s': %s%s%s has %" PRIu64
            " elements, at most %d are looked through",
            mf_recipe_file(parser->recipe), mark,
            node->key.at ? mf_quote(node->key).text : "the file", mark,
            node->count, MF_RECIPE_LIST);
    mf_parser_value(parser, NULL);
    return false;
}

/* ---- what names mean ---- */

const struct mf_node *mf_recipe_field(const struct mf_recipe *recipe,
                                      struct mf_str name)
{
    for (size_t i = recipe->lets; i-- > 0;)
        if (mf_str_same(recipe->let[i].name, name))
            return recipe->let[i].value;
    return mf_node_get(recipe->config, name);
}

/* A null that knows which key it would have. */
static const struct mf_node *missing(struct mf_parser *parser,
                                     struct mf_str name)
{
    struct mf_node *node = mf_arena_take(parser->recipe->arena, sizeof(*node));

    if (!node)
        return mf_parser_value(parser, NULL);
    *node = (struct mf_node){ .kind = MF_NODE_NULL, .key = name };
    return node;
}

static const struct mf_node *field(struct mf_parser *parser, struct mf_str name)
{
    return mf_parser_may_walk(parser, parser->recipe->config)
               ? mf_recipe_field(parser->recipe, name)
               : NULL;
}

static const struct mf_node *member(struct mf_parser *parser,
                                    const struct mf_node *object,
                                    struct mf_str name)
{
    return object && mf_parser_may_walk(parser, object)
               ? mf_node_get(object, name)
               : NULL;
}

const struct mf_node *mf_parser_path(struct mf_parser *parser)
{
    struct mf_str name = mf_parser_name(parser);
    const struct mf_node *value = field(parser, name);

    assert(name.size > 0);
    while (mf_parser_take(parser, ".")) {
        name = mf_parser_name(parser);
        value = member(parser, value, name);
    }
    return value;
}

/* ---- values ---- */

static const struct mf_node *digits(struct mf_parser *parser)
{
    char text[40];
    size_t size = 0;
    bool real = false;

    for (; size < parser->rest.size && size < sizeof(text) - 1; size++) {
        char c = parser->rest.at[size];
        bool sign = (c == '-' || c == '+') && text[size - 1] == 'e';

        if (!(c >= '0' && c <= '9') && c != '.' && c != 'e' && !sign)
            break;
        real = real || c == '.' || c == 'e';
        text[size] = c;
    }
    text[size] = 0;
    skip(parser, size);
    return real ? mf_parser_real(parser, mf_decimal_read(text))
                : mf_parser_int(parser, strtoll(text, NULL, 10));
}

static const struct mf_node *quoted(struct mf_parser *parser)
{
    struct mf_str text = parser->rest;
    const char *end = memchr(text.at, '"', text.size);

    assert(end);
    text.size = (size_t)(end - text.at);
    skip(parser, text.size + 1);
    return mf_parser_value(parser,
                           mf_node_of_text(parser->recipe->arena, text));
}

static const struct mf_node *listed(struct mf_parser *parser)
{
    struct mf_node_list list;

    if (!mf_list_begin(parser->recipe, &list))
        mf_parser_value(parser, NULL); /* the rest is only parsed */
    if (mf_parser_take(parser, "]"))
        return list.node ? list.node : &mf_node_null;
    do {
        const struct mf_node *value = mf_parser_choice(parser);

        if (parser->live && !mf_list_add(parser->recipe, &list, value))
            mf_parser_value(parser, NULL);
    } while (mf_parser_take(parser, ","));
    mf_parser_expect(parser, "]");
    return list.node ? list.node : &mf_node_null;
}

static const struct mf_node *primary(struct mf_parser *parser)
{
    const struct mf_node *value;
    struct mf_str name;

    skip_spaces(parser);
    assert(parser->rest.size > 0);
    if (*parser->rest.at >= '0' && *parser->rest.at <= '9')
        return digits(parser);
    if (mf_parser_take(parser, "\""))
        return quoted(parser);
    if (mf_parser_take(parser, "["))
        return listed(parser);
    if (mf_parser_take(parser, "(")) {
        value = mf_parser_choice(parser);
        mf_parser_expect(parser, ")");
        return value;
    }
    name = mf_parser_name(parser);
    assert(name.size > 0);
    if (mf_parser_take(parser, "("))
        return mf_parser_call(parser, name);
    if (mf_str_is(name, "true") || mf_str_is(name, "false"))
        return mf_node_of_bool(*name.at == 't');
    if (mf_str_is(name, "null"))
        return &mf_node_null;
    value = field(parser, name);
    return value ? value : missing(parser, name);
}

/* One byte of a text. */
static const struct mf_node *letter(struct mf_parser *parser,
                                    const struct mf_node *text,
                                    const struct mf_node *index)
{
    int64_t at;

    if (!mf_node_int(index, &at) || at < 0 || (uint64_t)at >= text->text.size)
        return mf_parser_wrong(parser, text, "a longer text");
    return mf_parser_value(
        parser, mf_node_of_text(parser->recipe->arena,
                                (struct mf_str){ text->text.at + at, 1 }));
}

/* A list's element; from the end where the number is negative. */
static const struct mf_node *element(struct mf_parser *parser,
                                     const struct mf_node *list,
                                     const struct mf_node *index)
{
    const struct mf_node *node = list->first;
    int64_t at;

    if (!parser->live)
        return &mf_node_null;
    if (list->kind == MF_NODE_STRING)
        return letter(parser, list, index);
    if (!mf_parser_may_walk(parser, list))
        return &mf_node_null;
    if (list->kind == MF_NODE_OBJECT && index->kind == MF_NODE_STRING) {
        node = mf_node_get(list, index->text);
        return node ? node : missing(parser, index->text);
    }
    if (list->kind == MF_NODE_OBJECT && mf_node_int(index, &at)) {
        char key[24];
        int size = snprintf(key, sizeof(key), "%" PRId64, at);

        node = mf_node_get(list, (struct mf_str){ key, (size_t)size });
        return node ? node : &mf_node_null;
    }
    if (list->kind != MF_NODE_ARRAY)
        return mf_parser_wrong(parser, list, "a list");
    if (!mf_node_int(index, &at))
        return mf_parser_wrong(parser, index, "a whole number");
    if (at < 0)
        at += (int64_t)list->count;
    if (at < 0 || (uint64_t)at >= list->count) {
        mf_fail(parser->recipe->env, MF_ERR_CORRUPT, list->offset,
                "'%s': the list '%s' has %" PRIu64
                " elements, which are too few",
                mf_recipe_file(parser->recipe), mf_quote(list->key).text,
                list->count);
        return mf_parser_value(parser, NULL);
    }
    while (at-- > 0)
        node = node->next;
    return node;
}

static const struct mf_node *postfix(struct mf_parser *parser)
{
    const struct mf_node *value = primary(parser), *index;

    for (;;) {
        if (mf_parser_take(parser, ".")) {
            struct mf_str name = mf_parser_name(parser);

            value = member(parser, value, name);
            if (!value)
                value = missing(parser, name);
        } else if (mf_parser_take(parser, "[")) {
            index = mf_parser_choice(parser);
            value = element(parser, value, index);
            mf_parser_expect(parser, "]");
        } else {
            return value;
        }
    }
}

static const struct mf_node *signed_value(struct mf_parser *parser)
{
    const struct mf_node *value;

    if (mf_parser_take(parser, "!")) {
        value = signed_value(parser);
        return mf_node_of_bool(!mf_node_holds(value));
    }
    if (mf_parser_take(parser, "-")) {
        value = signed_value(parser);
        if (parser->live && mf_node_is_number(value) && !mf_node_is_int(value))
            return mf_parser_real(parser, -value->number.f64);
        return mf_parser_compute(parser, '-', mf_parser_int(parser, 0), value);
    }
    value = postfix(parser);
    return mf_parser_take(parser, "**")
               ? mf_parser_compute(parser, '^', value, signed_value(parser))
               : value;
}

static const struct mf_node *product(struct mf_parser *parser)
{
    static const char *const signs[] = { "//", "*", "/", "%" };
    static const char names[] = "|*/%";
    const struct mf_node *value = signed_value(parser);

    for (size_t i = 0; i < sizeof(signs) / sizeof(*signs);) {
        const struct mf_node *operand;
        const char *start;

        if (!mf_parser_take(parser, signs[i])) {
            i++;
            continue;
        }
        skip_spaces(parser);
        start = parser->rest.at;
        operand = signed_value(parser);
        parser->operand =
            (struct mf_str){ start, (size_t)(parser->rest.at - start) };
        value = mf_parser_compute(parser, names[i], value, operand);
        i = 0;
    }
    return value;
}

static const struct mf_node *sum(struct mf_parser *parser)
{
    const struct mf_node *value = product(parser);

    for (;;) {
        if (mf_parser_take(parser, "+"))
            value = mf_parser_compute(parser, '+', value, product(parser));
        else if (mf_parser_take(parser, "-"))
            value = mf_parser_compute(parser, '-', value, product(parser));
        else
            return value;
    }
}

static const struct mf_node *comparison(struct mf_parser *parser)
{
    static const char *const signs[] = { "==", "!=", "<=", ">=", "<", ">" };
    const struct mf_node *value = sum(parser);

    for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
        if (mf_parser_take(parser, signs[i]))
            return mf_parser_compare(parser, signs[i], value, sum(parser));
    return take_word(parser, "in")
               ? mf_parser_compare(parser, "in", value, sum(parser))
               : value;
}

/* As in Python, the value of the side that decides. */
static const struct mf_node *both(struct mf_parser *parser)
{
    const struct mf_node *value = comparison(parser), *other;
    bool live = parser->live;

    while (mf_parser_take(parser, "&&")) {
        bool holds = mf_node_holds(value);

        parser->live = live && holds && !parser->failed;
        other = comparison(parser);
        if (holds)
            value = other;
    }
    parser->live = live && !parser->failed;
    return value;
}

static const struct mf_node *either(struct mf_parser *parser)
{
    const struct mf_node *value = both(parser), *other;
    bool live = parser->live;

    while (mf_parser_take(parser, "||")) {
        bool holds = mf_node_holds(value);

        parser->live = live && !holds && !parser->failed;
        other = both(parser);
        if (!holds)
            value = other;
    }
    parser->live = live && !parser->failed;
    return value;
}

const struct mf_node *mf_parser_choice(struct mf_parser *parser)
{
    const struct mf_node *value = either(parser), *yes, *no;
    bool live = parser->live, holds = mf_node_holds(value);

    if (!mf_parser_take(parser, "?"))
        return value;
    parser->live = live && holds;
    yes = mf_parser_choice(parser);
    mf_parser_expect(parser, ":");
    parser->live = live && !holds && !parser->failed;
    no = mf_parser_choice(parser);
    parser->live = live && !parser->failed;
    return holds ? yes : no;
}

/* ---- for rows ---- */

const struct mf_node *mf_recipe_take(struct mf_recipe *recipe,
                                     struct mf_str *text)
{
    struct mf_parser parser = { .recipe = recipe, .rest = *text, .live = true };
    const struct mf_node *value = mf_parser_choice(&parser);

    skip_spaces(&parser);
    *text = parser.rest;
    return parser.failed ? NULL : value;
}

const struct mf_node *mf_recipe_value(struct mf_recipe *recipe,
                                      struct mf_str text)
{
    const struct mf_node *value = mf_recipe_take(recipe, &text);

    assert(text.size == 0);
    return value;
}

bool mf_recipe_count(struct mf_recipe *recipe, struct mf_str text,
                     uint64_t *out)
{
    const struct mf_node *value = mf_recipe_value(recipe, text);
    int64_t number;

    if (!value)
        return false;
    if (!mf_node_int(value, &number) || number < 0) {
        mf_recipe_wrong(recipe, value, "a whole number from 0 on");
        return false;
    }
    *out = (uint64_t)number;
    return true;
}
