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
#include "lib/hf/hub/evaluate.h"

/* ---- of names ---- */

/* first(a, b): the value of the first that config.json has, null or not. */
static const struct mf_node *first(struct mf_eval *eval, unsigned count)
{
    const struct mf_node *value = NULL;

    for (; count > 0 && !value; count--)
        value = mf_eval_path(eval);
    if (value)
        return value;
    return mf_eval_missing(eval, mf_code_text(&eval->code)); /* all names */
}

/* get(a, X): the value of a, which may be null, or X where it is missing. */
static const struct mf_node *get(struct mf_eval *eval, unsigned count)
{
    const struct mf_node *value = mf_eval_path(eval);

    (void)count;
    return value ? value : mf_eval_next(eval);
}

static const struct mf_node *has(struct mf_eval *eval, unsigned count)
{
    (void)count;
    return mf_node_of_bool(mf_eval_path(eval));
}

/* ---- of an expression that is computed again and again ---- */

static struct mf_recipe_let *push(struct mf_recipe *recipe, struct mf_str name)
{
    assert(recipe->lets < MF_RECIPE_LETS);
    recipe->let[recipe->lets] = (struct mf_recipe_let){ .name = name };
    return &recipe->let[recipe->lets++];
}

/* The rest of the call once for each element, or for so many numbers. */
static const struct mf_node *repeat(struct mf_eval *eval, struct mf_str name,
                                    const struct mf_node *list, int64_t count)
{
    struct mf_recipe *recipe = eval->recipe;
    struct mf_recipe_let *let = push(recipe, name);
    const struct mf_node *item = list ? list->first : NULL, *value;
    struct mf_code start = eval->code;
    struct mf_node_list out;

    if (!mf_list_begin(recipe, &out))
        mf_eval_value(eval, NULL);
    for (int64_t i = 0; i < count && !eval->failed; i++) {
        eval->code = start;
        let->value =
            item ? item : mf_eval_value(eval, mf_node_of_int(recipe->arena, i));
        value = mf_eval_next(eval);
        if (!eval->failed && !mf_list_add(recipe, &out, value))
            mf_eval_value(eval, NULL);
        item = item ? item->next : NULL;
    }
    recipe->lets--;
    return eval->failed ? &mf_node_null : out.node;
}

/* each(i, N, X): the list of X for i from 0 to N - 1. */
static const struct mf_node *each(struct mf_eval *eval, unsigned arguments)
{
    struct mf_str name = mf_code_argument(&eval->code);
    const struct mf_node *value = mf_eval_next(eval);
    int64_t count = 0;

    (void)arguments;
    if (!eval->failed && !mf_node_int(value, &count))
        mf_eval_wrong(eval, value, "a whole number");
    return repeat(eval, name, NULL, count);
}

/* The list of X for each element of a list, which is given as well. */
static const struct mf_node *map_list(struct mf_eval *eval,
                                      const struct mf_node **list)
{
    struct mf_str name = mf_code_argument(&eval->code);

    *list = mf_eval_next(eval);
    if (!eval->failed && (*list)->kind != MF_NODE_ARRAY)
        mf_eval_wrong(eval, *list, "a list");
    return repeat(eval, name, *list, (int64_t)(*list)->count);
}

/* map(x, LIST, X): the list of X for each x of the list. */
static const struct mf_node *map(struct mf_eval *eval, unsigned count)
{
    const struct mf_node *list;

    (void)count;
    return map_list(eval, &list);
}

/* pick(x, LIST, X): the first x of the list for which X holds, or null.  X is
 * computed for all of them. */
static const struct mf_node *pick(struct mf_eval *eval, unsigned count)
{
    const struct mf_node *list, *flag = map_list(eval, &list)->first;

    (void)count;
    for (const struct mf_node *item = list->first; flag && item;
         flag = flag->next, item = item->next)
        if (mf_node_holds(flag))
            return item;
    return &mf_node_null;
}

/* only(x, LIST, X): the list of those x. */
static const struct mf_node *only(struct mf_eval *eval, unsigned count)
{
    const struct mf_node *list, *flag = map_list(eval, &list)->first;
    struct mf_node_list out;

    (void)count;
    if (eval->failed || !mf_list_begin(eval->recipe, &out))
        return mf_eval_value(eval, NULL);
    for (const struct mf_node *item = list->first; flag && item;
         flag = flag->next, item = item->next)
        if (mf_node_holds(flag) && !mf_list_add(eval->recipe, &out, item))
            return mf_eval_value(eval, NULL);
    return out.node;
}

/* ---- of values ---- */

#define ARGUMENTS 3

static const struct mf_node *whole(struct mf_eval *eval,
                                   const struct mf_node *argument,
                                   double (*compute)(double))
{
    double value;

    if (mf_node_is_int(argument) && argument->kind == MF_NODE_NUMBER)
        return argument;
    if (!mf_node_is_number(argument))
        return mf_eval_wrong(eval, argument, "a number");
    value = compute(mf_node_real(argument));
    if (!(value >= -0x1p63 && value < 0x1p63))
        return mf_eval_wrong(eval, argument, "in the range of integers");
    return mf_eval_value(eval,
                         mf_node_of_int(eval->recipe->arena, (int64_t)value));
}

static const struct mf_node *to_int(struct mf_eval *eval,
                                    const struct mf_node *const *argument)
{
    return whole(eval, argument[0], trunc);
}

/* To the even one of two that are as near. */
static const struct mf_node *to_round(struct mf_eval *eval,
                                      const struct mf_node *const *argument)
{
    return whole(eval, argument[0], rint);
}

static const struct mf_node *of_real(struct mf_eval *eval,
                                     const struct mf_node *argument,
                                     double (*compute)(double))
{
    if (!mf_node_is_number(argument))
        return mf_eval_wrong(eval, argument, "a number");
    return mf_eval_value(
        eval,
        mf_node_of_real(eval->recipe->arena, compute(mf_node_real(argument))));
}

static double same(double value)
{
    return value;
}

static const struct mf_node *to_real(struct mf_eval *eval,
                                     const struct mf_node *const *argument)
{
    return of_real(eval, argument[0], same);
}

static const struct mf_node *square_root(struct mf_eval *eval,
                                         const struct mf_node *const *argument)
{
    return of_real(eval, argument[0], sqrt);
}

static const struct mf_node *logarithm(struct mf_eval *eval,
                                       const struct mf_node *const *argument)
{
    return of_real(eval, argument[0], log);
}

static const struct mf_node *to_bool(struct mf_eval *eval,
                                     const struct mf_node *const *argument)
{
    (void)eval;
    return mf_node_of_bool(mf_node_holds(argument[0]));
}

static const struct mf_node *is_set(struct mf_eval *eval,
                                    const struct mf_node *const *argument)
{
    (void)eval;
    return mf_node_of_bool(argument[0]->kind != MF_NODE_NULL);
}

static const struct mf_node *is_list(struct mf_eval *eval,
                                     const struct mf_node *const *argument)
{
    (void)eval;
    return mf_node_of_bool(argument[0]->kind == MF_NODE_ARRAY);
}

static const struct mf_node *is_int(struct mf_eval *eval,
                                    const struct mf_node *const *argument)
{
    (void)eval;
    return mf_node_of_bool(mf_node_is_int(argument[0]));
}

static const struct mf_node *length(struct mf_eval *eval,
                                    const struct mf_node *const *argument)
{
    const struct mf_node *value = argument[0];

    if (value->kind == MF_NODE_STRING)
        return mf_eval_int(eval, (int64_t)value->text.size);
    if (value->kind != MF_NODE_ARRAY && value->kind != MF_NODE_OBJECT)
        return mf_eval_wrong(eval, value, "a list");
    return mf_eval_int(eval, (int64_t)value->count);
}

/* The one of a list's numbers that is beyond the others. */
static const struct mf_node *extreme(struct mf_eval *eval,
                                     const struct mf_node *list, bool greatest)
{
    const struct mf_node *found = list->first;

    if (list->kind != MF_NODE_ARRAY || !found)
        return mf_eval_wrong(eval, list, "a list of numbers");
    for (const struct mf_node *node = list->first; node; node = node->next) {
        if (!mf_node_is_number(node))
            return mf_eval_wrong(eval, list, "a list of numbers");
        if (greatest ? mf_node_real(node) > mf_node_real(found)
                     : mf_node_real(node) < mf_node_real(found))
            found = node;
    }
    return found;
}

static const struct mf_node *maximum(struct mf_eval *eval,
                                     const struct mf_node *const *argument)
{
    return extreme(eval, argument[0], true);
}

static const struct mf_node *minimum(struct mf_eval *eval,
                                     const struct mf_node *const *argument)
{
    return extreme(eval, argument[0], false);
}

/* slice(LIST, FROM, COUNT): as many of the elements as there are. */
static const struct mf_node *slice(struct mf_eval *eval,
                                   const struct mf_node *const *argument)
{
    struct mf_node_list list;
    int64_t from, count, at = 0;

    if (argument[0]->kind != MF_NODE_ARRAY)
        return mf_eval_wrong(eval, argument[0], "a list");
    if (!mf_node_int(argument[1], &from) || !mf_node_int(argument[2], &count))
        return mf_eval_wrong(eval, argument[1], "a whole number");
    if (!mf_list_begin(eval->recipe, &list))
        return mf_eval_value(eval, NULL);
    for (const struct mf_node *node = argument[0]->first; node;
         node = node->next, at++)
        if (at >= from && at - from < count &&
            !mf_list_add(eval->recipe, &list, node))
            return mf_eval_value(eval, NULL);
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

static const struct mf_node *quantile(struct mf_eval *eval,
                                      const struct mf_node *const *argument)
{
    return of_real(eval, argument[0], normal_quantile);
}

/* ---- the table ---- */

/* A form takes its arguments itself; others get their values. */
static const struct {
    const struct mf_node *(*form)(struct mf_eval *eval, unsigned count);
    mf_call *call;
} functions[] = {
#define FORM(name, arguments, call)     { call, NULL },
#define FUNCTION(name, arguments, call) { NULL, call },
#include "lib/hf/hub/functions.def"
#undef FUNCTION
#undef FORM
};

static const struct mf_node *call(struct mf_eval *eval, mf_call *function,
                                  unsigned count)
{
    const struct mf_node *argument[ARGUMENTS] = { NULL };

    assert(count <= ARGUMENTS); /* in a row, not in a file */
    for (unsigned i = 0; i < count; i++)
        argument[i] = mf_eval_next(eval);
    return eval->failed ? &mf_node_null : function(eval, argument);
}

const struct mf_node *mf_eval_call(struct mf_eval *eval)
{
    unsigned function = mf_code_byte(&eval->code), count;
    struct mf_code after = eval->code;
    const struct mf_node *value;

    mf_code_part(&after);
    mf_code_two(&eval->code);
    count = mf_code_byte(&eval->code);
    value = functions[function].form
                ? functions[function].form(eval, count)
                : call(eval, functions[function].call, count);
    eval->code = after;
    return value;
}
