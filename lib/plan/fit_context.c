/* SPDX-License-Identifier: MIT
 *
 * fit_context.c - the longest context that fits
 *
 * Memory grows with the context in a straight line, mostly: cells of the cache
 * and of the mask.  Windows that end, rounding and what lives at once in a
 * graph bend the line.  So the line through two plans only says where to look
 * next, and the answer is one whose plan fits while that of the next step does
 * not.
 */
#include "lib/plan/fit.h"

/* llama.cpp counts cells in 32 bits. */
#define CONTEXT_MAX UINT32_MAX

struct search {
    const struct mf_fitting *fitting;
    struct mf_plan_options options;
    uint64_t step;
    struct {
        uint64_t steps;
        double spare; /* bytes; negative: missing */
    } low, high;      /* the longest known to fit, and the shortest not to */
};

static enum mf_status try(struct search *search, uint64_t steps,
                          enum mf_fit_answer *fits)
{
    struct mf_plan plan;
    enum mf_status status;
    double spare;

    search->options.context = steps * search->step;
    status = mf_plan_with(search->fitting->planner, &search->options, &plan);
    if (status != MF_OK)
        return status;
    *fits = mf_fits(search->fitting, &plan, NULL);
    spare = mf_fit_spare(search->fitting, &plan);
    if (*fits == MF_FIT_YES) {
        search->low.steps = steps;
        search->low.spare = spare;
    } else {
        search->high.steps = steps;
        search->high.spare = spare;
    }
    return MF_OK;
}

/* Where the line crosses the limit, strictly between both ends. */
static uint64_t guess(const struct search *search)
{
    uint64_t low = search->low.steps, width = search->high.steps - low;
    double fall = search->low.spare - search->high.spare, part;
    uint64_t steps;

    if (!(fall > 0))
        return low + width / 2;
    part = search->low.spare / fall * (double)width;
    steps = part < 1                     ? 1
            : part < (double)(width - 1) ? (uint64_t)part
                                         : width - 1;
    return low + steps;
}

/* A guess on a straight line is exact: the step after it does not fit.  On
 * another line each guess may gain little, so every third one is the middle. */
static enum mf_status narrow(struct search *search)
{
    enum mf_status status = MF_OK;
    enum mf_fit_answer fits;
    unsigned turn = 0;

    while (status == MF_OK && search->high.steps - search->low.steps > 1) {
        uint64_t width = search->high.steps - search->low.steps, steps;

        steps = ++turn % 3 == 0 ? search->low.steps + width / 2 : guess(search);
        status = try(search, steps, &fits);
        if (status == MF_OK && fits == MF_FIT_YES &&
            search->high.steps - steps > 1 && turn % 3 != 0)
            status = try(search, steps + 1, &fits);
    }
    return status;
}

enum mf_status mf_fit_longest(const struct mf_fitting *fitting,
                              const struct mf_plan_options *options,
                              uint64_t *out)
{
    struct search search = { .fitting = fitting, .options = *options };
    enum mf_fit_answer fits = MF_FIT_NO;
    enum mf_status status;

    *out = 0;
    search.step =
        MF_PLAN_CELLS *
        (options->unified || !options->sequences ? 1 : options->sequences);
    status = try(&search, 1, &fits);
    if (status == MF_OK && fits == MF_FIT_UNKNOWN)
        *out = MF_PLAN_UNKNOWN;
    if (status != MF_OK || fits != MF_FIT_YES)
        return status;
    status = try(&search, CONTEXT_MAX / search.step, &fits);
    if (status == MF_OK && fits != MF_FIT_YES)
        status = narrow(&search);
    *out = search.low.steps * search.step;
    return status;
}
