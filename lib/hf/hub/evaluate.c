/* SPDX-License-Identifier: MIT
 *
 * evaluate.c - the values of expressions in recipes
 *
 * What is not needed (the other side of ?:, && and ||) is passed over.  Only
 * rows, which are part of this library, decide how deep the recursion goes,
 * never a file.
 */
#include "lib/hf/hub/evaluate.h"

#include <stdio.h>

#include "lib/base/decimal.h"
#include "lib/base/str.h"

/* ---- failing ---- */

const struct mf_node *mf_eval_value(struct mf_eval *eval,
                                    const struct mf_node *value)
{
    if (value)
        return value;
    eval->failed = true;
    return &mf_node_null;
}

const struct mf_node *mf_eval_wrong(struct mf_eval *eval,
                                    const struct mf_node *value,
                                    const char *wanted)
{
    mf_recipe_wrong(eval->recipe, value, wanted);
    return mf_eval_value(eval, NULL);
}

bool mf_eval_may_walk(struct mf_eval *eval, const struct mf_node *node)
{
    const char *mark = node->key.at ? "'" : "";

    if (node->count <= MF_RECIPE_LIST)
        return true;
    mf_fail(eval->recipe->env, MF_ERR_LIMIT, node->offset,
            "'%s': %s%s%s has %" PRIu64
            " elements, at most %d are looked through",
            mf_recipe_file(eval->recipe), mark,
            node->key.at ? mf_quote(node->key).text : "the file", mark,
            node->count, MF_RECIPE_LIST);
    mf_eval_value(eval, NULL);
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

const struct mf_node *mf_eval_missing(struct mf_eval *eval, struct mf_str name)
{
    struct mf_node *node = mf_arena_take(eval->recipe->arena, sizeof(*node));

    if (!node)
        return mf_eval_value(eval, NULL);
    *node = (struct mf_node){ .kind = MF_NODE_NULL, .key = name };
    return node;
}

/* Notes what a value is about: a field, or what a `let` is about. */
static const struct mf_node *field(struct mf_eval *eval, struct mf_str name)
{
    struct mf_recipe *recipe = eval->recipe;

    if (!mf_eval_may_walk(eval, recipe->config))
        return NULL;
    for (size_t i = recipe->lets; i-- > 0;)
        if (mf_str_same(recipe->let[i].name, name)) {
            if (recipe->let[i].about.at)
                recipe->about = recipe->let[i].about;
            return recipe->let[i].value;
        }
    recipe->about = name;
    return mf_node_get(recipe->config, name);
}

static const struct mf_node *
member(struct mf_eval *eval, const struct mf_node *object, struct mf_str name)
{
    if (!object || !mf_eval_may_walk(eval, object))
        return NULL;
    eval->recipe->about = name;
    return mf_node_get(object, name);
}

const struct mf_node *mf_eval_path(struct mf_eval *eval)
{
    const struct mf_node *value;
    unsigned left;

    mf_code_byte(&eval->code); /* its kind */
    left = mf_code_byte(&eval->code);
    value = field(eval, mf_code_text(&eval->code));
    while (--left > 0)
        value = member(eval, value, mf_code_text(&eval->code));
    return value;
}

/* ---- values ---- */

static const struct mf_node *name(struct mf_eval *eval)
{
    struct mf_str text = mf_code_text(&eval->code);
    const struct mf_node *value = field(eval, text);

    return value ? value : mf_eval_missing(eval, text);
}

static const struct mf_node *member_of(struct mf_eval *eval)
{
    struct mf_str text = mf_code_text(&eval->code);
    const struct mf_node *value = member(eval, mf_eval_next(eval), text);

    return value ? value : mf_eval_missing(eval, text);
}

static const struct mf_node *listed(struct mf_eval *eval)
{
    unsigned left = mf_code_byte(&eval->code);
    struct mf_node_list list;

    if (!mf_list_begin(eval->recipe, &list))
        return mf_eval_value(eval, NULL);
    for (; left > 0 && !eval->failed; left--) {
        const struct mf_node *value = mf_eval_next(eval);

        if (!eval->failed && !mf_list_add(eval->recipe, &list, value))
            mf_eval_value(eval, NULL);
    }
    return list.node;
}

/* One byte of a text. */
static const struct mf_node *letter(struct mf_eval *eval,
                                    const struct mf_node *text,
                                    const struct mf_node *index)
{
    int64_t at;

    if (!mf_node_int(index, &at) || at < 0 || (uint64_t)at >= text->text.size)
        return mf_eval_wrong(eval, text, "a longer text");
    return mf_eval_value(
        eval, mf_node_of_text(eval->recipe->arena,
                              (struct mf_str){ text->text.at + at, 1 }));
}

/* The member whose name is the text, or the number. */
static const struct mf_node *member_at(struct mf_eval *eval,
                                       const struct mf_node *object,
                                       const struct mf_node *index)
{
    const struct mf_node *node;
    char key[24];
    int64_t at;
    int size;

    if (index->kind == MF_NODE_STRING) {
        node = mf_node_get(object, index->text);
        return node ? node : mf_eval_missing(eval, index->text);
    }
    if (!mf_node_int(index, &at))
        return mf_eval_wrong(eval, object, "a list");
    size = snprintf(key, sizeof(key), "%" PRId64, at);
    node = mf_node_get(object, (struct mf_str){ key, (size_t)size });
    return node ? node : &mf_node_null;
}

/* A list's element; from the end where the number is negative. */
static const struct mf_node *element(struct mf_eval *eval)
{
    const struct mf_node *list = mf_eval_next(eval);
    const struct mf_node *index = mf_eval_next(eval), *node = list->first;
    int64_t at;

    if (eval->failed)
        return &mf_node_null;
    if (list->kind == MF_NODE_STRING)
        return letter(eval, list, index);
    if (!mf_eval_may_walk(eval, list))
        return &mf_node_null;
    if (list->kind == MF_NODE_OBJECT)
        return member_at(eval, list, index);
    if (list->kind != MF_NODE_ARRAY)
        return mf_eval_wrong(eval, list, "a list");
    if (!mf_node_int(index, &at))
        return mf_eval_wrong(eval, index, "a whole number");
    if (at < 0)
        at += (int64_t)list->count;
    if (at < 0 || (uint64_t)at >= list->count) {
        mf_fail(eval->recipe->env, MF_ERR_CORRUPT, list->offset,
                "'%s': the list '%s' has %" PRIu64
                " elements, which are too few",
                mf_recipe_file(eval->recipe), mf_quote(list->key).text,
                list->count);
        return mf_eval_value(eval, NULL);
    }
    while (at-- > 0)
        node = node->next;
    return node;
}

/* ---- operators ---- */

static const struct mf_node *negative(struct mf_eval *eval)
{
    const struct mf_node *value = mf_eval_next(eval);

    if (!eval->failed && mf_node_is_number(value) && !mf_node_is_int(value))
        return mf_eval_real(eval, -value->number.f64);
    return mf_eval_operator(eval, MF_IS_SUBTRACT, mf_eval_int(eval, 0), value);
}

/* As in Python, the value of the side that decides. */
static const struct mf_node *logic(struct mf_eval *eval, bool decides)
{
    size_t size = mf_code_two(&eval->code);
    const struct mf_node *value = mf_eval_next(eval);

    if (eval->failed)
        return &mf_node_null;
    if (mf_node_holds(value) != decides)
        return mf_eval_next(eval);
    mf_code_bytes(&eval->code, size);
    return value;
}

static const struct mf_node *choice(struct mf_eval *eval)
{
    size_t yes = mf_code_two(&eval->code), no = mf_code_two(&eval->code);
    const struct mf_node *value = mf_eval_next(eval);

    if (eval->failed)
        return &mf_node_null;
    if (!mf_node_holds(value)) {
        mf_code_bytes(&eval->code, yes);
        return mf_eval_next(eval);
    }
    value = mf_eval_next(eval);
    mf_code_bytes(&eval->code, no);
    return value;
}

/* Its operands are computed from the left. */
static const struct mf_node *operation(struct mf_eval *eval,
                                       enum mf_code_kind kind)
{
    struct mf_str divisor = { "", 0 };
    const struct mf_node *a, *b;

    if (kind == MF_IS_DIVIDE || kind == MF_IS_QUOTIENT ||
        kind == MF_IS_REMAINDER)
        divisor = mf_code_text(&eval->code);
    a = mf_eval_next(eval);
    b = mf_eval_next(eval);
    eval->operand = divisor;
    return eval->failed ? &mf_node_null : mf_eval_operator(eval, kind, a, b);
}

const struct mf_node *mf_eval_next(struct mf_eval *eval)
{
    struct mf_arena *arena = eval->recipe->arena;
    enum mf_code_kind kind;

    if (eval->failed)
        return &mf_node_null;
    kind = (enum mf_code_kind)mf_code_byte(&eval->code);
    switch (kind) {
    case MF_IS_NUMBER:
        return mf_eval_int(eval, mf_code_number(&eval->code));
    case MF_IS_REAL:
        return mf_eval_real(eval,
                            mf_decimal_read(mf_code_text(&eval->code).at));
    case MF_IS_TEXT:
        return mf_eval_value(eval,
                             mf_node_of_text(arena, mf_code_text(&eval->code)));
    case MF_IS_NULL:
        return &mf_node_null;
    case MF_IS_TRUE:
    case MF_IS_FALSE:
        return mf_node_of_bool(kind == MF_IS_TRUE);
    case MF_IS_NAME:
        return name(eval);
    case MF_IS_MEMBER:
        return member_of(eval);
    case MF_IS_ELEMENT:
        return element(eval);
    case MF_IS_LIST:
        return listed(eval);
    case MF_IS_NOT:
        return mf_node_of_bool(!mf_node_holds(mf_eval_next(eval)));
    case MF_IS_MINUS:
        return negative(eval);
    case MF_IS_AND:
    case MF_IS_OR:
        return logic(eval, kind == MF_IS_OR);
    case MF_IS_CHOICE:
        return choice(eval);
    case MF_IS_CALL:
        return mf_eval_call(eval);
    default:
        return operation(eval, kind);
    }
}

/* ---- for rows ---- */

const struct mf_node *mf_recipe_take(struct mf_recipe *recipe,
                                     struct mf_code *code)
{
    struct mf_eval eval = { .recipe = recipe, .code = *code };
    const struct mf_node *value;

    recipe->about = (struct mf_str){ NULL, 0 };
    value = mf_eval_next(&eval);
    *code = eval.code;
    return eval.failed ? NULL : value;
}
