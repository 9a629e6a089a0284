/* SPDX-License-Identifier: MIT
 *
 * choose_items.c - the types with the least error within a size: the options
 *
 * Of the types of a tensor, or of tensors that are tied to each other, only
 * those can be part of the answer for which none with as few bytes has as
 * little error.
 */
#include "lib/quantize/choose.h"

#include <math.h>
#include <string.h>

#include "lib/base/sort.h"

/* ---- the options of an item ---- */

struct tie {
    uint32_t group, tensor;
};

static bool tie_before(const void *table, uint32_t a, uint32_t b)
{
    const struct tie *tie = table;

    return tie[a].group != tie[b].group ? tie[a].group < tie[b].group
                                        : tie[a].tensor < tie[b].tensor;
}

/* Gives each tensor the number of its item; items are in the order of their
 * first tensors. */
static enum mf_status join_tied(struct mf_choosing *work,
                                const struct mf_choose_options *options)
{
    size_t count = options->tensors;
    struct tie *tie = mf_arena_take(&work->arena, count * sizeof(*tie));
    uint32_t *order = mf_arena_take(&work->arena, count * sizeof(*order));
    uint32_t *first = mf_arena_take(&work->arena, count * sizeof(*first));

    work->item_of = mf_arena_take(&work->arena, count * sizeof(uint32_t));
    if (!tie || !order || !first || !work->item_of)
        return work->env->error.status;
    for (uint32_t i = 0; i < count; i++) {
        bool tied = options->tied && options->tied[i] != MF_CHOOSE_NONE;

        tie[i] = (struct tie){ tied ? options->tied[i] : MF_CHOOSE_NONE, i };
        order[i] = i;
    }
    mf_sort(order, count, tie_before, tie);
    for (size_t i = 0; i < count; i++) {
        const struct tie *one = &tie[order[i]];
        bool same = i > 0 && one->group != MF_CHOOSE_NONE &&
                    one->group == tie[order[i - 1]].group;

        first[one->tensor] = same ? first[order[i - 1]] : one->tensor;
    }
    for (uint32_t i = 0; i < count; i++)
        work->item_of[i] =
            first[i] == i ? (uint32_t)work->count++ : work->item_of[first[i]];
    return MF_OK;
}

/* Adds the costs of tensors that get one type; false where a sum is too large.
 */
static bool add_cost(struct mf_choose_option *sum,
                     const struct mf_type_cost *cost)
{
    sum->error += cost->error;
    return !(sum->error < (double)INFINITY) ||
           mf_add(sum->bytes, cost->bytes, &sum->bytes);
}

static bool is_better(const struct mf_choose_option *a,
                      const struct mf_choose_option *b, uint32_t preferred)
{
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes;
    if (a->error < b->error || b->error < a->error)
        return a->error < b->error;
    if ((a->type == preferred) != (b->type == preferred))
        return a->type == preferred;
    return a->type < b->type;
}

/* Sorts the options of an item, and leaves only those for which no option with
 * as few bytes has as little error. */
static void keep_useful(struct mf_choose_item *item, uint32_t types,
                        uint32_t preferred)
{
    struct mf_choose_option *option = item->option;
    uint32_t kept = 0;

    for (uint32_t i = 1; i < types; i++) {
        struct mf_choose_option one = option[i];
        uint32_t at = i;

        for (; at > 0 && is_better(&one, &option[at - 1], preferred); at--)
            option[at] = option[at - 1];
        option[at] = one;
    }
    for (uint32_t i = 0; i < types; i++)
        if (option[i].error < (double)INFINITY &&
            (kept == 0 || option[i].error < option[kept - 1].error))
            option[kept++] = option[i];
    item->count = kept;
}

static enum mf_status too_large(struct mf_env *env)
{
    return mf_fail(env, MF_ERR_LIMIT, MF_NO_OFFSET,
                   "the tensors have more than 2^63 bytes together");
}

static enum mf_status fill_items(struct mf_choosing *work,
                                 const struct mf_choose_options *options)
{
    uint32_t types = (uint32_t)options->types;

    for (size_t i = 0; i < options->tensors; i++) {
        struct mf_choose_item *item = &work->item[work->item_of[i]];
        const struct mf_type_cost *cost = options->cost + i * types;

        if (!item->option) {
            item->option =
                mf_arena_take(&work->arena, types * sizeof(*item->option));
            if (!item->option)
                return work->env->error.status;
            for (uint32_t t = 0; t < types; t++)
                item->option[t] = (struct mf_choose_option){ .type = t };
            item->tensor = (uint32_t)i;
        }
        for (uint32_t t = 0; t < types; t++)
            if (!add_cost(&item->option[t], &cost[t]))
                return too_large(work->env);
    }
    return MF_OK;
}

enum mf_status mf_choose_items(struct mf_choosing *work,
                               const struct mf_choose_options *options)
{
    size_t size;

    if (options->tensors == 0)
        return MF_OK;
    if (join_tied(work, options) != MF_OK)
        return work->env->error.status;
    size = work->count * sizeof(*work->item);
    work->item = mf_arena_take(&work->arena, size);
    if (!work->item)
        return work->env->error.status;
    memset(work->item, 0, size);
    if (fill_items(work, options) != MF_OK)
        return work->env->error.status;
    for (size_t i = 0; i < work->count; i++) {
        struct mf_choose_item *item = &work->item[i];

        item->fixed = MF_CHOOSE_NONE;
        keep_useful(item, (uint32_t)options->types,
                    options->preferred ? options->preferred[item->tensor]
                                       : MF_CHOOSE_NONE);
        if (item->count == 0)
            return mf_fail(work->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                           "the tensors tied to tensor %" PRIu32
                           " have no type in common",
                           item->tensor);
    }
    return MF_OK;
}

/* ---- what is possible ---- */

enum mf_status mf_choose_measure(struct mf_choosing *work,
                                 struct mf_chosen *out)
{
    double largest = 0;

    for (size_t i = 0; i < work->count; i++) {
        const struct mf_choose_item *item = &work->item[i];

        largest += item->option[0].error;
        if (!mf_add(out->least, item->option[0].bytes, &out->least) ||
            !mf_add(out->most, item->option[item->count - 1].bytes,
                    &out->most) ||
            out->most > INT64_MAX)
            return too_large(work->env);
    }
    if (!(largest < (double)INFINITY))
        return mf_fail(work->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "the sum of the errors is infinite");
    if (out->least > work->limit)
        return mf_fail(work->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "the tensors take at least %" PRIu64
                       " bytes, more than the %" PRIu64 " that they may take",
                       out->least, work->limit);
    work->limit = work->limit < out->most ? work->limit : out->most;
    return MF_OK;
}
