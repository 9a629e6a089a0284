/* SPDX-License-Identifier: MIT
 *
 * tensors_flow.c - one tensor on its way through the rows
 *
 * What comes out of a row goes on to the rows after it, so calls are nested as
 * deep as there are rows that fit, whatever a folder has in it.
 */
#include <assert.h>
#include <stdio.h>

#include "lib/hf/hub/tensors_made.h"
#include "lib/hf/hub/tensors_work.h"

/* As many experts as llama.cpp takes; nothing else of more is unstacked. */
#define UNSTACK_MAX 1024

/* A tensor at a row that fits. */
struct stop {
    const struct mf_tensor_row *row;
    const struct mf_tensor_name *name;
    const struct mf_glob_match *match;
    struct mf_tensor_list list;
    bool gone; /* dropped, or on its way under another name */
};

/* At most `most`. */
static int64_t number_of(struct mf_str digits, int64_t most)
{
    int64_t number = 0;

    for (size_t i = 0; i < digits.size && number < most; i++)
        number = number * 10 + (digits.at[i] - '0');
    return number < most ? number : most;
}

static enum mf_status make_name(struct mf_tensor_work *work,
                                const struct stop *stop, struct mf_str to,
                                int64_t plus, const struct mf_glob_match *match,
                                struct mf_tensor_name *name)
{
    return mf_tensor_row_name(to, plus, match, name)
               ? MF_OK
               : mf_fail(work->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                         "the new name of tensor '%s' is too long",
                         mf_quote(mf_tensor_name_text(stop->name)).text);
}

static enum mf_status go_on(struct mf_tensor_work *work,
                            const struct stop *stop, struct mf_str to,
                            int64_t plus, const struct mf_glob_match *match,
                            const struct mf_derived *node)
{
    struct mf_tensor_name name;
    enum mf_status status = make_name(work, stop, to, plus, match, &name);

    work->named = true;
    return status == MF_OK ? mf_tensor_flow(work, stop->row->next, &name, node)
                           : status;
}

/* ---- steps that name tensors ---- */

static enum mf_status name_all(struct mf_tensor_work *work, struct stop *stop,
                               const struct mf_tensor_step *step)
{
    enum mf_status status = MF_OK;

    assert(step->names == stop->list.count);
    for (size_t i = 0; i < step->names && status == MF_OK; i++)
        status = go_on(work, stop, step->name[i], step->plus, stop->match,
                       stop->list.node[i]);
    stop->gone = true;
    return status;
}

/* The first number in the name becomes that element of a list. */
static enum mf_status renumber(struct mf_tensor_work *work, struct stop *stop,
                               const struct mf_tensor_step *step)
{
    struct mf_glob_match match = *stop->match;
    const struct mf_node *node = step->value[0]->first;
    char digits[24];
    int64_t number;

    assert(match.digits_count > 0 && stop->list.count == 1);
    for (int64_t i = number_of(match.digits[0], INT32_MAX); node && i > 0; i--)
        node = node->next;
    if (!node || !mf_node_is_int(node) || !mf_node_int(node, &number) ||
        number < 0)
        return mf_fail(work->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "'%s': the list '%s' says no number for tensor '%s'",
                       mf_recipe_file(work->hub->recipe),
                       mf_quote(step->value[0]->key).text,
                       mf_quote(mf_tensor_name_text(stop->name)).text);
    snprintf(digits, sizeof(digits), "%" PRId64, number);
    match.digits[0] = (struct mf_str){ digits, strlen(digits) };
    stop->gone = true;
    return go_on(work, stop, step->name[0], 0, &match, stop->list.node[0]);
}

/* No row is about them any more, and their names are those in GGUF. */
static enum mf_status name_exactly(struct mf_tensor_work *work,
                                   struct stop *stop,
                                   const struct mf_tensor_step *step)
{
    struct mf_tensor_name name;
    enum mf_status status = MF_OK;

    assert(step->names == stop->list.count);
    for (size_t i = 0; i < step->names && status == MF_OK; i++) {
        status = make_name(work, stop, step->name[i], step->plus, stop->match,
                           &name);
        if (status == MF_OK)
            status = mf_tensor_emit_exactly(work, mf_tensor_name_text(&name),
                                            stop->list.node[i]);
    }
    stop->gone = true;
    return status;
}

/* The first tensor that comes to this row; others are dropped. */
static enum mf_status once(struct mf_tensor_work *work, struct stop *stop,
                           const struct mf_tensor_step *step)
{
    uint64_t bit = (uint64_t)1 << stop->row->number % 64;

    stop->gone = true;
    if (work->once & bit)
        return MF_OK;
    work->once |= bit;
    return go_on(work, stop, step->name[0], 0, stop->match, stop->list.node[0]);
}

/* ---- steps that wait for other tensors ---- */

/* Gives each kind of tensors of a complete group on, stacked. */
static enum mf_status give_group(struct mf_tensor_work *work,
                                 const struct stop *stop,
                                 const struct mf_tensor_step *step,
                                 struct mf_tensor_group *group, size_t kinds)
{
    size_t per_kind = group->total / kinds;
    const struct mf_derived *whole[MF_TENSOR_LIST];
    enum mf_status status = MF_OK;

    assert(kinds <= MF_TENSOR_LIST);
    for (size_t i = 0; i < kinds; i++) {
        whole[i] = mf_derive_stack(&work->derive, group->node + i * per_kind,
                                   per_kind);
        if (!whole[i])
            return mf_work_failed(work);
    }
    mf_group_give_back(work, group);
    for (size_t i = 0; i < kinds && status == MF_OK; i++) {
        struct mf_glob_match match = *stop->match;

        if (match.choice_count > 0)
            match.choice[0] = mf_glob_choice(stop->row->pattern, 0, i);
        status = go_on(work, stop, step->name[0], 0, &match, whole[i]);
    }
    return status;
}

/* The last number in the name is its place, the first one its block. */
static enum mf_status wait(struct mf_tensor_work *work, struct stop *stop,
                           const struct mf_tensor_step *step)
{
    const struct mf_glob_match *match = stop->match;
    size_t kinds = stop->row->choices > 0 ? stop->row->choices : 1;
    size_t chosen = match->choice_count > 0 ? match->chosen[0] : 0;
    const struct mf_lora *adapter = work->hub->adapter;
    const struct mf_model *model =
        adapter ? adapter->model : work->hub->recipe->model;
    size_t tensors = model->index.tensor_count;
    int64_t count = step->number[0], place, block = -1;
    struct mf_tensor_group *group;

    assert(match->text_count == 0 && match->digits_count > 0 &&
           match->digits_count <= 2 && stop->list.count == 1);
    stop->gone = true;
    if (count <= 0 || (uint64_t)count > tensors)
        return mf_fail(work->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "'%s': %" PRId64
                       " tensors like '%s' become one, the folder has %zu "
                       "tensors",
                       mf_recipe_file(work->hub->recipe), count,
                       mf_quote(mf_tensor_name_text(stop->name)).text, tensors);
    place = number_of(match->digits[match->digits_count - 1], count);
    if (match->digits_count > 1)
        block = number_of(match->digits[0], MF_NAMING_BLOCKS);
    if (place >= count)
        return mf_fail(work->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "tensor '%s' is one of more than %" PRId64
                       ", which %s says there are",
                       mf_quote(mf_tensor_name_text(stop->name)).text, count,
                       mf_recipe_file(work->hub->recipe));
    if (mf_group_put(work, stop->row->number, block, (size_t)count * kinds,
                     chosen * (size_t)count + (size_t)place, stop->list.node[0],
                     &group) != MF_OK)
        return mf_work_failed(work);
    return group ? give_group(work, stop, step, group, kinds) : MF_OK;
}

/* Steps that look at the numbers, which a pair of an adapter is not. */
static enum mf_status look(struct mf_tensor_work *work, struct stop *stop,
                           const struct mf_tensor_step *step)
{
    const struct mf_derived **node = &stop->list.node[0], *a, *b;

    if (mf_derived_is_lowrank(*node, &a, &b))
        return mf_fail(work->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "tensor '%s' of an adapter cannot be computed with",
                       mf_quote(mf_tensor_name_text(stop->name)).text);
    return step->kind == MF_STEP_ZERO
               ? mf_tensor_check_zero(work, stop->name, *node)
               : mf_tensor_ternary(work, stop->name, node);
}

static enum mf_status refuse(struct mf_tensor_work *work,
                             const struct stop *stop)
{
    return mf_decline(work->env, MF_REASON_NAMES_UNKNOWN, MF_NO_OFFSET,
                      "tensor '%s' has no counterpart on the other side",
                      mf_quote(mf_tensor_name_text(stop->name)).text);
}

/* What the texts of the pattern's first "{}" name, once all of them are there:
 * the list then has them in that order. */
static enum mf_status meet(struct mf_tensor_work *work, struct stop *stop)
{
    const struct mf_glob_match *match = stop->match;
    size_t count = stop->row->choices;
    int64_t block = -1;
    struct mf_tensor_group *group;

    assert(count > 1 && count <= MF_TENSOR_LIST && stop->list.count == 1);
    if (match->digits_count > 0)
        block = number_of(match->digits[0], MF_NAMING_BLOCKS);
    if (mf_group_put(work, stop->row->number, block, count, match->chosen[0],
                     stop->list.node[0], &group) != MF_OK)
        return mf_work_failed(work);
    stop->gone = !group;
    if (!group)
        return MF_OK;
    memcpy(stop->list.node, group->node, count * sizeof(*group->node));
    stop->list.count = count;
    mf_group_give_back(work, group);
    return MF_OK;
}

/* Each place of the first dimension as a tensor; its number is one more number
 * of the name.  A tensor without elements takes no byte of a file, however many
 * it would become. */
static enum mf_status unstack(struct mf_tensor_work *work, struct stop *stop,
                              const struct mf_tensor_step *step)
{
    const struct mf_derived *node = stop->list.node[0];
    struct mf_glob_match match = *stop->match;
    struct mf_derived_slice slice = { .axis = 0, .count = 1 };
    enum mf_status status = MF_OK;
    char digits[24];

    stop->gone = true;
    if (node->rank < 2 || match.digits_count == MF_GLOB_PARTS)
        return refuse(work, stop);
    if (node->count == 0 || node->dim[0] > UNSTACK_MAX)
        return mf_fail(work->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "tensor '%s' of %" PRIu64
                       " elements would become %" PRIu64
                       " tensors; at most %d, none of them empty, are possible",
                       mf_quote(mf_tensor_name_text(stop->name)).text,
                       node->count, node->dim[0], UNSTACK_MAX);
    match.digits[match.digits_count++].at = digits;
    for (; slice.from < node->dim[0] && status == MF_OK; slice.from++) {
        const struct mf_derived *part =
            mf_derive_slice(&work->derive, node, slice);

        part = part ? mf_derive_reshape(&work->derive, part, part->rank - 1,
                                        part->dim + 1)
                    : NULL;
        if (!part)
            return mf_work_failed(work);
        match.digits[match.digits_count - 1].size =
            (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, slice.from);
        status = go_on(work, stop, step->name[0], 0, &match, part);
    }
    return status;
}

/* ---- rows ---- */
static enum mf_status do_step(struct mf_tensor_work *work, struct stop *stop,
                              const struct mf_tensor_step *step)
{
    if (!mf_tensor_step_check(work->hub->recipe, step))
        return mf_work_failed(work);
    switch (step->kind) {
    case MF_STEP_DROP:
        stop->gone = true;
        return work->put ? work->put(work->user,
                                     mf_tensor_name_text(stop->name), NULL)
                         : MF_OK;
    case MF_STEP_ZERO:
    case MF_STEP_TERNARY:
        return look(work, stop, step);
    case MF_STEP_REFUSE:
        return refuse(work, stop);
    case MF_STEP_AS:
        return name_all(work, stop, step);
    case MF_STEP_RENUMBER:
        return renumber(work, stop, step);
    case MF_STEP_EXACT:
        return name_exactly(work, stop, step);
    case MF_STEP_ONCE:
        return once(work, stop, step);
    case MF_STEP_STACK:
        return wait(work, stop, step);
    case MF_STEP_UNSTACK:
        return unstack(work, stop, step);
    case MF_STEP_MEET:
        return meet(work, stop);
    default:
        assert(mf_tensor_step_is_local(step));
        return mf_tensor_step_run(&work->derive, step, &stop->list);
    }
}

static enum mf_status do_row(struct mf_tensor_work *work, struct stop *stop)
{
    const struct mf_tensor_step *step = stop->row->step;
    enum mf_status status = MF_OK;

    work->derive.name = mf_tensor_name_text(stop->name);
    for (; step && status == MF_OK && !stop->gone; step = step->next)
        status = do_step(work, stop, step);
    if (status != MF_OK || stop->gone)
        return status;
    assert(stop->list.count == 1);
    return mf_tensor_flow(work, stop->row->next, stop->name,
                          stop->list.node[0]);
}

enum mf_status mf_tensor_flow(struct mf_tensor_work *work,
                              const struct mf_tensor_row *row,
                              const struct mf_tensor_name *name,
                              const struct mf_derived *node)
{
    struct mf_glob_match match;

    for (; row; row = row->next)
        if (row->kind == work->pass &&
            mf_tensor_row_fits(row, mf_tensor_name_text(name), &match)) {
            struct stop stop = { .row = row, .name = name, .match = &match };

            stop.list.node[0] = node;
            stop.list.count = 1;
            return do_row(work, &stop);
        }
    return work->put ? work->put(work->user, mf_tensor_name_text(name), node)
                     : mf_tensor_emit(work, mf_tensor_name_text(name), node);
}
