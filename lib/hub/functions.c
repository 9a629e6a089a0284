/* SPDX-License-Identifier: MIT
 *
 * functions.c - what expressions of recipes can call
 *
 * docs/rows.md says what each is for.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/str.h"
#include "lib/hub/evaluate.h"

/* ---- of names ---- */

/* first(a, b): the value of the first that config.json has, null or not. */
static const struct mf_node *first(struct mf_parser *parser)
{
    const char *start = parser->rest.at;
    const struct mf_node *value = NULL, *next;
    struct mf_node *none;

    do {
        next = mf_parser_path(parser);
        value = value ? value : next;
    } while (mf_parser_take(parser, ","));
    if (value)
        return value;
    none = mf_arena_take(parser->recipe->arena, sizeof(*none));
    if (!none)
        return mf_parser_value(parser, NULL);
    *none =
        (struct mf_node){ .key = { start, (size_t)(parser->rest.at - start) } };
    return none;
}

/* get(a, X): the value of a, which may be null, or X where it is missing. */
static const struct mf_node *get(struct mf_parser *parser)
{
    const struct mf_node *value = mf_parser_path(parser), *other;
    bool live = parser->live;

    mf_parser_expect(parser, ",");
    parser->live = live && !value;
    other = mf_parser_choice(parser);
    parser->live = live && !parser->failed;
    return value ? value : other;
}

static const struct mf_node *has(struct mf_parser *parser)
{
    return mf_node_of_bool(mf_parser_path(parser));
}

/* ---- of an expression that is computed again and again ---- */

static struct mf_recipe_let *push(struct mf_recipe *recipe, struct mf_str name)
{
    assert(recipe->lets < MF_RECIPE_LETS);
    recipe->let[recipe->lets] = (struct mf_recipe_let){ name, NULL };
    return &recipe->let[recipe->lets++];
}

/* The rest of the call once for each value; for none it is only parsed. */
static const struct mf_node *repeat(struct mf_parser *parser,
                                    struct mf_str name,
                                    const struct mf_node *list, int64_t count)
{
    struct mf_recipe *recipe = parser->recipe;
    struct mf_recipe_let *let = push(recipe, name);
    const struct mf_node *item = list ? list->first : NULL, *value;
    struct mf_str start = parser->rest;
    struct mf_node_list out;
    bool live = parser->live;
    int64_t i = 0;

    if (!mf_list_begin(recipe, &out))
        mf_parser_value(parser, NULL); /* the rest is only parsed */
    do {
        parser->live = parser->live && i < count;
        parser->rest = start;
        let->value =
            item && parser->live
                ? item
                : mf_parser_value(parser, mf_node_of_int(recipe->arena, i));
        value = mf_parser_choice(parser);
        if (parser->live && !mf_list_add(recipe, &out, value))
            mf_parser_value(parser, NULL);
        item = item ? item->next : NULL;
    } while (parser->live && ++i < count);
    parser->live = live && !parser->failed;
    recipe->lets--;
    return out.node ? out.node : &mf_node_null;
}

/* each(i, N, X): the list of X for i from 0 to N - 1. */
static const struct mf_node *each(struct mf_parser *parser)
{
    struct mf_str name = mf_parser_name(parser);
    const struct mf_node *value;
    int64_t count = 0;

    mf_parser_expect(parser, ",");
    value = mf_parser_choice(parser);
    mf_parser_expect(parser, ",");
    if (parser->live && !mf_node_int(value, &count))
        mf_parser_wrong(parser, value, "a whole number");
    return repeat(parser, name, NULL, count);
}

/* map(x, LIST, X): the list of X for each x of the list. */
static const struct mf_node *map(struct mf_parser *parser)
{
    struct mf_str name = mf_parser_name(parser);
    const struct mf_node *list;

    mf_parser_expect(parser, ",");
    list = mf_parser_choice(parser);
    mf_parser_expect(parser, ",");
    if (parser->live && list->kind != MF_NODE_ARRAY)
        mf_parser_wrong(parser, list, "a list");
    return repeat(parser, name, list,
                  list->kind == MF_NODE_ARRAY ? (int64_t)list->count : 0);
}

/* A list, and what X is for each of its elements; false: nothing is computed.
 */
static bool flag(struct mf_parser *parser, const struct mf_node **list,
                 const struct mf_node **flags)
{
    struct mf_parser before = *parser;

    *flags = map(parser);
    if (!parser->live)
        return false;
    mf_parser_name(&before);
    mf_parser_expect(&before, ",");
    *list = mf_parser_choice(&before);
    return true;
}

/* pick(x, LIST, X): the first x of the list for which X holds, or null.  X is
 * computed for all of them. */
static const struct mf_node *pick(struct mf_parser *parser)
{
    const struct mf_node *flags, *list, *each, *item;

    if (!flag(parser, &list, &flags))
        return &mf_node_null;
    for (each = flags->first, item = list->first; each && item;
         each = each->next, item = item->next)
        if (mf_node_holds(each))
            return item;
    return &mf_node_null;
}

/* only(x, LIST, X): the list of those x. */
static const struct mf_node *only(struct mf_parser *parser)
{
    const struct mf_node *flags, *list, *each, *item;
    struct mf_node_list out;

    if (!flag(parser, &list, &flags))
        return &mf_node_null;
    if (!mf_list_begin(parser->recipe, &out))
        return mf_parser_value(parser, NULL);
    for (each = flags->first, item = list->first; each && item;
         each = each->next, item = item->next)
        if (mf_node_holds(each) && !mf_list_add(parser->recipe, &out, item))
            return mf_parser_value(parser, NULL);
    return out.node;
}

/* ---- of values ---- */

#define ARGUMENTS 3

static const struct mf_node *whole(struct mf_parser *parser,
                                   const struct mf_node *argument,
                                   double (*compute)(double))
{
    double value;

    if (mf_node_is_int(argument) && argument->kind == MF_NODE_NUMBER)
        return argument;
    if (!mf_node_is_number(argument))
        return mf_parser_wrong(parser, argument, "a number");
    value = compute(mf_node_real(argument));
    if (!(value >= -0x1p63 && value < 0x1p63))
        return mf_parser_wrong(parser, argument, "in the range of integers");
    return mf_parser_value(
        parser, mf_node_of_int(parser->recipe->arena, (int64_t)value));
}

static const struct mf_node *to_int(struct mf_parser *parser,
                                    const struct mf_node *const *argument)
{
    return whole(parser, argument[0], trunc);
}

/* To the even one of two that are as near. */
static const struct mf_node *to_round(struct mf_parser *parser,
                                      const struct mf_node *const *argument)
{
    return whole(parser, argument[0], rint);
}

static const struct mf_node *of_real(struct mf_parser *parser,
                                     const struct mf_node *argument,
                                     double (*compute)(double))
{
    if (!mf_node_is_number(argument))
        return mf_parser_wrong(parser, argument, "a number");
    return mf_parser_value(parser,
                           mf_node_of_real(parser->recipe->arena,
                                           compute(mf_node_real(argument))));
}

static double same(double value)
{
    return value;
}

static const struct mf_node *to_real(struct mf_parser *parser,
                                     const struct mf_node *const *argument)
{
    return of_real(parser, argument[0], same);
}

static const struct mf_node *square_root(struct mf_parser *parser,
                                         const struct mf_node *const *argument)
{
    return of_real(parser, argument[0], sqrt);
}

static const struct mf_node *logarithm(struct mf_parser *parser,
                                       const struct mf_node *const *argument)
{
    return of_real(parser, argument[0], log);
}

static const struct mf_node *to_bool(struct mf_parser *parser,
                                     const struct mf_node *const *argument)
{
    (void)parser;
    return mf_node_of_bool(mf_node_holds(argument[0]));
}

static const struct mf_node *is_set(struct mf_parser *parser,
                                    const struct mf_node *const *argument)
{
    (void)parser;
    return mf_node_of_bool(argument[0]->kind != MF_NODE_NULL);
}

static const struct mf_node *is_list(struct mf_parser *parser,
                                     const struct mf_node *const *argument)
{
    (void)parser;
    return mf_node_of_bool(argument[0]->kind == MF_NODE_ARRAY);
}

static const struct mf_node *is_int(struct mf_parser *parser,
                                    const struct mf_node *const *argument)
{
    (void)parser;
    return mf_node_of_bool(mf_node_is_int(argument[0]));
}

static const struct mf_node *length(struct mf_parser *parser,
                                    const struct mf_node *const *argument)
{
    const struct mf_node *value = argument[0];

    if (value->kind == MF_NODE_STRING)
        return mf_parser_int(parser, (int64_t)value->text.size);
    if (value->kind != MF_NODE_ARRAY && value->kind != MF_NODE_OBJECT)
        return mf_parser_wrong(parser, value, "a list");
    return mf_parser_int(parser, (int64_t)value->count);
}

/* The one of a list's numbers that is beyond the others. */
static const struct mf_node *extreme(struct mf_parser *parser,
                                     const struct mf_node *list, bool greatest)
{
    const struct mf_node *found = list->first;

    if (list->kind != MF_NODE_ARRAY || !found)
        return mf_parser_wrong(parser, list, "a list of numbers");
    for (const struct mf_node *node = list->first; node; node = node->next) {
        if (!mf_node_is_number(node))
            return mf_parser_wrong(parser, list, "a list of numbers");
        if (greatest ? mf_node_real(node) > mf_node_real(found)
                     : mf_node_real(node) < mf_node_real(found))
            found = node;
    }
    return found;
}

static const struct mf_node *maximum(struct mf_parser *parser,
                                     const struct mf_node *const *argument)
{
    return extreme(parser, argument[0], true);
}

static const struct mf_node *minimum(struct mf_parser *parser,
                                     const struct mf_node *const *argument)
{
    return extreme(parser, argument[0], false);
}

/* slice(LIST, FROM, COUNT): as many of the elements as there are. */
static const struct mf_node *slice(struct mf_parser *parser,
                                   const struct mf_node *const *argument)
{
    struct mf_node_list list;
    int64_t from, count, at = 0;

    if (argument[0]->kind != MF_NODE_ARRAY)
        return mf_parser_wrong(parser, argument[0], "a list");
    if (!mf_node_int(argument[1], &from) || !mf_node_int(argument[2], &count))
        return mf_parser_wrong(parser, argument[1], "a whole number");
    if (!mf_list_begin(parser->recipe, &list))
        return mf_parser_value(parser, NULL);
    for (const struct mf_node *node = argument[0]->first; node;
         node = node->next, at++)
        if (at >= from && at - from < count &&
            !mf_list_add(parser->recipe, &list, node))
            return mf_parser_value(parser, NULL);
    return list.node;
}

/* The inverse of the error function: two quotients of polynomials (Giles), then
 * Newton's method. */
static double inverse_error(double y)
{
    static const double a[] = { 0.886226899, -1.645349621, 0.914624893,
                                -0.140543331 };
    static const double b[] = { -2.118377725, 1.442710462, -0.329097515,
                                0.012229801 };
    static const double c[] = { -1.970840454, -1.624906493, 3.429567803,
                                1.641345311 };
    static const double d[] = { 3.543889200, 1.637067800 };
    double z, x;

    if (fabs(y) >= 1)
        return fabs(y) == 1 ? copysign(INFINITY, y) : NAN;
    if (fabs(y) <= 0.7) {
        z = y * y;
        x = y * (((a[3] * z + a[2]) * z + a[1]) * z + a[0]) /
            ((((b[3] * z + b[2]) * z + b[1]) * z + b[0]) * z + 1);
    } else {
        z = sqrt(-log((1 - fabs(y)) / 2));
        x = copysign(((c[3] * z + c[2]) * z + c[1]) * z + c[0], y) /
            ((d[1] * z + d[0]) * z + 1);
    }
    for (int i = 0; i < 3; i++) /* 2 / sqrt(pi) */
        x -= (erf(x) - y) / (1.12837916709551257 * exp(-x * x));
    return x;
}

/* In f32, as PyTorch has it; its erfinv is rounded to the nearest. */
static double normal_quantile(double part)
{
    float half = (float)inverse_error(2 * (float)part - 1);

    return half * 1.41421356237309505F;
}

static const struct mf_node *quantile(struct mf_parser *parser,
                                      const struct mf_node *const *argument)
{
    return of_real(parser, argument[0], normal_quantile);
}

/* ---- the table ---- */

static const struct {
    const char *name;
    size_t arguments;
    mf_call *call;
} functions[] = {
#define FORM(name, arguments, call)
#define FUNCTION(name, arguments, call) { name, sizeof(arguments) - 1, call },
#include "lib/hub/functions.def"
#undef FUNCTION
#undef FORM
};

static const struct mf_node *call(struct mf_parser *parser, size_t row)
{
    const struct mf_node *argument[ARGUMENTS] = { NULL };

    for (size_t i = 0; i < functions[row].arguments; i++) {
        if (i > 0)
            mf_parser_expect(parser, ",");
        argument[i] = mf_parser_choice(parser);
    }
    return parser->live ? functions[row].call(parser, argument) : &mf_node_null;
}

const struct mf_node *mf_parser_call(struct mf_parser *parser,
                                     struct mf_str name)
{
    static const struct {
        const char *name;
        const struct mf_node *(*call)(struct mf_parser *parser);
    } forms[] = {
#define FORM(name, arguments, call) { name, call },
#define FUNCTION(name, arguments, call)
#include "lib/hub/functions.def"
#undef FUNCTION
#undef FORM
    };
    const size_t count = sizeof(functions) / sizeof(*functions);
    const struct mf_node *value = NULL;
    size_t row = 0;

    for (size_t i = 0; i < sizeof(forms) / sizeof(*forms) && !value; i++)
        if (mf_str_is(name, forms[i].name))
            value = forms[i].call(parser);
    while (!value && row < count && !mf_str_is(name, functions[row].name))
        row++;
    assert(value || row < count); /* in a row, not in a file */
    if (!value)
        value = call(parser, row);
    mf_parser_expect(parser, ")");
    return value;
}
