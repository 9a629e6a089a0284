/* SPDX-License-Identifier: MIT
 *
 * value.c - values of recipes: nodes of JSON
 */
#include <stdio.h>

#include "lib/base/decimal.h"
#include "lib/base/str.h"
#include "lib/hf/hub/recipe.h"

const struct mf_node mf_node_null = { .kind = MF_NODE_NULL };
const struct mf_node mf_node_true = { .kind = MF_NODE_TRUE };
const struct mf_node mf_node_false = { .kind = MF_NODE_FALSE };

static struct mf_node *new_node(struct mf_arena *arena, enum mf_node_kind kind)
{
    struct mf_node *node = mf_arena_take(arena, sizeof(*node));

    if (node)
        *node = (struct mf_node){ .kind = kind };
    return node;
}

const struct mf_node *mf_node_of_int(struct mf_arena *arena, int64_t value)
{
    struct mf_node *node = new_node(arena, MF_NODE_NUMBER);

    if (node) {
        node->type = value < 0 ? MF_VALUE_I64 : MF_VALUE_U64;
        node->number.i64 = value;
    }
    return node;
}

const struct mf_node *mf_node_of_real(struct mf_arena *arena, double value)
{
    struct mf_node *node = new_node(arena, MF_NODE_NUMBER);

    if (node) {
        node->type = MF_VALUE_F64;
        node->number.f64 = value;
    }
    return node;
}

const struct mf_node *mf_node_of_text(struct mf_arena *arena,
                                      struct mf_str text)
{
    struct mf_node *node = new_node(arena, MF_NODE_STRING);
    char *copy = node ? mf_arena_text(arena, text.size) : NULL;

    if (!copy)
        return NULL;
    memcpy(copy, text.at, text.size);
    node->text = (struct mf_str){ copy, text.size };
    return node;
}

bool mf_list_begin(struct mf_recipe *recipe, struct mf_node_list *list)
{
    *list =
        (struct mf_node_list){ new_node(recipe->arena, MF_NODE_ARRAY), NULL };
    return list->node;
}

bool mf_list_add(struct mf_recipe *recipe, struct mf_node_list *list,
                 const struct mf_node *value)
{
    struct mf_node *copy;

    if (list->node->count == MF_RECIPE_LIST) {
        mf_fail(recipe->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                "'%s': a list would have more than %d elements",
                mf_recipe_file(recipe), MF_RECIPE_LIST);
        return false;
    }
    copy = new_node(recipe->arena, value->kind);
    if (!copy)
        return false;
    *copy = *value;
    copy->next = NULL;
    if (list->last)
        list->last->next = copy;
    else
        list->node->first = copy;
    list->last = copy;
    list->node->count++;
    return true;
}

static bool is_bool(const struct mf_node *value)
{
    return value->kind == MF_NODE_TRUE || value->kind == MF_NODE_FALSE;
}

bool mf_node_is_int(const struct mf_node *value)
{
    return is_bool(value) ||
           (value->kind == MF_NODE_NUMBER && value->type != MF_VALUE_F64);
}

bool mf_node_is_number(const struct mf_node *value)
{
    return is_bool(value) || value->kind == MF_NODE_NUMBER;
}

bool mf_node_is(const struct mf_node *value, const char *text)
{
    return value->kind == MF_NODE_STRING && mf_str_is(value->text, text);
}

bool mf_node_int(const struct mf_node *value, int64_t *out)
{
    if (is_bool(value)) {
        *out = value->kind == MF_NODE_TRUE;
        return true;
    }
    *out = value->number.i64;
    return value->kind == MF_NODE_NUMBER && value->type != MF_VALUE_F64 &&
           (value->type == MF_VALUE_I64 || value->number.u64 <= INT64_MAX);
}

double mf_node_real(const struct mf_node *value)
{
    if (is_bool(value))
        return value->kind == MF_NODE_TRUE;
    return value->type == MF_VALUE_F64   ? value->number.f64
           : value->type == MF_VALUE_I64 ? (double)value->number.i64
                                         : (double)value->number.u64;
}

static bool same_scalar(const struct mf_node *a, const struct mf_node *b)
{
    int64_t whole[2];

    if (mf_node_is_number(a) && mf_node_is_number(b))
        return mf_node_int(a, &whole[0]) && mf_node_int(b, &whole[1])
                   ? whole[0] == whole[1]
                   : mf_node_real(a) == mf_node_real(b);
    if (a->kind != b->kind)
        return false;
    return a->kind == MF_NODE_STRING ? mf_str_same(a->text, b->text)
                                     : a->kind == MF_NODE_NULL;
}

/* Lists of lists, and objects, are equal to nothing. */
bool mf_node_equal(const struct mf_node *a, const struct mf_node *b)
{
    const struct mf_node *x = a->first, *y = b->first;

    if (a->kind != MF_NODE_ARRAY || b->kind != MF_NODE_ARRAY)
        return same_scalar(a, b);
    for (; x && y; x = x->next, y = y->next)
        if (!same_scalar(x, y))
            return false;
    return !x && !y;
}

/* What a message calls a value: its key, or what it is computed from. */
struct subject {
    char text[160];
};

static struct subject subject_of(const struct mf_recipe *recipe,
                                 const struct mf_node *value)
{
    bool keyed = value->key.at != NULL;
    struct mf_str name = keyed ? value->key : recipe->about;
    struct subject out = { "a value" };

    if (name.at)
        snprintf(out.text, sizeof(out.text), "%s'%s'",
                 keyed ? "" : "a value computed from ", mf_quote(name).text);
    return out;
}

void mf_recipe_wrong(struct mf_recipe *recipe, const struct mf_node *value,
                     const char *wanted)
{
    struct subject subject = subject_of(recipe, value);
    struct mf_quoted text = mf_quote(value->text);
    struct mf_number_text number = { .size = 0 };

    if (value->kind == MF_NODE_NUMBER)
        number = mf_number_text(mf_node_real(value), 9);
    if (value->kind == MF_NODE_NULL && value->key.at)
        mf_fail(recipe->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                "'%s': missing key %s", mf_recipe_file(recipe), subject.text);
    else if (value->kind == MF_NODE_STRING)
        mf_fail(recipe->env, MF_ERR_CORRUPT, value->offset,
                "'%s': %s must be %s, not '%s'", mf_recipe_file(recipe),
                subject.text, wanted, text.text);
    else
        mf_fail(recipe->env, MF_ERR_CORRUPT, value->offset,
                "'%s': %s must be %s, not %s", mf_recipe_file(recipe),
                subject.text, wanted,
                number.size > 0 ? number.at : mf_node_kind_name(value));
}
