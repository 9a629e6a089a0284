/* SPDX-License-Identifier: MIT
 *
 * operand.c - what operators stand between: values, names and functions
 */
#include <errno.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "lib/rows/maker/expression.h"

/* ---- nodes ---- */

/* Of the machine that builds; they live as long as the program. */
struct node *parse_node(enum mf_code_kind kind, struct node *child)
{
    struct node *node = take_memory(NULL, sizeof(*node));

    *node = (struct node){ .kind = kind, .letter = 'x', .child = child };
    return node;
}

static struct node *parse_text(enum mf_code_kind kind, struct text text)
{
    struct node *node = parse_node(kind, NULL);

    node->text = text;
    return node;
}

struct node *parse_two(enum mf_code_kind kind, struct node *a, struct node *b)
{
    struct node *node = parse_node(kind, a);

    a->next = b;
    return node;
}

struct text parse_since(const struct parser *parser, const char *start)
{
    return trimmed((struct text){ start, (size_t)(parser->rest.at - start) });
}

/* ---- words ---- */

void parse_spaces(struct parser *parser)
{
    while (parser->rest.size > 0 && *parser->rest.at == ' ') {
        parser->rest.at++;
        parser->rest.size--;
    }
}

void parse_skip(struct parser *parser, size_t size)
{
    parser->rest.at += size;
    parser->rest.size -= size;
}

bool parse_sign(struct parser *parser, const char *sign)
{
    parse_spaces(parser);
    if (!text_begins(parser->rest, sign))
        return false;
    parse_skip(parser, strlen(sign));
    return true;
}

void parse_fail(struct parser *parser, const char *wanted)
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

void parse_expect(struct parser *parser, const char *sign)
{
    char wanted[16] = "'";

    if (parse_sign(parser, sign))
        return;
    strcat(strcat(wanted, sign), "'");
    parse_fail(parser, wanted);
}

bool parse_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool parse_is_in_name(const struct parser *parser, char c)
{
    return (c >= 'a' && c <= 'z') || parse_is_digit(c) || c == '_' ||
           (parser->of->json ? c >= 'A' && c <= 'Z' : c == '.');
}

static struct text take_name(struct parser *parser)
{
    struct text name;

    parse_spaces(parser);
    name = (struct text){ parser->rest.at, 0 };
    while (parser->rest.size > 0 &&
           parse_is_in_name(parser, *parser->rest.at)) {
        parse_skip(parser, 1);
        name.size++;
    }
    if (name.size == 0)
        parse_fail(parser, "a name");
    return name;
}

static void use_name(struct parser *parser, struct text name)
{
    struct text whole = name, rest = parser->rest;
    size_t size;

    while (parser->of->json && rest.size > 1 && *rest.at == '.') {
        for (size = 1;
             size < rest.size && parse_is_in_name(parser, rest.at[size]);)
            size++;
        whole.size = (size_t)(rest.at + size - whole.at);
        rest = (struct text){ rest.at + size, rest.size - size };
    }
    if (!parser->failed && !words_have(&parser->of->local, name))
        parser->of->name(parser->of->user, parser->of->row, name, whole);
}

static struct text take_member(struct parser *parser)
{
    struct text name = take_name(parser);

    if (parser->of->member && !parser->failed)
        parser->of->member(parser->of->user, parser->of->row, name);
    return name;
}

/* ---- functions ---- */

static struct node *path(struct parser *parser)
{
    struct node *out = parse_text(MF_IS_NAME, take_name(parser));
    struct node **last = &out->child;

    use_name(parser, out->text);
    while (parser->of->json && parse_sign(parser, ".")) {
        *last = parse_text(MF_IS_NAME, take_member(parser));
        last = &(*last)->next;
    }
    return out;
}

/* Up to a comma or the bracket that closes. */
static struct text bare_text(struct parser *parser, bool tensor)
{
    struct text text;

    parse_spaces(parser);
    text = (struct text){ parser->rest.at, 0 };
    while (text.size < parser->rest.size && !strchr(",) ", text.at[text.size]))
        text.size++;
    if (text.size == 0)
        parse_fail(parser, "a word");
    else if (tensor && parser->of->tensor && !parser->failed)
        parser->of->tensor(parser->of->user, parser->of->row, text);
    parse_skip(parser, text.size);
    return text;
}

static struct node *argument(struct parser *parser, char letter)
{
    struct node *out;

    if (letter == 'x')
        return parse_choice(parser);
    if (letter == 'p')
        out = path(parser);
    else if (letter == 'k' || letter == 'n')
        out = parse_text(MF_IS_NAME, take_name(parser));
    else
        out = parse_text(MF_IS_TEXT, bare_text(parser, letter == 'w'));
    out->letter = letter;
    if (letter == 'k')
        use_name(parser, out->text);
    if (letter == 'n')
        words_add(&parser->of->local, out->text);
    return out;
}

static struct node *arguments(struct parser *parser, const char *letters)
{
    struct node *first = NULL, **last = &first;

    for (; *letters && !parser->failed; last = &(*last)->next) {
        if (letters[0] == '+' && !parse_sign(parser, ","))
            break;
        if (first && letters[0] != '+')
            parse_expect(parser, ",");
        *last = argument(parser, letters[letters[0] == '+' ? -1 : 0]);
        letters += letters[0] != '+';
    }
    return first;
}

static struct node *call(struct parser *parser, struct text name)
{
    const struct function *function = parser->of->functions;
    struct words known = { .count = 0 };
    size_t made = parser->of->local.count;
    const char *start = parser->rest.at;
    struct node *out = parse_node(MF_IS_CALL, NULL);

    while (function->name && !text_is(name, function->name))
        function++;
    if (function->name) {
        out->number = (size_t)(function - parser->of->functions);
        out->child = arguments(parser, function->arguments);
        out->text = parse_since(parser, start);
        parse_expect(parser, ")");
        words_cut(&parser->of->local, made);
        return out;
    }
    for (function = parser->of->functions; function->name; function++)
        words_add(&known, text_of(function->name));
    row_unknown(parser->of->row, name, "function", &known);
    words_free(&known);
    parser->failed = true;
    parser->rest.size = 0;
    return out;
}

/* ---- values ---- */

static size_t digits_of(struct text text)
{
    size_t size = 0;

    while (size < text.size && parse_is_digit(text.at[size]))
        size++;
    return size;
}

/* What follows the digits of a number with a fraction or an exponent: ".5",
 * "e-05", or nothing. */
static size_t fraction_of(struct text text)
{
    struct text rest = text;
    size_t size = 0, digits;

    for (const char *sign = ".e"; *sign; sign++) {
        rest = (struct text){ text.at + size, text.size - size };
        if (rest.size < 2 || *rest.at != *sign)
            continue;
        digits =
            *sign == 'e' && (rest.at[1] == '-' || rest.at[1] == '+') ? 2 : 1;
        rest = (struct text){ rest.at + digits, rest.size - digits };
        if (digits_of(rest) > 0)
            size += digits + digits_of(rest);
    }
    return size;
}

static bool fits(struct text digits)
{
    long long value = 0;

    for (size_t i = 0; i < digits.size; i++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digits.at[i] - '0', &value))
            return false;
    return true;
}

/* A larger one would be infinite, and a smaller one 0. */
static bool fits_real(struct text digits)
{
    char *copy = take_memory(NULL, digits.size + 1);
    double value;

    memcpy(copy, digits.at, digits.size);
    copy[digits.size] = 0;
    errno = 0;
    value = strtod(copy, NULL);
    free(copy);
    return errno == 0 || (value > DBL_MIN && value <= DBL_MAX);
}

static struct node *number(struct parser *parser)
{
    struct text text = { parser->rest.at, digits_of(parser->rest) };
    size_t more = 0;

    if (!fits(text))
        parse_fail(parser, "a number below 2^63");
    parse_skip(parser, parser->failed ? 0 : text.size);
    if (parser->of->json)
        more = fraction_of(parser->rest);
    text.size += more;
    if (more > 0 && !fits_real(text)) {
        parser->rest =
            (struct text){ text.at, parser->rest.size + text.size - more };
        parse_fail(parser, "a number in the range of a double");
        more = 0;
    }
    parse_skip(parser, more);
    if (parser->rest.size > 0 &&
        (parse_is_in_name(parser, *parser->rest.at) || *parser->rest.at == '.'))
        parse_fail(parser, "the end of a number");
    return parse_text(more > 0 ? MF_IS_REAL : MF_IS_NUMBER, text);
}

static struct node *quoted(struct parser *parser)
{
    struct text text = parser->rest;
    const char *end = memchr(text.at, '"', text.size);

    if (!end) {
        parse_fail(parser, "'\"'");
        return parse_text(MF_IS_TEXT, text);
    }
    text.size = (size_t)(end - text.at);
    parse_skip(parser, text.size + 1);
    return parse_text(MF_IS_TEXT, text);
}

static struct node *listed(struct parser *parser)
{
    struct node *list = parse_node(MF_IS_LIST, NULL), **last = &list->child;

    if (parse_sign(parser, "]"))
        return list;
    do {
        *last = parse_choice(parser);
        last = &(*last)->next;
        list->number++;
    } while (parse_sign(parser, ","));
    parse_expect(parser, "]");
    return list;
}

/* "cur[0]" */
static struct node *length(struct parser *parser, struct text name)
{
    struct node *node = parse_text(MF_IS_LENGTH, name);

    parser->of->length(parser->of->user, parser->of->row, name);
    if (parser->rest.size == 0 || *parser->rest.at < '0' ||
        *parser->rest.at > '3')
        parse_fail(parser, "a number from 0 to 3");
    else
        node->number = (size_t)(*parser->rest.at - '0');
    parse_skip(parser, parser->rest.size > 0);
    parse_expect(parser, "]");
    return node;
}

static struct node *named(struct parser *parser)
{
    struct text name = take_name(parser);

    if (parse_sign(parser, "("))
        return call(parser, name);
    if (parser->of->length && parse_sign(parser, "["))
        return length(parser, name);
    if (parser->of->json && text_is(name, "true"))
        return parse_node(MF_IS_TRUE, NULL);
    if (parser->of->json && text_is(name, "false"))
        return parse_node(MF_IS_FALSE, NULL);
    if (parser->of->json && text_is(name, "null"))
        return parse_node(MF_IS_NULL, NULL);
    use_name(parser, name);
    return parse_text(MF_IS_NAME, name);
}

static struct node *primary(struct parser *parser)
{
    struct node *node;

    parse_spaces(parser);
    if (parser->rest.size > 0 && parse_is_digit(*parser->rest.at))
        return number(parser);
    if (parser->of->json && parse_sign(parser, "\""))
        return quoted(parser);
    if (parser->of->json && parse_sign(parser, "["))
        return listed(parser);
    if (!parse_sign(parser, "("))
        return named(parser);
    node = parse_choice(parser);
    parse_expect(parser, ")");
    return node;
}

struct node *parse_operand(struct parser *parser)
{
    struct node *node = primary(parser);

    while (parser->of->json && !parser->failed)
        if (parse_sign(parser, ".")) {
            node = parse_node(MF_IS_MEMBER, node);
            node->text = take_member(parser);
        } else if (parse_sign(parser, "[")) {
            node = parse_two(MF_IS_ELEMENT, node, parse_choice(parser));
            parse_expect(parser, "]");
        } else {
            break;
        }
    return node;
}
