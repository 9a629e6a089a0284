/* SPDX-License-Identifier: MIT
 *
 * expression.c - the expressions of rows, read to see that they are ones
 *
 * A descent with one function per level of precedence.
 */
#include "lib/rows/expression.h"

#include <string.h>

struct parser {
    struct expression *of;
    struct text rest;
    bool failed;
};

static void choice(struct parser *parser);

/* ---- words ---- */

static void skip_spaces(struct parser *parser)
{
    while (parser->rest.size > 0 && *parser->rest.at == ' ') {
        parser->rest.at++;
        parser->rest.size--;
    }
}

static void skip(struct parser *parser, size_t size)
{
    parser->rest.at += size;
    parser->rest.size -= size;
}

static bool take(struct parser *parser, const char *sign)
{
    skip_spaces(parser);
    if (!text_begins(parser->rest, sign))
        return false;
    skip(parser, strlen(sign));
    return true;
}

/* The first error ends the expression. */
static void fail(struct parser *parser, const char *wanted)
{
    struct text rest = parser->rest;
    int size = rest.size > 24 ? 24 : (int)rest.size;

    if (parser->failed)
        return;
    parser->failed = true;
    if (size > 0)
        row_error(parser->of->row, "%s expected before '%.*s'", wanted, size,
                  rest.at);
    else
        row_error(parser->of->row, "%s expected at the end", wanted);
    parser->rest.size = 0;
}

static void expect(struct parser *parser, const char *sign)
{
    char wanted[16] = "'";

    if (take(parser, sign))
        return;
    strcat(strcat(wanted, sign), "'");
    fail(parser, wanted);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_in_name(const struct parser *parser, char c)
{
    return (c >= 'a' && c <= 'z') || is_digit(c) || c == '_' ||
           (parser->of->json ? c >= 'A' && c <= 'Z' : c == '.');
}

static struct text take_name(struct parser *parser)
{
    struct text name;

    skip_spaces(parser);
    name = (struct text){ parser->rest.at, 0 };
    while (parser->rest.size > 0 && is_in_name(parser, *parser->rest.at)) {
        skip(parser, 1);
        name.size++;
    }
    if (name.size == 0)
        fail(parser, "a name");
    return name;
}

static void use_name(struct parser *parser, struct text name)
{
    struct text whole = name, rest = parser->rest;
    size_t size;

    while (parser->of->json && rest.size > 1 && *rest.at == '.') {
        for (size = 1; size < rest.size && is_in_name(parser, rest.at[size]);)
            size++;
        whole.size = (size_t)(rest.at + size - whole.at);
        rest = (struct text){ rest.at + size, rest.size - size };
    }
    if (!parser->failed && !words_have(&parser->of->local, name))
        parser->of->name(parser->of->user, parser->of->row, name, whole);
}

static void take_member(struct parser *parser)
{
    struct text name = take_name(parser);

    if (parser->of->member && !parser->failed)
        parser->of->member(parser->of->user, parser->of->row, name);
}

/* ---- functions ---- */

static void path(struct parser *parser)
{
    use_name(parser, take_name(parser));
    while (parser->of->json && take(parser, "."))
        take_member(parser);
}

/* Up to a comma or the bracket that closes. */
static void bare_text(struct parser *parser, bool tensor)
{
    size_t size = 0;

    skip_spaces(parser);
    while (size < parser->rest.size && !strchr(",) ", parser->rest.at[size]))
        size++;
    if (size == 0) {
        fail(parser, "a word");
        return;
    }
    if (tensor && parser->of->tensor && !parser->failed)
        parser->of->tensor(parser->of->user, parser->of->row,
                           (struct text){ parser->rest.at, size });
    skip(parser, size);
}

static void argument(struct parser *parser, char kind)
{
    switch (kind) {
    case 'x':
        choice(parser);
        return;
    case 'p':
        path(parser);
        return;
    case 'k':
        use_name(parser, take_name(parser));
        return;
    case 'n':
        words_add(&parser->of->local, take_name(parser));
        return;
    default:
        bare_text(parser, kind == 'w');
    }
}

static void arguments(struct parser *parser, const char *kinds)
{
    for (bool first = true; *kinds && !parser->failed; first = false) {
        if (!first && kinds[0] != '+')
            expect(parser, ",");
        if (kinds[0] == '+') {
            if (!take(parser, ","))
                break;
            argument(parser, kinds[-1]);
            continue;
        }
        argument(parser, *kinds++);
    }
    expect(parser, ")");
}

static void call(struct parser *parser, struct text name)
{
    const struct function *function = parser->of->functions;
    struct words known = { .count = 0 };
    size_t made = parser->of->local.count;

    while (function->name && !text_is(name, function->name))
        function++;
    if (function->name) {
        arguments(parser, function->arguments);
        parser->of->local.count = made;
        return;
    }
    for (function = parser->of->functions; function->name; function++)
        words_add(&known, text_of(function->name));
    row_unknown(parser->of->row, name, "function", &known);
    words_free(&known);
    parser->failed = true;
    parser->rest.size = 0;
}

/* ---- values ---- */

static void number(struct parser *parser)
{
    const char *more = parser->of->json ? ".e" : "";
    size_t size = 0;

    while (size < parser->rest.size) {
        char c = parser->rest.at[size];
        bool sign = size > 0 && (c == '-' || c == '+') &&
                    parser->rest.at[size - 1] == 'e';

        if (!is_digit(c) && !(c && strchr(more, c)) && !sign)
            break;
        size++;
    }
    skip(parser, size);
    if (parser->rest.size > 0 && is_in_name(parser, *parser->rest.at))
        fail(parser, "the end of a number");
}

static void quoted(struct parser *parser)
{
    const char *end = memchr(parser->rest.at, '"', parser->rest.size);

    if (end)
        skip(parser, (size_t)(end - parser->rest.at) + 1);
    else
        fail(parser, "'\"'");
}

static void listed(struct parser *parser)
{
    if (take(parser, "]"))
        return;
    do
        choice(parser);
    while (take(parser, ","));
    expect(parser, "]");
}

static bool is_literal(const struct parser *parser, struct text name)
{
    return parser->of->json &&
           (text_is(name, "true") || text_is(name, "false") ||
            text_is(name, "null"));
}

static void primary(struct parser *parser)
{
    struct text name;

    skip_spaces(parser);
    if (parser->rest.size > 0 && is_digit(*parser->rest.at))
        number(parser);
    else if (parser->of->json && take(parser, "\""))
        quoted(parser);
    else if (parser->of->json && take(parser, "["))
        listed(parser);
    else if (take(parser, "(")) {
        choice(parser);
        expect(parser, ")");
    } else {
        name = take_name(parser);
        if (take(parser, "("))
            call(parser, name);
        else if (!is_literal(parser, name))
            use_name(parser, name);
    }
}

static void postfix(struct parser *parser)
{
    primary(parser);
    while (parser->of->json && !parser->failed)
        if (take(parser, ".")) {
            take_member(parser);
        } else if (take(parser, "[")) {
            choice(parser);
            expect(parser, "]");
        } else {
            break;
        }
}

/* ---- operators ---- */

static void signed_value(struct parser *parser)
{
    if (take(parser, "!") || take(parser, "-")) {
        signed_value(parser);
        return;
    }
    postfix(parser);
    if (parser->of->json && take(parser, "**"))
        signed_value(parser);
}

static void product(struct parser *parser)
{
    signed_value(parser);
    while (!parser->failed &&
           ((parser->of->json && take(parser, "//")) || take(parser, "*") ||
            take(parser, "/") || take(parser, "%")))
        signed_value(parser);
}

static void sum(struct parser *parser)
{
    product(parser);
    while (!parser->failed && (take(parser, "+") || take(parser, "-")))
        product(parser);
}

static bool take_in(struct parser *parser)
{
    if (!parser->of->json || !(skip_spaces(parser), true) ||
        !text_begins(parser->rest, "in") ||
        (parser->rest.size > 2 && is_in_name(parser, parser->rest.at[2])))
        return false;
    skip(parser, 2);
    return true;
}

static void comparison(struct parser *parser)
{
    sum(parser);
    if (take(parser, "==") || take(parser, "!=") || take(parser, "<=") ||
        take(parser, ">=") || take(parser, "<") || take(parser, ">") ||
        take_in(parser))
        sum(parser);
}

static void both(struct parser *parser)
{
    comparison(parser);
    while (!parser->failed && take(parser, "&&"))
        comparison(parser);
}

static void either(struct parser *parser)
{
    both(parser);
    while (!parser->failed && take(parser, "||"))
        both(parser);
}

static void choice(struct parser *parser)
{
    if (parser->failed)
        return;
    either(parser);
    if (parser->failed || !take(parser, "?"))
        return;
    choice(parser);
    expect(parser, ":");
    choice(parser);
}

/* ---- whole expressions ---- */

bool expression_take(struct expression *expression, struct text *text)
{
    struct parser parser = { .of = expression, .rest = *text };

    choice(&parser);
    skip_spaces(&parser);
    *text = parser.rest;
    return !parser.failed;
}

bool expression_check(struct expression *expression, struct text text)
{
    if (!expression_take(expression, &text))
        return false;
    if (text.size == 0)
        return true;
    row_error(expression->row, "an operator or the end expected before '%.*s'",
              text.size > 24 ? 24 : (int)text.size, text.at);
    return false;
}

bool expression_is_constant(struct text text, long *value)
{
    text = trimmed(text);
    *value = text_is(text, "true");
    if (*value || text_is(text, "false"))
        return true;
    for (size_t i = 0; i < text.size; i++) {
        if (!is_digit(text.at[i]))
            return false;
        *value = *value * 10 + (text.at[i] - '0');
    }
    return text.size > 0;
}
