/* SPDX-License-Identifier: MIT
 *
 * operators.c - what the operators of expressions give, as Python has it
 */
#include <math.h>

#include "lib/base/str.h"
#include "lib/hub/evaluate.h"

static const struct mf_node *too_large(struct mf_parser *parser)
{
    mf_fail(parser->recipe->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
            "'%s': a number that is computed from it is out of range",
            mf_recipe_file(parser->recipe));
    return mf_parser_value(parser, NULL);
}

const struct mf_node *mf_parser_int(struct mf_parser *parser, int64_t value)
{
    return mf_parser_value(parser,
                           mf_node_of_int(parser->recipe->arena, value));
}

const struct mf_node *mf_parser_real(struct mf_parser *parser, double value)
{
    return mf_parser_value(parser,
                           mf_node_of_real(parser->recipe->arena, value));
}

/* A value that is as config.json has it knows its key; another one is named by
 * the expression that gives it. */
static const struct mf_node *by_zero(struct mf_parser *parser,
                                     const struct mf_node *divisor)
{
    struct mf_str name = divisor->key.size > 0 ? divisor->key : parser->operand;

    mf_fail(parser->recipe->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
            "'%s': '%s' is 0, but other numbers are divided by it",
            mf_recipe_file(parser->recipe), mf_quote(name).text);
    return mf_parser_value(parser, NULL);
}

static const struct mf_node *divide(struct mf_parser *parser, char sign,
                                    int64_t a, int64_t b)
{
    int64_t quotient, rest;

    if (a == INT64_MIN && b == -1)
        return too_large(parser);
    if (sign == '/')
        return mf_parser_real(parser, (double)a / (double)b);
    quotient = a / b;
    rest = a % b;
    if (rest != 0 && (rest < 0) != (b < 0)) { /* as Python rounds: down */
        quotient--;
        rest += b;
    }
    return mf_parser_int(parser, sign == '%' ? rest : quotient);
}

static const struct mf_node *power(struct mf_parser *parser, int64_t base,
                                   int64_t exponent)
{
    int64_t value = 1;

    if (exponent < 0)
        return mf_parser_real(parser, pow((double)base, (double)exponent));
    for (; exponent > 0; exponent--) {
        if (__builtin_mul_overflow(value, base, &value))
            return too_large(parser);
        if (value == 0 || value == 1)
            break;
    }
    return mf_parser_int(parser, value);
}

static const struct mf_node *compute_ints(struct mf_parser *parser, char sign,
                                          int64_t a, int64_t b)
{
    int64_t value = 0;
    bool over;

    if (sign == '/' || sign == '|' || sign == '%')
        return divide(parser, sign, a, b);
    if (sign == '^')
        return power(parser, a, b);
    over = sign == '+'   ? __builtin_add_overflow(a, b, &value)
           : sign == '-' ? __builtin_sub_overflow(a, b, &value)
                         : __builtin_mul_overflow(a, b, &value);
    return over ? too_large(parser) : mf_parser_int(parser, value);
}

static const struct mf_node *compute_reals(struct mf_parser *parser, char sign,
                                           double a, double b)
{
    return mf_parser_real(parser, sign == '+'   ? a + b
                                  : sign == '-' ? a - b
                                  : sign == '*' ? a * b
                                  : sign == '/' ? a / b
                                  : sign == '|' ? floor(a / b)
                                  : sign == '%' ? a - b * floor(a / b)
                                                : pow(a, b));
}

static bool add_all(struct mf_parser *parser, struct mf_node_list *list,
                    const struct mf_node *from)
{
    for (const struct mf_node *node = from->first; node; node = node->next)
        if (!mf_list_add(parser->recipe, list, node))
            return false;
    return true;
}

/* The lists one after the other, or one so many times. */
static const struct mf_node *join_lists(struct mf_parser *parser,
                                        const struct mf_node *a,
                                        const struct mf_node *b, int64_t times)
{
    struct mf_node_list list;

    if (!mf_list_begin(parser->recipe, &list))
        return mf_parser_value(parser, NULL);
    for (int64_t i = 0; i < times && a->count > 0; i++)
        if (!add_all(parser, &list, a))
            return mf_parser_value(parser, NULL);
    return b && !add_all(parser, &list, b) ? mf_parser_value(parser, NULL)
                                           : mf_parser_value(parser, list.node);
}

static const struct mf_node *join_texts(struct mf_parser *parser,
                                        struct mf_str a, struct mf_str b)
{
    char *text = mf_arena_text(parser->recipe->arena, a.size + b.size);

    if (!text)
        return mf_parser_value(parser, NULL);
    memcpy(text, a.at, a.size);
    memcpy(text + a.size, b.at, b.size);
    return mf_parser_value(
        parser, mf_node_of_text(parser->recipe->arena,
                                (struct mf_str){ text, a.size + b.size }));
}

const struct mf_node *mf_parser_compute(struct mf_parser *parser, char sign,
                                        const struct mf_node *a,
                                        const struct mf_node *b)
{
    int64_t x, y;

    if (!parser->live)
        return &mf_node_null;
    if (a->kind == MF_NODE_ARRAY && b->kind == MF_NODE_ARRAY && sign == '+')
        return join_lists(parser, a, b, 1);
    if (a->kind == MF_NODE_STRING && b->kind == MF_NODE_STRING && sign == '+')
        return join_texts(parser, a->text, b->text);
    if (a->kind == MF_NODE_ARRAY && sign == '*' && mf_node_int(b, &y))
        return join_lists(parser, a, NULL, y);
    if (!mf_node_is_number(a) || !mf_node_is_number(b))
        return mf_parser_wrong(parser, mf_node_is_number(a) ? b : a,
                               "a number");
    if (mf_node_real(b) == 0 && (sign == '/' || sign == '|' || sign == '%'))
        return by_zero(parser, b);
    if (mf_node_int(a, &x) && mf_node_int(b, &y))
        return compute_ints(parser, sign, x, y);
    return compute_reals(parser, sign, mf_node_real(a), mf_node_real(b));
}

static bool contains(const struct mf_node *list, const struct mf_node *value)
{
    if (list->kind == MF_NODE_OBJECT)
        return value->kind == MF_NODE_STRING && mf_node_get(list, value->text);
    if (list->kind == MF_NODE_STRING)
        return value->kind == MF_NODE_STRING &&
               mf_str_holds(list->text, value->text.at);
    for (const struct mf_node *node = list->first; node; node = node->next)
        if (mf_node_equal(node, value))
            return true;
    return false;
}

const struct mf_node *mf_parser_compare(struct mf_parser *parser,
                                        const char *sign,
                                        const struct mf_node *a,
                                        const struct mf_node *b)
{
    double x, y;

    if (!parser->live)
        return &mf_node_null;
    if (strcmp(sign, "==") == 0 || strcmp(sign, "!=") == 0)
        return mf_node_of_bool(mf_node_equal(a, b) == (*sign == '='));
    if (strcmp(sign, "in") == 0)
        return mf_node_of_bool(mf_parser_may_walk(parser, b) && contains(b, a));
    if (!mf_node_is_number(a) || !mf_node_is_number(b))
        return mf_parser_wrong(parser, mf_node_is_number(a) ? b : a,
                               "a number");
    x = mf_node_real(a);
    y = mf_node_real(b);
    return mf_node_of_bool(strcmp(sign, "<") == 0    ? x < y
                           : strcmp(sign, "<=") == 0 ? x <= y
                           : strcmp(sign, ">") == 0  ? x > y
                                                     : x >= y);
}
