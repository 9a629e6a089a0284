/* SPDX-License-Identifier: MIT
 *
 * fit.c - what fits into memory of a given size, and the longest context
 */
#include "lib/plan/fit.h"

#include <string.h>

#include "lib/base/options.h"

#define MARGIN_USUAL (UINT64_C(1) << 30)

/* ---- one plan ---- */

static uint64_t limit_of(const struct mf_fitting *fitting,
                         const struct mf_plan *plan, size_t device)
{
    return device == 0 ? fitting->host_limit : plan->device[device].limit;
}

static enum mf_fit_answer fits_into(const struct mf_fitting *fitting,
                                    uint64_t needed, uint64_t limit)
{
    uint64_t sum = mf_plan_add(needed, fitting->margin);

    if (limit == 0)
        return MF_FIT_YES;
    if (sum == MF_PLAN_UNKNOWN)
        return MF_FIT_UNKNOWN;
    return sum != MF_PLAN_HUGE && sum <= limit ? MF_FIT_YES : MF_FIT_NO;
}

enum mf_fit_answer mf_fits(const struct mf_fitting *fitting,
                           const struct mf_plan *plan, const uint64_t *weights)
{
    enum mf_fit_answer answer = MF_FIT_YES;

    for (size_t i = 0; i < plan->device_count; i++) {
        const struct mf_plan_device *device = &plan->device[i];
        uint64_t needed = device->total;
        enum mf_fit_answer here;

        if (weights && mf_plan_is_number(needed))
            needed = mf_plan_add(needed - device->weights, weights[i]);
        here = fits_into(fitting, needed, limit_of(fitting, plan, i));
        answer = here < answer ? here : answer;
    }
    return answer;
}

double mf_fit_spare(const struct mf_fitting *fitting,
                    const struct mf_plan *plan)
{
    double least = (double)UINT64_MAX;

    for (size_t i = 0; i < plan->device_count; i++) {
        uint64_t limit = limit_of(fitting, plan, i);
        double spare = (double)limit - (double)fitting->margin -
                       (double)plan->device[i].total;

        if (limit > 0 && spare < least)
            least = spare;
    }
    return least;
}

static uint64_t needed_by(const struct mf_fitting *fitting,
                          const struct mf_plan *plan)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < plan->device_count; i++)
        if (limit_of(fitting, plan, i) > 0)
            sum = mf_plan_add(sum, plan->device[i].total);
    return sum;
}

/* ---- types of the cache ---- */

static enum mf_status fit_contexts(const struct mf_fitting *fitting,
                                   const struct mf_plan *plan,
                                   struct mf_fit *out)
{
    static const char *const types[MF_FIT_TYPES] = { "f16", "q8_0", "q4_0" };
    struct mf_env *env = mf_planner_env(fitting->planner);

    for (size_t i = 0; i < MF_FIT_TYPES; i++) {
        struct mf_plan_options options = fitting->options;
        struct mf_fit_context *context = &out->context[i];
        enum mf_status status;

        context->type = options.type_k = options.type_v = types[i];
        status = mf_fit_longest(fitting, &options, &context->context);
        if (status == MF_ERR_ARGUMENT) { /* it needs flash attention */
            mf_clear_error(env);
            context->context = MF_PLAN_UNKNOWN;
        } else if (status != MF_OK) {
            return status;
        }
        context->exceeds_model = mf_plan_is_number(context->context) &&
                                 context->context > plan->model_context;
    }
    return MF_OK;
}

static enum mf_status fit_as_asked(const struct mf_fitting *fitting,
                                   const struct mf_plan *plan,
                                   struct mf_fit_context *out)
{
    out->type = plan->type_k == plan->type_v ? plan->type_k : NULL;
    if (mf_fit_longest(fitting, &fitting->options, &out->context) != MF_OK)
        return mf_planner_env(fitting->planner)->error.status;
    out->exceeds_model =
        mf_plan_is_number(out->context) && out->context > plan->model_context;
    return MF_OK;
}

/* ---- blocks on devices ---- */

/* The same question about devices; *limit: where the one device has its limit
 * if the options have none. */
static void put_on_devices(const struct mf_fitting *fitting,
                           const uint64_t *limit, struct mf_fitting *out)
{
    *out = *fitting;
    out->options.offloaded = true;
    if (out->options.device_count > 0)
        return;
    out->options.device_limits = limit;
    out->options.device_count = 1;
    out->host_limit = 0;
}

static enum mf_status plan_offload(const struct mf_fitting *fitting,
                                   uint64_t blocks, struct mf_plan *plan,
                                   enum mf_fit_answer *fits)
{
    struct mf_plan_options options = fitting->options;
    enum mf_status status;

    options.offload = blocks;
    status = mf_plan_with(fitting->planner, &options, plan);
    if (status == MF_OK)
        *fits = mf_fits(fitting, plan, NULL);
    return status;
}

/* The largest number that fits; 0 also if none does. */
static enum mf_status most_blocks(const struct mf_fitting *fitting,
                                  uint64_t all, uint64_t *out)
{
    uint64_t low = 0, high = all + 1;
    struct mf_plan plan;
    enum mf_fit_answer fits;

    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;

        if (plan_offload(fitting, middle, &plan, &fits) != MF_OK)
            return mf_planner_env(fitting->planner)->error.status;
        if (fits == MF_FIT_YES)
            low = middle;
        else
            high = middle;
    }
    *out = low;
    return MF_OK;
}

static enum mf_status add_offload(const struct mf_fitting *fitting,
                                  uint64_t blocks, struct mf_fit *out)
{
    struct mf_fit_offload *row = &out->offload[out->offload_count];
    struct mf_plan_options options = fitting->options;
    struct mf_plan plan;
    enum mf_status status;

    status = plan_offload(fitting, blocks, &plan, &row->fits);
    if (status != MF_OK)
        return status;
    row->blocks = options.offload = blocks;
    row->host = plan.device[0].total;
    row->devices = 0;
    for (size_t i = 1; i < plan.device_count; i++)
        row->devices = mf_plan_add(row->devices, plan.device[i].total);
    out->offload_count++;
    return mf_fit_longest(fitting, &options, &row->context);
}

static enum mf_status fit_offloads(const struct mf_fitting *fitting,
                                   struct mf_fit *out)
{
    uint64_t all = mf_planner_blocks(fitting->planner) + 1, most = 0;
    uint64_t blocks[] = { all, all * 3 / 4, all / 2, all / 4, 0 };
    struct mf_fitting on_devices;
    enum mf_status status;

    if (all == 1)
        return MF_OK;
    put_on_devices(fitting, &out->limit, &on_devices);
    status = most_blocks(&on_devices, all, &most);
    for (size_t i = 0; i < 5 && status == MF_OK; i++) {
        if (most > blocks[i] && most < (i > 0 ? blocks[i - 1] : 0))
            status = add_offload(&on_devices, most, out);
        if (status == MF_OK && (i == 0 || blocks[i] < blocks[i - 1]))
            status = add_offload(&on_devices, blocks[i], out);
    }
    return status;
}

/* ---- all of it ---- */

static enum mf_status fit_all(const struct mf_fitting *fitting,
                              struct mf_fit *out)
{
    struct mf_plan plan;
    enum mf_status status =
        mf_plan_with(fitting->planner, &fitting->options, &plan);

    if (status != MF_OK)
        return status;
    out->fits = mf_fits(fitting, &plan, NULL);
    out->needed = needed_by(fitting, &plan);
    status = fit_as_asked(fitting, &plan, &out->longest);
    if (status == MF_OK)
        status = fit_contexts(fitting, &plan, out);
    if (status == MF_OK)
        status = mf_fit_mixes(fitting, &plan, out);
    return status == MF_OK ? fit_offloads(fitting, out) : status;
}

/* Applies the limit to a device or to the host. */
static enum mf_status take_limit(struct mf_fitting *fitting, struct mf_env *env,
                                 const uint64_t *limit)
{
    struct mf_plan_options *options = &fitting->options;
    bool limited = *limit > 0;

    for (size_t i = 0; i < options->device_count; i++)
        limited = limited || options->device_limits[i] > 0;
    if (!limited)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "no memory has a limit that anything could fit into");
    if (options->device_count == 0 && options->offloaded &&
        options->offload > 0) {
        options->device_limits = limit;
        options->device_count = 1;
    } else {
        fitting->host_limit = *limit;
    }
    return MF_OK;
}

enum mf_status mf_plan_fit(struct mf_model *model,
                           const struct mf_plan_options *options,
                           const struct mf_fit_options *fit, struct mf_fit *out)
{
    MF_NEED(NULL, model);
    MF_NEED(model->env, fit);
    MF_NEED(model->env, out);

    struct mf_fitting fitting = { 0 };
    struct mf_fit_options given;
    struct mf_fit found;
    enum mf_status status =
        mf_options_take(model->env, &given, sizeof(given), fit);

    if (status == MF_OK)
        status = mf_plan_options_take(model->env, &fitting.options, options);
    if (status == MF_OK)
        status = take_limit(&fitting, model->env, &given.limit);
    if (status == MF_OK) {
        mf_clear_error(model->env);
        status = mf_planner_open(model, fitting.options.as, &fitting.planner);
    }
    if (status != MF_OK)
        return status;
    memset(&found, 0, sizeof(found));
    found.limit = given.limit;
    found.margin = fitting.margin = given.margin ? *given.margin : MARGIN_USUAL;
    status = fit_all(&fitting, &found);
    mf_planner_close(fitting.planner);
    if (status == MF_OK)
        *out = found;
    return status;
}

/* ---- the longest context that fits ---- */

/* Memory grows with the context in a straight line, mostly: cells of the cache
 * and of the mask.  Windows that end, rounding and what lives at once in a
 * graph bend the line.  So the line through two plans only says where to look
 * next, and the answer is one whose plan fits while that of the next step does
 * not. */

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
    status = try(&search, MF_PLAN_TOKENS_MAX / search.step, &fits);
    if (status == MF_OK && fits != MF_FIT_YES)
        status = narrow(&search);
    *out = search.low.steps * search.step;
    return status;
}
