/* SPDX-License-Identifier: MIT
 *
 * choose_exact.c - the types with the least error within a size: the search
 *
 * With the slope of the relaxation each option has a price: the error that it
 * adds to its item's base, plus the slope for each byte that it adds.  None is
 * below 0, and a choice is above the relaxation by the prices of its options,
 * plus the slope for each byte that it leaves free.  So with a choice known
 * that is `gap` above the relaxation, no better one has an option with a price
 * of gap: in a large model, of most items only the base remains.
 *
 * Items that have others are added one after the other, to a list of what all
 * before can be together: more bytes and less error from one state to the next.
 * States whose prices reach the gap are dropped.  Where there are too many,
 * neighbours that differ least are joined, and the proof is weaker by that.
 */
#include "lib/quantize/choose.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "lib/base/sort.h"

/* States of a list at most, and of all lists, which a search walks back
 * through. */
#define STATES_MOST  ((size_t)4096)
#define STATES_LEAST ((size_t)128)
#define STATES_ALL   ((size_t)1 << 20)

/* Sums of doubles are off by less than this part of them. */
#define ROUNDING 1e-12

/* Some items' options together, compared with their bases. */
struct state {
    int64_t bytes;
    double error;
    uint32_t back; /* which state of the list before, and which option */
};

/* An option of an item in the search. */
struct core_option {
    int64_t bytes; /* more than the base's */
    double error;
    uint32_t number;
};

struct core_item {
    uint32_t item;
    uint32_t count;
    struct core_option *option; /* the base among them; fewest bytes first */
    int64_t least, most;        /* bytes of all items after it, likewise */
    uint32_t *back;             /* of its list */
};

struct search {
    struct mf_choosing *work;
    struct mf_arena arena;
    struct core_item *core;
    uint32_t *order;
    size_t count;
    int64_t left; /* bytes that the base leaves */
    double gap;   /* of the best choice, to the relaxation */
    double skip;  /* so much less is not worth finding */
    double lost;  /* by joining states */
    size_t most;  /* states of a list */
    struct state *list, *next, *other;
    size_t found_at, found; /* list and state of the best; or no list */
};

#define NOT_FOUND SIZE_MAX

/* What a choice has above the relaxation at least. */
static double price(const struct search *search, double error, int64_t bytes)
{
    return error + search->work->slope * (double)bytes;
}

static bool is_hopeless(const struct search *search, double amount)
{
    return amount >= search->gap - search->skip;
}

/* ---- the core ---- */

static struct core_option beside_base(const struct mf_choose_item *item,
                                      uint32_t number)
{
    const struct mf_choose_option *base = &item->option[item->base];
    const struct mf_choose_option *one = &item->option[number];

    return (struct core_option){
        .bytes = (int64_t)one->bytes - (int64_t)base->bytes,
        .error = one->error - base->error,
        .number = number,
    };
}

/* Options that a better choice may have. */
static enum mf_status find_options(struct search *search, uint32_t number)
{
    const struct mf_choose_item *item = &search->work->item[number];
    struct core_item *core = &search->core[search->count];
    struct core_option option[MF_CHOOSE_TYPES];
    uint32_t count = 0;

    if (item->fixed != MF_CHOOSE_NONE)
        return MF_OK;
    for (uint32_t i = 0; i < item->count; i++) {
        struct core_option one = beside_base(item, i);

        if (i == item->base ||
            !is_hopeless(search, price(search, one.error, one.bytes)))
            option[count++] = one;
    }
    if (count < 2)
        return MF_OK;
    *core = (struct core_item){ .item = number, .count = count };
    core->option = mf_arena_take(&search->arena, count * sizeof(*option));
    if (!core->option)
        return search->work->env->error.status;
    memcpy(core->option, option, count * sizeof(*option));
    search->count++;
    return MF_OK;
}

static int64_t range_of(const struct core_item *core)
{
    return core->option[core->count - 1].bytes - core->option[0].bytes;
}

/* What moves most bytes comes first: what is small fits into the rest. */
static bool is_wider(const void *table, uint32_t a, uint32_t b)
{
    const struct core_item *core = table;

    if (range_of(&core[a]) != range_of(&core[b]))
        return range_of(&core[a]) > range_of(&core[b]);
    return a < b;
}

static struct core_item *core_at(const struct search *search, size_t i)
{
    return &search->core[search->order[i]];
}

static enum mf_status make_core(struct search *search)
{
    size_t count = search->work->count;
    int64_t least = 0, most = 0;

    search->core =
        mf_arena_take(&search->arena, count * sizeof(*search->core) + 1);
    search->order =
        mf_arena_take(&search->arena, count * sizeof(*search->order) + 1);
    if (!search->core || !search->order)
        return search->work->env->error.status;
    for (size_t i = 0; i < count; i++)
        if (find_options(search, (uint32_t)i) != MF_OK)
            return search->work->env->error.status;
    for (size_t i = 0; i < search->count; i++)
        search->order[i] = (uint32_t)i;
    mf_sort(search->order, search->count, is_wider, search->core);
    for (size_t i = search->count; i-- > 0;) {
        struct core_item *core = core_at(search, i);

        core->least = least;
        core->most = most;
        least += core->option[0].bytes;
        most += core->option[core->count - 1].bytes;
    }
    return MF_OK;
}

/* ---- lists of states ---- */

/* Whether the state can become a better choice with what comes after it. */
static bool is_promising(const struct search *search,
                         const struct core_item *core, int64_t bytes,
                         double error)
{
    double amount = price(search, error, bytes);
    int64_t rest = search->left - bytes;

    if (core->least > rest || is_hopeless(search, amount))
        return false;
    if (core->most < rest) /* bytes stay free in any case */
        amount += search->work->slope * (double)(rest - core->most);
    return !is_hopeless(search, amount);
}

/* Adds a state to a list in the order of bytes, unless the last one has
 * as few and as little error. */
static size_t add_state(struct state *list, size_t count, struct state one)
{
    if (count > 0 && list[count - 1].error <= one.error)
        return count;
    if (count > 0 && list[count - 1].bytes == one.bytes)
        count--;
    list[count++] = one;
    return count;
}

/* Joins neighbours that differ by as little as possible, until at most `most`
 * states are left; what that loses is added up. */
static size_t thin(struct search *search, struct state *list, size_t count)
{
    double step = DBL_MIN;

    if (count > search->most)
        step += (list[0].error - list[count - 1].error) /
                (8 * (double)search->most);
    for (; count > search->most; step *= 2) {
        size_t kept = 1;

        for (size_t i = 1; i < count; i++)
            if (list[kept - 1].error - list[i].error > step)
                list[kept++] = list[i];
        search->lost += kept < count ? step : 0;
        count = kept;
    }
    return count;
}

/* The states with that option of the item, merged with what others of its
 * options gave; returns how many are in search->other then. */
static size_t merge(struct search *search, size_t count,
                    const struct core_item *core,
                    const struct core_option *option, size_t made)
{
    size_t a = 0, b = 0, merged = 0;

    while (a < made || b < count) {
        struct state one;

        if (b == count) {
            one = search->next[a++];
        } else {
            one.bytes = search->list[b].bytes + option->bytes;
            one.error = search->list[b].error + option->error;
            one.back = (uint32_t)b << 6 | option->number;
            if (!is_promising(search, core, one.bytes, one.error)) {
                b++;
                continue;
            }
            if (a < made && (search->next[a].bytes < one.bytes ||
                             (search->next[a].bytes == one.bytes &&
                              search->next[a].error <= one.error)))
                one = search->next[a++];
            else
                b++;
        }
        merged = add_state(search->other, merged, one);
    }
    return thin(search, search->other, merged);
}

_Static_assert(MF_CHOOSE_TYPES <= 1 << 6, "an option is six bits of a state");

/* With their bases for what comes after them, states are choices. */
static void look_for_best(struct search *search, size_t at, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct state *one = &search->next[i];
        double gap = one->error + search->work->slope * (double)search->left;

        if (one->bytes <= search->left && gap < search->gap) {
            search->gap = gap;
            search->found_at = at;
            search->found = i;
        }
    }
}

static void swap(struct state **a, struct state **b)
{
    struct state *kept = *a;

    *a = *b;
    *b = kept;
}

static enum mf_status add_item(struct search *search, size_t at, size_t *count)
{
    struct core_item *core = core_at(search, at);
    size_t made = 0;

    for (uint32_t i = 0; i < core->count; i++) {
        made = merge(search, *count, core, &core->option[i], made);
        swap(&search->next, &search->other);
    }
    look_for_best(search, at, made);
    core->back = mf_arena_take(&search->arena, made * sizeof(*core->back) + 1);
    if (!core->back)
        return search->work->env->error.status;
    for (size_t i = 0; i < made; i++)
        core->back[i] = search->next[i].back;
    *count = made;
    swap(&search->list, &search->next);
    return MF_OK;
}

/* ---- the search ---- */

static enum mf_status make_lists(struct search *search)
{
    size_t most = STATES_ALL / (search->count + 1);
    size_t size;

    most = most < STATES_MOST ? most : STATES_MOST;
    search->most = most > STATES_LEAST ? most : STATES_LEAST;
    size = 2 * search->most * sizeof(struct state);
    search->list = mf_arena_take(&search->arena, size);
    search->next = mf_arena_take(&search->arena, size);
    search->other = mf_arena_take(&search->arena, size);
    return search->list && search->next && search->other
               ? MF_OK
               : search->work->env->error.status;
}

/* What was found becomes the choice. */
static void walk_back(struct search *search)
{
    struct mf_choosing *work = search->work;
    size_t state = search->found;

    for (size_t i = 0; i < work->count; i++)
        work->item[i].tried = work->item[i].base;
    for (size_t at = search->found_at + 1; at-- > 0;) {
        const struct core_item *core = core_at(search, at);

        work->item[core->item].tried = core->back[state] & 63;
        state = core->back[state] >> 6;
    }
    mf_choose_try(work);
}

static enum mf_status run(struct search *search)
{
    struct mf_choosing *work = search->work;
    size_t count = 1;

    if (make_core(search) != MF_OK || make_lists(search) != MF_OK)
        return work->env->error.status;
    search->list[0] = (struct state){ 0 };
    for (size_t at = 0; at < search->count && count > 0; at++)
        if (add_item(search, at, &count) != MF_OK)
            return work->env->error.status;
    if (search->found_at != NOT_FOUND)
        walk_back(search);
    return MF_OK;
}

enum mf_status mf_choose_search(struct mf_choosing *work, double share,
                                double *bound)
{
    struct search search = {
        .work = work,
        .left = (int64_t)(work->limit - work->base_bytes),
        .skip = share * work->error,
        .found_at = NOT_FOUND,
    };
    enum mf_status status;

    search.gap =
        work->error - work->base_error + work->slope * (double)search.left;
    /* Only what is clearly better. */
    if (search.skip < ROUNDING * work->base_error)
        search.skip = ROUNDING * work->base_error;
    *bound = work->relaxed;
    if (search.gap <= search.skip)
        return MF_OK;
    mf_arena_init(&search.arena, work->env);
    status = run(&search);
    mf_arena_release(&search.arena);
    /* Nothing better was found, but for what was left out. */
    *bound = fmax(*bound, work->error - search.skip - search.lost -
                              ROUNDING * work->error);
    return status;
}
