/* SPDX-License-Identifier: MIT
 *
 * expression.c - the expressions of rows as trees
 *
 * A descent with one function for each level of precedence.
 */
#include "lib/rows/maker/expression.h"

#include <string.h>

/* ---- operators ---- */

/* More than any row has; the library's stack is small. */
#define DEPTH 32

static struct node *signed_value(struct parser *parser);

static struct node *after_signs(struct parser *parser)
{
    struct node *node;

    if (parse_sign(parser, "!"))
        return parse_node(MF_IS_NOT, signed_value(parser));
    if (parse_sign(parser, "-"))
        return parse_node(MF_IS_MINUS, signed_value(parser));
    node = parse_operand(parser);
    return parser->of->json && parse_sign(parser, "**")
               ? parse_two(MF_IS_POWER, node, signed_value(parser))
               : node;
}

static struct node *signed_value(struct parser *parser)
{
    struct node *node;

    if (++parser->depth > DEPTH)
        parse_fail(parser, "an expression with fewer brackets");
    node = parser->failed ? parse_node(MF_IS_NULL, NULL) : after_signs(parser);
    parser->depth--;
    return node;
}

struct operator
{
    const char *sign;
    enum mf_code_kind kind;
    bool json; /* only there */
};

/* Operators of one level, from the left; false: at most one of them. */
static struct node *operation(struct parser *parser,
                              struct node *(*operand)(struct parser *parser),
                              const struct operator* list, bool many)
{
    struct node *node = operand(parser);

    for (const struct operator* each = list; each->sign && !parser->failed;) {
        const char *start;

        if ((each->json && !parser->of->json) ||
            !parse_sign(parser, each->sign)) {
            each++;
            continue;
        }
        start = parser->rest.at;
        node = parse_two(each->kind, node, operand(parser));
        node->text = parse_since(parser, start);
        if (!many)
            break;
        each = list;
    }
    return node;
}

static struct node *product(struct parser *parser)
{
    static const struct operator list[] = {
        { "//", MF_IS_QUOTIENT, true },
        { "*", MF_IS_MULTIPLY, false },
        { "/", MF_IS_DIVIDE, false },
        { "%", MF_IS_REMAINDER, false },
        { NULL, 0, false },
    };

    return operation(parser, signed_value, list, true);
}

static struct node *sum(struct parser *parser)
{
    static const struct operator list[] = {
        { "+", MF_IS_ADD, false },
        { "-", MF_IS_SUBTRACT, false },
        { NULL, 0, false },
    };

    return operation(parser, product, list, true);
}

static bool take_in(struct parser *parser)
{
    if (!parser->of->json || !(parse_spaces(parser), true) ||
        !text_begins(parser->rest, "in") ||
        (parser->rest.size > 2 && parse_is_in_name(parser, parser->rest.at[2])))
        return false;
    parse_skip(parser, 2);
    return true;
}

static struct node *comparison(struct parser *parser)
{
    static const struct operator list[] = {
        { "==", MF_IS_EQUAL, false },
        { "!=", MF_IS_DIFFERENT, false },
        { "<=", MF_IS_AT_MOST, false },
        { ">=", MF_IS_AT_LEAST, false },
        { "<", MF_IS_LESS, false },
        { ">", MF_IS_GREATER, false },
        { NULL, 0, false },
    };
    struct node *node = operation(parser, sum, list, false);

    return take_in(parser) ? parse_two(MF_IS_IN, node, sum(parser)) : node;
}

static struct node *both(struct parser *parser)
{
    static const struct operator list[] = { { "&&", MF_IS_AND, false },
                                            { NULL, 0, false } };

    return operation(parser, comparison, list, true);
}

static struct node *either(struct parser *parser)
{
    static const struct operator list[] = { { "||", MF_IS_OR, false },
                                            { NULL, 0, false } };

    return operation(parser, both, list, true);
}

struct node *parse_choice(struct parser *parser)
{
    struct node *node, *yes;

    if (parser->failed)
        return parse_node(MF_IS_NULL, NULL);
    node = either(parser);
    if (parser->failed || !parse_sign(parser, "?"))
        return node;
    yes = parse_choice(parser);
    parse_expect(parser, ":");
    yes->next = parse_choice(parser);
    node->next = yes;
    return parse_node(MF_IS_CHOICE, node);
}

/* ---- whole expressions ---- */

struct node *expression_take(struct expression *expression, struct text *text)
{
    struct parser parser = { .of = expression, .rest = *text };
    struct node *node = parse_choice(&parser);

    parse_spaces(&parser);
    *text = parser.rest;
    return parser.failed ? NULL : node;
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

bool expression_is_constant(struct text text)
{
    text = trimmed(text);
    if (text_is(text, "true") || text_is(text, "false"))
        return true;
    for (size_t i = 0; i < text.size; i++)
        if (!parse_is_digit(text.at[i]))
            return false;
    return text.size > 0;
}
