/* SPDX-License-Identifier: MIT
 *
 * choose_branch.c - the types with the least error within a size: branches
 *
 * The relaxation divides one item between two options.  If that one is large,
 * as an embedding is among a hundred small tensors, it is far from any choice,
 * and a search finds too many that could be as good.  So each option of that
 * item is tried by itself, with a relaxation of its own for the rest, and so is
 * each of the item that is divided then.
 */
#include "lib/quantize/choose.h"

#include <math.h>

/* Items that are fixed at once. */
#define DEPTH 3

/* What a search may leave out where it comes first, and where it is the last
 * that is tried. */
#define SHARE_FIRST (MF_CHOOSE_PROVEN / 1024)
#define SHARE_LAST  (MF_CHOOSE_PROVEN / 2)

static bool is_enough(const struct mf_choosing *work, double bound)
{
    return bound >= work->error * (1 - MF_CHOOSE_PROVEN / 2);
}

static enum mf_status explore(struct mf_choosing *work, unsigned depth,
                              double *bound);

/* Each option of the item that the relaxation divides. */
static enum mf_status divide(struct mf_choosing *work, unsigned depth,
                             double *bound)
{
    struct mf_choose_item *item = &work->item[work->divided];
    enum mf_status status = MF_OK;
    double least = (double)INFINITY;

    for (uint32_t i = 0; i < item->count && status == MF_OK; i++) {
        double branch;

        item->fixed = i;
        status = explore(work, depth - 1, &branch);
        least = fmin(least, branch);
    }
    item->fixed = MF_CHOOSE_NONE;
    *bound = fmax(*bound, least);
    return status;
}

/* A divided item that is far from its options is not what a search is for. */
static enum mf_status explore(struct mf_choosing *work, unsigned depth,
                              double *bound)
{
    *bound = (double)INFINITY;
    if (!mf_choose_relax(work))
        return MF_OK;
    *bound = work->relaxed;
    if (is_enough(work, *bound) && depth < DEPTH)
        return MF_OK;
    if (depth > 0 && work->divided != MF_CHOOSE_NONE &&
        work->error - *bound > MF_CHOOSE_PROVEN * work->error)
        return divide(work, depth, bound);
    return mf_choose_search(work, depth == DEPTH ? SHARE_FIRST : SHARE_LAST,
                            bound);
}

enum mf_status mf_choose_branch(struct mf_choosing *work, double *bound)
{
    return explore(work, DEPTH, bound);
}
