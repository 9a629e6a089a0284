/* SPDX-License-Identifier: MIT
 *
 * operators.c - what the operators of expressions give, as Python has it
 */
#include <math.h>

#include "lib/base/str.h"
#include "lib/hf/hub/evaluate.h"

static const struct mf_node *too_large(struct mf_eval *eval)
{
    mf_fail(eval->recipe->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
            "'%s': a number that is computed from it is out of range",
            mf_recipe_file(eval->recipe));
    return mf_eval_value(eval, NULL);
}

const struct mf_node *mf_eval_int(struct mf_eval *eval, int64_t value)
{
    return mf_eval_value(eval, mf_node_of_int(eval->recipe->arena, value));
}

const struct mf_node *mf_eval_real(struct mf_eval *eval, double value)
{
    return mf_eval_value(eval, mf_node_of_real(eval->recipe->arena, value));
}

/* A value that is as config.json has it knows its key; another one is named by
 * the expression that gives it. */
static const struct mf_node *by_zero(struct mf_eval *eval,
                                     const struct mf_node *divisor)
{
    struct mf_str name = divisor->key.size > 0 ? divisor->key : eval->operand;

    mf_fail(eval->recipe->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
            "'%s': '%s' is 0, but other numbers are divided by it",
            mf_recipe_file(eval->recipe), mf_quote(name).text);
    return mf_eval_value(eval, NULL);
}

static const struct mf_node *
divide(struct mf_eval *eval, enum mf_code_kind kind, int64_t a, int64_t b)
{
    int64_t quotient, rest;

    if (a == INT64_MIN && b == -1)
        return too_large(eval);
    if (kind == MF_IS_DIVIDE)
        return mf_eval_real(eval, (double)a / (double)b);
    quotient = a / b;
    rest = a % b;
    if (rest != 0 && (rest < 0) != (b < 0)) { /* as Python rounds: down */
        quotient--;
        rest += b;
    }
    return mf_eval_int(eval, kind == MF_IS_REMAINDER ? rest : quotient);
}

static const struct mf_node *power(struct mf_eval *eval, int64_t base,
                                   int64_t exponent)
{
    int64_t value = 1;

    if (exponent < 0)
        return mf_eval_real(eval, pow((double)base, (double)exponent));
    if (base >= -1 && base <= 1 && exponent > 2)
        exponent = exponent % 2 ? 1 : 2; /* the others change nothing */
    for (; exponent > 0; exponent--)
        if (__builtin_mul_overflow(value, base, &value))
            return too_large(eval);
    return mf_eval_int(eval, value);
}

static const struct mf_node *
compute_ints(struct mf_eval *eval, enum mf_code_kind kind, int64_t a, int64_t b)
{
    int64_t value = 0;
    bool over;

    if (kind == MF_IS_DIVIDE || kind == MF_IS_QUOTIENT ||
        kind == MF_IS_REMAINDER)
        return divide(eval, kind, a, b);
    if (kind == MF_IS_POWER)
        return power(eval, a, b);
    over = kind == MF_IS_ADD        ? __builtin_add_overflow(a, b, &value)
           : kind == MF_IS_SUBTRACT ? __builtin_sub_overflow(a, b, &value)
                                    : __builtin_mul_overflow(a, b, &value);
    return over ? too_large(eval) : mf_eval_int(eval, value);
}

static const struct mf_node *
compute_reals(struct mf_eval *eval, enum mf_code_kind kind, double a, double b)
{
    return mf_eval_real(eval, kind == MF_IS_ADD         ? a + b
                              : kind == MF_IS_SUBTRACT  ? a - b
                              : kind == MF_IS_MULTIPLY  ? a * b
                              : kind == MF_IS_DIVIDE    ? a / b
                              : kind == MF_IS_QUOTIENT  ? floor(a / b)
                              : kind == MF_IS_REMAINDER ? a - b * floor(a / b)
                                                        : pow(a, b));
}

static bool add_all(struct mf_eval *eval, struct mf_node_list *list,
                    const struct mf_node *from)
{
    for (const struct mf_node *node = from->first; node; node = node->next)
        if (!mf_list_add(eval->recipe, list, node))
            return false;
    return true;
}

/* The lists one after the other, or one so many times. */
static const struct mf_node *join_lists(struct mf_eval *eval,
                                        const struct mf_node *a,
                                        const struct mf_node *b, int64_t times)
{
    struct mf_node_list list;

    if (!mf_list_begin(eval->recipe, &list))
        return mf_eval_value(eval, NULL);
    for (int64_t i = 0; i < times && a->count > 0; i++)
        if (!add_all(eval, &list, a))
            return mf_eval_value(eval, NULL);
    return b && !add_all(eval, &list, b) ? mf_eval_value(eval, NULL)
                                         : mf_eval_value(eval, list.node);
}

static const struct mf_node *join_texts(struct mf_eval *eval, struct mf_str a,
                                        struct mf_str b)
{
    char *text = mf_arena_text(eval->recipe->arena, a.size + b.size);

    if (!text)
        return mf_eval_value(eval, NULL);
    memcpy(text, a.at, a.size);
    memcpy(text + a.size, b.at, b.size);
    return mf_eval_value(
        eval, mf_node_of_text(eval->recipe->arena,
                              (struct mf_str){ text, a.size + b.size }));
}

static const struct mf_node *compute(struct mf_eval *eval,
                                     enum mf_code_kind kind,
                                     const struct mf_node *a,
                                     const struct mf_node *b)
{
    int64_t x, y;

    if (a->kind == MF_NODE_ARRAY && b->kind == MF_NODE_ARRAY &&
        kind == MF_IS_ADD)
        return join_lists(eval, a, b, 1);
    if (a->kind == MF_NODE_STRING && b->kind == MF_NODE_STRING &&
        kind == MF_IS_ADD)
        return join_texts(eval, a->text, b->text);
    if (a->kind == MF_NODE_ARRAY && kind == MF_IS_MULTIPLY &&
        mf_node_int(b, &y))
        return join_lists(eval, a, NULL, y);
    if (!mf_node_is_number(a) || !mf_node_is_number(b))
        return mf_eval_wrong(eval, mf_node_is_number(a) ? b : a, "a number");
    if (mf_node_real(b) == 0 &&
        (kind == MF_IS_DIVIDE || kind == MF_IS_QUOTIENT ||
         kind == MF_IS_REMAINDER))
        return by_zero(eval, b);
    if (mf_node_int(a, &x) && mf_node_int(b, &y))
        return compute_ints(eval, kind, x, y);
    return compute_reals(eval, kind, mf_node_real(a), mf_node_real(b));
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

static const struct mf_node *compare(struct mf_eval *eval,
                                     enum mf_code_kind kind,
                                     const struct mf_node *a,
                                     const struct mf_node *b)
{
    double x, y;

    if (kind == MF_IS_EQUAL || kind == MF_IS_DIFFERENT)
        return mf_node_of_bool(mf_node_equal(a, b) == (kind == MF_IS_EQUAL));
    if (kind == MF_IS_IN)
        return mf_node_of_bool(mf_eval_may_walk(eval, b) && contains(b, a));
    if (!mf_node_is_number(a) || !mf_node_is_number(b))
        return mf_eval_wrong(eval, mf_node_is_number(a) ? b : a, "a number");
    x = mf_node_real(a);
    y = mf_node_real(b);
    return mf_node_of_bool(kind == MF_IS_LESS      ? x < y
                           : kind == MF_IS_AT_MOST ? x <= y
                           : kind == MF_IS_GREATER ? x > y
                                                   : x >= y);
}

const struct mf_node *mf_eval_operator(struct mf_eval *eval,
                                       enum mf_code_kind kind,
                                       const struct mf_node *a,
                                       const struct mf_node *b)
{
    if (eval->failed)
        return &mf_node_null;
    return kind >= MF_IS_EQUAL ? compare(eval, kind, a, b)
                               : compute(eval, kind, a, b);
}
