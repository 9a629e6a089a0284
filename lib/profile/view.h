/* SPDX-License-Identifier: MIT
 *
 * view.h - a profile with names, as it is shown
 *
 * No two calls share a frame, and stacks are different before they have names:
 * so no two points have the same frames, which the viewer would refuse.
 */
#ifndef MF_LIB_VIEW_H
#define MF_LIB_VIEW_H

#include "lib/profile/profile.h"

/* An address, which may be in several functions, inlined into each other. */
struct mf_named_call {
    uint32_t first, count; /* rows of mf_profile_view.frame, innermost first */
    bool is_main;          /* what called it is of no interest */
};

struct mf_profile_view {
    struct mf_heap_stats stats; /* of the profile that it shows */
    uint64_t end;               /* microseconds since the start */
    struct mf_arena arena;      /* of the texts */
    const char **frame;
    size_t frame_count, frame_room;
    struct mf_named_call *call; /* one for each row of profile.call */
    size_t call_count;
    uint32_t *order; /* rows of profile.point, in an order */
    size_t point_count;
    int ordered_by;     /* enum mf_profile_order, or -1 */
    const char **shown; /* the frames of one point */
    size_t shown_room;
};

/* The view of the profile as it is now; NULL, with the error set, without
 * memory. */
struct mf_profile_view *mf_profile_view_of(struct mf_profile *profile);

void mf_profile_view_free(struct mf_profile *profile);

/* How many calls of the point are shown: those from main on. */
size_t mf_profile_view_calls(const struct mf_profile_view *view,
                             const struct mf_point *point);

/* Fills in frames and calls of the view; false without memory. */
bool mf_name_calls(struct mf_profile *profile, struct mf_profile_view *view);

#endif
