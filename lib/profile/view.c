/* SPDX-License-Identifier: MIT
 *
 * view.c - a profile with names, as it is shown
 */
#include "lib/profile/view.h"

#include <string.h>

#include "lib/base/sort.h"

/* ---- the view ---- */

static bool fill(struct mf_profile *profile, struct mf_profile_view *view)
{
    struct mf_env *env = profile->env;

    mf_arena_init(&view->arena, env);
    view->order = mf_alloc(env, view->point_count * sizeof(*view->order));
    view->call = mf_alloc(env, (view->call_count + 1) * sizeof(*view->call));
    return view->order && view->call && mf_name_calls(profile, view);
}

struct mf_profile_view *mf_profile_view_of(struct mf_profile *profile)
{
    struct mf_profile_view *view = profile->view;
    const struct mf_heap_stats *stats = &profile->stats;

    if (view && view->stats.allocations == stats->allocations &&
        view->stats.live_blocks == stats->live_blocks)
        return view;
    mf_profile_view_free(profile);
    view = mf_alloc(profile->env, sizeof(*view));
    if (!view)
        return NULL;
    *view = (struct mf_profile_view){ .stats = *stats,
                                      .end = mf_profile_time(profile),
                                      .call_count = profile->call_count,
                                      .point_count = profile->point_count,
                                      .ordered_by = -1 };
    profile->view = view;
    if (fill(profile, view))
        return view;
    mf_profile_view_free(profile);
    return NULL;
}

void mf_profile_view_free(struct mf_profile *profile)
{
    struct mf_env *env = profile->env;
    struct mf_profile_view *view = profile->view;

    if (!view)
        return;
    profile->view = NULL;
    mf_release(env, view->order, view->point_count * sizeof(*view->order));
    mf_release(env, view->call, (view->call_count + 1) * sizeof(*view->call));
    mf_release(env, view->shown, view->shown_room * sizeof(*view->shown));
    mf_release(env, view->frame, view->frame_room * sizeof(*view->frame));
    mf_arena_release(&view->arena);
    mf_release(env, view, sizeof(*view));
}

size_t mf_profile_view_calls(const struct mf_profile_view *view,
                             const struct mf_point *point)
{
    size_t count = point->call_count;

    while (count > 0 && !view->call[point->call[count - 1]].is_main)
        count--;
    return count > 0 ? count : point->call_count;
}

/* ---- points in an order ---- */

struct sorting {
    const struct mf_profile *profile;
    enum mf_profile_order order;
};

static uint64_t weight(const struct sorting *sorting, uint32_t row)
{
    const struct mf_point *point = &sorting->profile->point[row];

    if (sorting->order == MF_PROFILE_LIVE)
        return point->live.bytes;
    return sorting->order == MF_PROFILE_PEAK
               ? mf_point_at_peak(sorting->profile, point).bytes
               : point->total_bytes;
}

static bool is_heavier(const void *table, uint32_t a, uint32_t b)
{
    uint64_t first = weight(table, a), second = weight(table, b);

    return first != second ? first > second : a < b;
}

static void sort(const struct mf_profile *profile, struct mf_profile_view *view,
                 enum mf_profile_order order)
{
    const struct sorting sorting = { profile, order };

    if (view->ordered_by == (int)order)
        return;
    for (size_t i = 0; i < view->point_count; i++)
        view->order[i] = (uint32_t)i;
    mf_sort(view->order, view->point_count, is_heavier, &sorting);
    view->ordered_by = (int)order;
}

/* The frames of a point; false without memory. */
static bool show(struct mf_env *env, struct mf_profile_view *view,
                 const struct mf_point *point, size_t *count)
{
    size_t calls = mf_profile_view_calls(view, point);
    void *table = view->shown;

    *count = 0;
    for (size_t i = 0; i < calls; i++) {
        const struct mf_named_call *call = &view->call[point->call[i]];

        for (size_t n = 0; n < call->count; n++) {
            if (!mf_table_grow(env, &table, &view->shown_room, *count,
                               sizeof(*view->shown)))
                return false;
            view->shown = table;
            view->shown[(*count)++] = view->frame[call->first + n];
        }
    }
    return true;
}

bool mf_profile_point_at(struct mf_profile *profile,
                         enum mf_profile_order order, size_t index,
                         struct mf_profile_point *out)
{
    struct mf_profile_view *view;
    const struct mf_point *point;
    struct mf_blocks at_peak;
    size_t count;

    if (!profile || !out)
        return false;
    mf_clear_error(profile->env);
    view = mf_profile_view_of(profile);
    if (!view || index >= view->point_count)
        return false;
    sort(profile, view, order);
    point = &profile->point[view->order[index]];
    if (point->total_blocks == 0 || !show(profile->env, view, point, &count))
        return false;
    at_peak = mf_point_at_peak(profile, point);
    *out = (struct mf_profile_point){
        .total_bytes = point->total_bytes,
        .total_blocks = point->total_blocks,
        .peak_bytes = at_peak.bytes,
        .peak_blocks = at_peak.blocks,
        .live_bytes = point->live.bytes,
        .live_blocks = point->live.blocks,
        .call = view->shown,
        .call_count = count,
    };
    return true;
}
