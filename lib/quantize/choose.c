/* SPDX-License-Identifier: MIT
 *
 * choose.c - the types with the least error within a size: the relaxation
 *
 * The relaxation: of an item's options only those on the lower convex hull of
 * error over bytes can be part of its optimum.  The steps from one to the next
 * are taken in the order of what they save for a byte, until one does not fit.
 * A part of that one would fill the limit exactly: that is the bound.
 */
#include "lib/quantize/choose.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "lib/base/options.h"
#include "lib/base/sort.h"
#include "lib/quantize/mix.h"

/* ---- what is given ---- */

static enum mf_status check_cost(struct mf_env *env,
                                 const struct mf_choose_options *options)
{
    for (size_t i = 0; i < options->tensors; i++) {
        bool any = false;

        for (size_t t = 0; t < options->types; t++) {
            double error = options->cost[i * options->types + t].error;

            if (!(error >= 0))
                return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                               "the error of tensor %zu in type %zu is %s", i,
                               t, isnan(error) ? "NaN" : "below 0");
            any |= error < (double)INFINITY;
        }
        if (!any)
            return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                           "tensor %zu can have none of the %zu types", i,
                           options->types);
    }
    return MF_OK;
}

static enum mf_status check(struct mf_env *env,
                            const struct mf_choose_options *options)
{
    MF_NEED(env, options->cost || options->tensors == 0);
    if (options->types == 0 || options->types > MF_CHOOSE_TYPES)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "there are %zu types, not 1 to %d", options->types,
                       MF_CHOOSE_TYPES);
    if (options->tensors > MF_CHOOSE_TENSORS)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "there are %zu tensors, at most %d allowed",
                       options->tensors, MF_CHOOSE_TENSORS);
    for (size_t i = 0; options->preferred && i < options->tensors; i++)
        if (options->preferred[i] >= options->types &&
            options->preferred[i] != MF_CHOOSE_NONE)
            return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                           "tensor %zu prefers type %" PRIu32 " of %zu", i,
                           options->preferred[i], options->types);
    return check_cost(env, options);
}

/* ---- a choice ---- */

void mf_choose_try(struct mf_choosing *work)
{
    uint64_t bytes = 0;
    double error = 0;

    for (size_t i = 0; i < work->count; i++) {
        const struct mf_choose_item *item = &work->item[i];

        bytes += item->option[item->tried].bytes;
        error += item->option[item->tried].error;
    }
    assert(bytes <= work->limit);
    if (error >= work->error)
        return;
    work->bytes = bytes;
    work->error = error;
    for (size_t i = 0; i < work->count; i++)
        work->item[i].chosen = work->item[i].tried;
}

/* ---- the relaxation ---- */

static double slope_of(const struct mf_choose_option *from,
                       const struct mf_choose_option *to)
{
    return (from->error - to->error) / (double)(to->bytes - from->bytes);
}

/* Adds the steps along an item's hull; returns their number. */
static size_t add_steps(const struct mf_choose_item *item, uint32_t number,
                        struct mf_choose_step *step)
{
    uint32_t hull[MF_CHOOSE_TYPES] = { 0 };
    size_t count = 0;

    for (uint32_t i = 1; i < item->count; i++) {
        double slope = slope_of(&item->option[hull[count]], &item->option[i]);

        while (count > 0 && slope >= step[count - 1].slope) {
            count--;
            slope = slope_of(&item->option[hull[count]], &item->option[i]);
        }
        step[count++] = (struct mf_choose_step){ slope, number, i };
        hull[count] = i;
    }
    return count;
}

static bool step_before(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_choose_step *step = table;

    if (step[a].slope > step[b].slope || step[a].slope < step[b].slope)
        return step[a].slope > step[b].slope;
    return a < b;
}

/* The items' steps, the one that saves most for a byte first. */
static enum mf_status sort_steps(struct mf_choosing *work)
{
    size_t room = 0, count = 0;
    struct mf_choose_step *step;
    uint32_t *order;

    for (size_t i = 0; i < work->count; i++)
        room += work->item[i].count;
    step = mf_arena_take(&work->arena, room * sizeof(*step) + 1);
    work->step = mf_arena_take(&work->arena, room * sizeof(*step) + 1);
    order = mf_arena_take(&work->arena, room * sizeof(*order) + 1);
    if (!step || !work->step || !order)
        return work->env->error.status;
    for (size_t i = 0; i < work->count; i++)
        count += add_steps(&work->item[i], (uint32_t)i, step + count);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    mf_sort(order, count, step_before, step);
    for (size_t i = 0; i < count; i++)
        work->step[i] = step[order[i]];
    work->step_count = count;
    return MF_OK;
}

/* The fewest bytes, but for what is fixed; false where that is too much. */
static bool begin(struct mf_choosing *work, uint64_t *bytes)
{
    *bytes = 0;
    for (size_t i = 0; i < work->count; i++) {
        struct mf_choose_item *item = &work->item[i];

        item->tried = item->fixed == MF_CHOOSE_NONE ? 0 : item->fixed;
        *bytes += item->option[item->tried].bytes;
    }
    return *bytes <= work->limit;
}

/* Takes a step, if it fits: false if not. */
static bool take(struct mf_choosing *work, const struct mf_choose_step *step,
                 uint64_t *bytes)
{
    struct mf_choose_item *item = &work->item[step->item];
    uint64_t more;

    if (item->fixed != MF_CHOOSE_NONE)
        return true;
    more = item->option[step->to].bytes - item->option[item->tried].bytes;
    if (more > work->limit - *bytes)
        return false;
    *bytes += more;
    item->tried = step->to;
    return true;
}

/* The choice before the first step that does not fit is the base. */
static void keep_base(struct mf_choosing *work, uint64_t bytes,
                      const struct mf_choose_step *next)
{
    work->base_bytes = bytes;
    work->base_error = 0;
    for (size_t i = 0; i < work->count; i++) {
        struct mf_choose_item *item = &work->item[i];

        item->base = item->tried;
        work->base_error += item->option[item->base].error;
    }
    work->slope = next ? next->slope : 0;
    work->divided = next ? next->item : MF_CHOOSE_NONE;
    work->relaxed =
        work->base_error - work->slope * (double)(work->limit - bytes);
    work->relaxed = work->relaxed > 0 ? work->relaxed : 0;
}

bool mf_choose_relax(struct mf_choosing *work)
{
    size_t i = 0;
    uint64_t bytes;

    if (!begin(work, &bytes))
        return false;
    while (i < work->step_count && take(work, &work->step[i], &bytes))
        i++;
    keep_base(work, bytes, i < work->step_count ? &work->step[i] : NULL);
    for (; i < work->step_count; i++)
        take(work, &work->step[i], &bytes);
    mf_choose_try(work);
    return true;
}

/* ---- what is left ---- */

/* The step that saves the most for a byte, of those that fit; *next: bytes of
 * the smallest that saves anything and does not. */
static bool best_step(const struct mf_choosing *work,
                      struct mf_choose_step *best, uint64_t *next)
{
    uint64_t left = work->limit - work->bytes;

    *best = (struct mf_choose_step){ 0 };
    *next = 0;
    for (uint32_t i = 0; i < work->count; i++) {
        const struct mf_choose_item *item = &work->item[i];
        const struct mf_choose_option *from = &item->option[item->chosen];

        for (uint32_t k = item->chosen + 1; k < item->count; k++) {
            uint64_t more = item->option[k].bytes - from->bytes;
            double slope = slope_of(from, &item->option[k]);

            if (more > left) {
                *next = *next == 0 || more < *next ? more : *next;
                break;
            }
            if (slope > best->slope)
                *best = (struct mf_choose_step){ slope, i, k };
        }
    }
    return best->slope > 0;
}

/* Uses what is left as long as anything fits.  A step may be too small to
 * change the sum of the errors. */
static void fill(struct mf_choosing *work, uint64_t *next)
{
    struct mf_choose_step best;

    while (best_step(work, &best, next)) {
        struct mf_choose_item *item = &work->item[best.item];

        work->bytes +=
            item->option[best.to].bytes - item->option[item->chosen].bytes;
        item->chosen = best.to;
    }
    work->error = 0;
    for (size_t i = 0; i < work->count; i++)
        work->error += work->item[i].option[work->item[i].chosen].error;
}

/* ---- all of it ---- */

static enum mf_status choose(struct mf_choosing *work,
                             const struct mf_choose_options *options,
                             uint32_t *types, struct mf_chosen *out)
{
    uint64_t next = 0;
    double bound;

    if (mf_choose_items(work, options) != MF_OK ||
        mf_choose_measure(work, out) != MF_OK || sort_steps(work) != MF_OK)
        return work->env->error.status;
    work->error = (double)INFINITY;
    mf_choose_relax(work);
    out->relaxed = work->relaxed;
    fill(work, &next);
    if (mf_choose_branch(work, &bound) != MF_OK)
        return work->env->error.status;
    fill(work, &next);
    for (size_t i = 0; i < options->tensors; i++) {
        const struct mf_choose_item *item = &work->item[work->item_of[i]];

        types[i] = item->option[item->chosen].type;
    }
    out->bytes = work->bytes;
    out->error = work->error;
    out->bound = fmin(bound, work->error);
    out->relaxed = fmin(out->relaxed, out->bound);
    out->next = next;
    return MF_OK;
}

enum mf_status mf_choose_types(struct mf_env *env,
                               const struct mf_choose_options *options,
                               uint32_t *types, struct mf_chosen *out)
{
    MF_NEED(NULL, env);
    MF_NEED(env, options);

    struct mf_choose_options taken;
    struct mf_choosing work = { .env = env };
    struct mf_chosen chosen = { 0 };
    enum mf_status status;

    if (mf_options_take(env, &taken, sizeof(taken), options) != MF_OK)
        return MF_ERR_ARGUMENT;
    MF_NEED(env, types || taken.tensors == 0);
    MF_NEED(env, out);
    mf_clear_error(env);
    if (check(env, &taken) != MF_OK)
        return env->error.status;
    work.limit = taken.limit;
    mf_arena_init(&work.arena, env);
    status = choose(&work, &taken, types, &chosen);
    mf_arena_release(&work.arena);
    if (status == MF_OK)
        *out = chosen;
    return status;
}
