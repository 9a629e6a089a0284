/* SPDX-License-Identifier: MIT
 *
 * functions_data.c - what expressions of recipes can ask of tensors' data
 */
#include "lib/base/little.h"
#include "lib/base/sort.h"
#include "lib/base/str.h"
#include "lib/derive/derive.h"
#include "lib/hf/hub/evaluate.h"
#include "lib/io/source.h"

/* The tensor as f32; false after mf_fail. */
static bool open_tensor(struct mf_recipe *recipe, size_t record,
                        struct mf_source *out)
{
    const struct mf_record *tensor = &recipe->model->index.tensor[record];
    const struct mf_derived *node;
    struct mf_derivation derive;

    if (mf_derivation_init(&derive, recipe->env, recipe->arena) != MF_OK)
        return false;
    derive.name = (struct mf_str){ tensor->name, tensor->name_size };
    node = mf_recipe_tensor(recipe, &derive, record);
    node = node ? mf_derive_cast(&derive, node, MF_TYPE_F32) : NULL;
    if (node)
        mf_derived_open(node, tensor->name, out);
    return node != NULL;
}

/* ---- numbers ---- */

struct numbered { /* a tensor of one element */
    uint64_t number;
    size_t record;
};

static bool is_before(const void *table, uint32_t a, uint32_t b)
{
    const struct numbered *one = table;

    return one[a].number < one[b].number;
}

/* Whether the name is HEAD, a number and TAIL. */
static bool fits(const struct mf_record *record,
                 const struct mf_node *const *argument, uint64_t *number)
{
    struct mf_str name = { record->name, record->name_size };
    struct mf_str head = argument[0]->text, tail = argument[1]->text;
    size_t at = head.size;

    *number = 0;
    if (!mf_str_begins(name, head.at))
        return false;
    while (at < name.size && name.at[at] >= '0' && name.at[at] <= '9' &&
           *number < INT32_MAX)
        *number = *number * 10 + (uint64_t)(name.at[at++] - '0');
    return at > head.size && name.size - at == tail.size &&
           memcmp(name.at + at, tail.at, tail.size) == 0;
}

/* The tensors, by their numbers; NULL after mf_fail. */
static struct numbered *find_all(struct mf_recipe *recipe,
                                 const struct mf_node *const *argument,
                                 size_t *count, uint32_t **order)
{
    const struct mf_index *index = &recipe->model->index;
    struct numbered *one, *all;
    struct numbered found;

    *count = 0;
    for (size_t i = 0; i < index->tensor_count; i++)
        *count += fits(&index->tensor[i], argument, &found.number);
    all = mf_arena_take(recipe->arena, (*count + 1) * sizeof(*all));
    *order = mf_arena_take(recipe->arena, (*count + 1) * sizeof(**order));
    if (!all || !*order)
        return NULL;
    one = all;
    for (found.record = 0; found.record < index->tensor_count; found.record++)
        if (fits(&index->tensor[found.record], argument, &found.number))
            *one++ = found;
    for (size_t i = 0; i < *count; i++)
        (*order)[i] = (uint32_t)i;
    mf_sort(*order, *count, is_before, all);
    return all;
}

/* values(HEAD, TAIL): the numbers in tensors of one element each. */
const struct mf_node *mf_call_values(struct mf_eval *eval,
                                     const struct mf_node *const *argument)
{
    struct mf_recipe *recipe = eval->recipe;
    struct mf_node_list list;
    struct mf_source source;
    struct numbered *all;
    uint32_t *order;
    size_t count;
    uint8_t value[sizeof(float)];

    if (recipe->facts)
        return mf_eval_value(eval,
                             mf_list_begin(recipe, &list) ? list.node : NULL);
    all = find_all(recipe, argument, &count, &order);
    if (!all || !mf_list_begin(recipe, &list))
        return mf_eval_value(eval, NULL);
    for (size_t i = 0; i < count; i++) {
        if (!open_tensor(recipe, all[order[i]].record, &source))
            return mf_eval_value(eval, NULL);
        if (source.size != sizeof(value)) {
            mf_fail(recipe->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                    "tensor '%s' must have one element", source.name);
            return mf_eval_value(eval, NULL);
        }
        if (mf_source_read(recipe->env, &source, 0, value, sizeof(value)) !=
                MF_OK ||
            !mf_list_add(recipe, &list,
                         mf_eval_real(eval, mf_little_float(value))))
            return mf_eval_value(eval, NULL);
    }
    return list.node;
}

/* ---- comparison ---- */

static bool find(const struct mf_index *index, struct mf_str name, size_t *out)
{
    for (*out = 0; *out < index->tensor_count; ++*out) {
        const struct mf_record *record = &index->tensor[*out];

        if (record->name_size == name.size &&
            memcmp(record->name, name.at, name.size) == 0)
            return true;
    }
    return false;
}

static bool are_equal(const struct mf_record *a, const struct mf_record *b)
{
    if (a->rank != b->rank)
        return false;
    for (uint32_t i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i])
            return false;
    return true;
}

/* All of two sources of one size. */
static enum mf_status compare(struct mf_env *env, const struct mf_source *a,
                              const struct mf_source *b, bool *same)
{
    float left[1024], right[1024];
    enum mf_status status = MF_OK;

    *same = true;
    for (uint64_t at = 0; at < a->size && *same && status == MF_OK;) {
        size_t size = sizeof(left);

        if (size > a->size - at)
            size = (size_t)(a->size - at);
        status = mf_source_read(env, a, at, (uint8_t *)left, size);
        if (status == MF_OK)
            status = mf_source_read(env, b, at, (uint8_t *)right, size);
        for (size_t i = 0; i < size / sizeof(*left) && status == MF_OK; i++)
            *same = *same && left[i] == right[i];
        at += size;
    }
    return status;
}

/* same(A, B): whether both tensors are there, and all their numbers equal. */
const struct mf_node *mf_call_same(struct mf_eval *eval,
                                   const struct mf_node *const *argument)
{
    struct mf_recipe *recipe = eval->recipe;
    const struct mf_index *index = &recipe->model->index;
    struct mf_source source[2];
    size_t record[2];
    bool same;

    for (size_t i = 0; i < 2; i++)
        if (recipe->facts || !find(index, argument[i]->text, &record[i]))
            return &mf_node_false;
    if (!are_equal(&index->tensor[record[0]], &index->tensor[record[1]]))
        return &mf_node_false;
    if (!open_tensor(recipe, record[0], &source[0]) ||
        !open_tensor(recipe, record[1], &source[1]) ||
        compare(recipe->env, &source[0], &source[1], &same) != MF_OK)
        return mf_eval_value(eval, NULL);
    return mf_node_of_bool(same);
}
