/* SPDX-License-Identifier: MIT
 *
 * expression.c - the expressions of rows, read to see that they are ones
 *
 * A descent with one function per level of precedence.
 */
#include "lib/rows/maker/expression.h"

#include <string.h>

struct parser {
    struct expression *of;
    struct text rest;
    bool failed;
};

static struct node *choice(struct parser *parser);

/* ---- nodes ---- */

/* Of the machine that builds; they live as long as the program. */
static struct node *new_node(enum mf_code_kind kind, struct node *child)
{
    struct node *node = take_memory(NULL, sizeof(*node));

    *node = (struct node){ .kind = kind, .letter = 'x', .child = child };
    return node;
}

static struct node *of_text(enum mf_code_kind kind, struct text text)
{
    struct node *node = new_node(kind, NULL);

    node->text = text;
    return node;
}

static struct node *of_two(enum mf_code_kind kind, struct node *a,
                           struct node *b)
{
    struct node *node = new_node(kind, a);

    a->next = b;
    return node;
}

static struct text since(const struct parser *parser, const char *start)
{
    return trimmed((struct text){ start, (size_t)(parser->rest.at - start) });
}

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
    struct node *out = of_text(MF_IS_NAME, take_name(parser));
    struct node **last = &out->child;

    use_name(parser, out->text);
    while (parser->of->json && take(parser, ".")) {
        *last = of_text(MF_IS_NAME, take_member(parser));
        last = &(*last)->next;
    }
    return out;
}

/* Up to a comma or the bracket that closes. */
static struct text bare_text(struct parser *parser, bool tensor)
{
    struct text text;

    skip_spaces(parser);
    text = (struct text){ parser->rest.at, 0 };
    while (text.size < parser->rest.size && !strchr(",) ", text.at[text.size]))
        text.size++;
    if (text.size == 0)
        fail(parser, "a word");
    else if (tensor && parser->of->tensor && !parser->failed)
        parser->of->tensor(parser->of->user, parser->of->row, text);
    skip(parser, text.size);
    return text;
}

static struct node *argument(struct parser *parser, char letter)
{
    struct node *out;

    if (letter == 'x')
        return choice(parser);
    if (letter == 'p')
        out = path(parser);
    else if (letter == 'k' || letter == 'n')
        out = of_text(MF_IS_NAME, take_name(parser));
    else
        out = of_text(MF_IS_TEXT, bare_text(parser, letter == 'w'));
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
        if (letters[0] == '+' && !take(parser, ","))
            break;
        if (first && letters[0] != '+')
            expect(parser, ",");
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
    struct node *out = new_node(MF_IS_CALL, NULL);

    while (function->name && !text_is(name, function->name))
        function++;
    if (function->name) {
        out->number = (size_t)(function - parser->of->functions);
        out->child = arguments(parser, function->arguments);
        out->text = since(parser, start);
        expect(parser, ")");
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

static struct node *number(struct parser *parser)
{
    const char *more = parser->of->json ? ".e" : "";
    struct text text = { parser->rest.at, 0 };
    bool real = false;

    while (text.size < parser->rest.size) {
        char c = text.at[text.size];
        bool sign = text.size > 0 && (c == '-' || c == '+') &&
                    text.at[text.size - 1] == 'e';

        if (!is_digit(c) && !(c && strchr(more, c)) && !sign)
            break;
        real = real || !is_digit(c);
        text.size++;
    }
    skip(parser, text.size);
    if (parser->rest.size > 0 && is_in_name(parser, *parser->rest.at))
        fail(parser, "the end of a number");
    return of_text(real ? MF_IS_REAL : MF_IS_NUMBER, text);
}

static struct node *quoted(struct parser *parser)
{
    struct text text = parser->rest;
    const char *end = memchr(text.at, '"', text.size);

    if (!end) {
        fail(parser, "'\"'");
        return of_text(MF_IS_TEXT, text);
    }
    text.size = (size_t)(end - text.at);
    skip(parser, text.size + 1);
    return of_text(MF_IS_TEXT, text);
}

static struct node *listed(struct parser *parser)
{
    struct node *list = new_node(MF_IS_LIST, NULL), **last = &list->child;

    if (take(parser, "]"))
        return list;
    do {
        *last = choice(parser);
        last = &(*last)->next;
        list->number++;
    } while (take(parser, ","));
    expect(parser, "]");
    return list;
}

/* "cur[0]" */
static struct node *length(struct parser *parser, struct text name)
{
    struct node *node = of_text(MF_IS_LENGTH, name);

    parser->of->length(parser->of->user, parser->of->row, name);
    if (parser->rest.size == 0 || *parser->rest.at < '0' ||
        *parser->rest.at > '3')
        fail(parser, "a number from 0 to 3");
    else
        node->number = (size_t)(*parser->rest.at - '0');
    skip(parser, parser->rest.size > 0);
    expect(parser, "]");
    return node;
}

static struct node *named(struct parser *parser)
{
    struct text name = take_name(parser);

    if (take(parser, "("))
        return call(parser, name);
    if (parser->of->length && take(parser, "["))
        return length(parser, name);
    if (parser->of->json && text_is(name, "true"))
        return new_node(MF_IS_TRUE, NULL);
    if (parser->of->json && text_is(name, "false"))
        return new_node(MF_IS_FALSE, NULL);
    if (parser->of->json && text_is(name, "null"))
        return new_node(MF_IS_NULL, NULL);
    use_name(parser, name);
    return of_text(MF_IS_NAME, name);
}

static struct node *primary(struct parser *parser)
{
    struct node *node;

    skip_spaces(parser);
    if (parser->rest.size > 0 && is_digit(*parser->rest.at))
        return number(parser);
    if (parser->of->json && take(parser, "\""))
        return quoted(parser);
    if (parser->of->json && take(parser, "["))
        return listed(parser);
    if (!take(parser, "("))
        return named(parser);
    node = choice(parser);
    expect(parser, ")");
    return node;
}

static struct node *postfix(struct parser *parser)
{
    struct node *node = primary(parser);

    while (parser->of->json && !parser->failed)
        if (take(parser, ".")) {
            node = new_node(MF_IS_MEMBER, node);
            node->text = take_member(parser);
        } else if (take(parser, "[")) {
            node = of_two(MF_IS_ELEMENT, node, choice(parser));
            expect(parser, "]");
        } else {
            break;
        }
    return node;
}

/* ---- operators ---- */

static struct node *signed_value(struct parser *parser)
{
    struct node *node;

    if (take(parser, "!"))
        return new_node(MF_IS_NOT, signed_value(parser));
    if (take(parser, "-"))
        return new_node(MF_IS_MINUS, signed_value(parser));
    node = postfix(parser);
    return parser->of->json && take(parser, "**")
               ? of_two(MF_IS_POWER, node, signed_value(parser))
               : node;
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

        if ((each->json && !parser->of->json) || !take(parser, each->sign)) {
            each++;
            continue;
        }
        start = parser->rest.at;
        node = of_two(each->kind, node, operand(parser));
        node->text = since(parser, start);
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
    if (!parser->of->json || !(skip_spaces(parser), true) ||
        !text_begins(parser->rest, "in") ||
        (parser->rest.size > 2 && is_in_name(parser, parser->rest.at[2])))
        return false;
    skip(parser, 2);
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

    return take_in(parser) ? of_two(MF_IS_IN, node, sum(parser)) : node;
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

static struct node *choice(struct parser *parser)
{
    struct node *node, *yes;

    if (parser->failed)
        return new_node(MF_IS_NULL, NULL);
    node = either(parser);
    if (parser->failed || !take(parser, "?"))
        return node;
    yes = choice(parser);
    expect(parser, ":");
    yes->next = choice(parser);
    node->next = yes;
    return new_node(MF_IS_CHOICE, node);
}

/* ---- whole expressions ---- */

struct node *expression_take(struct expression *expression, struct text *text)
{
    struct parser parser = { .of = expression, .rest = *text };
    struct node *node = choice(&parser);

    skip_spaces(&parser);
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
