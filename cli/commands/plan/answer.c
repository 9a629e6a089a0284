/* SPDX-License-Identifier: MIT
 *
 * answer.c - plans of the library, and what must be said about them
 */
#include <stdio.h>

#include "cli/commands/plan/plan.h"
#include "cli/report.h"

static void failed(struct run *run)
{
    if (mf_env_error(run->env)->status == MF_ERR_ARGUMENT)
        report_usage(run, "%s", mf_env_error(run->env)->message);
    else
        report_failure(run, run->operand[0]);
}

bool plan_compute(struct run *run, struct mf_model *model,
                  const struct mf_plan_options *options, struct mf_plan *out)
{
    if (mf_plan(model, options, out) == MF_OK)
        return true;
    failed(run);
    return false;
}

uint64_t plan_limit(const struct plan_request *request,
                    const struct mf_plan *plan, size_t device)
{
    const struct mf_plan_options *options = &request->options;
    bool one_device = options->offloaded && options->device_count == 0;

    /* SIZE is the host's memory, or the only device's. */
    return request->fits && device == (one_device ? 1 : 0)
               ? request->limit
               : plan->device[device].limit;
}

bool plan_fits(const struct plan_request *request, const struct mf_plan *plan)
{
    uint64_t margin = request->fits ? request->margin : 0;

    for (size_t i = 0; i < plan->device_count; i++) {
        uint64_t limit = plan_limit(request, plan, i);

        if (limit > 0 &&
            (limit < margin || plan->device[i].total > limit - margin))
            return false;
    }
    return true;
}

bool plan_fit(struct run *run, struct mf_model *model,
              struct plan_answer *answer)
{
    const struct plan_request *request = answer->request;
    struct mf_plan_options options = request->options;
    struct mf_fit_options how = { .size = sizeof(how),
                                  .limit = request->limit,
                                  .margin = &request->margin };
    const struct mf_plan *largest = &answer->plan[0];

    for (size_t i = 1; i < answer->count; i++)
        if (answer->plan[i].context > largest->context)
            largest = &answer->plan[i];
    options.context = request->context[largest - answer->plan];
    if (mf_plan_fit(model, &options, &how, &answer->fit) != MF_OK) {
        failed(run);
        return false;
    }
    answer->fits = true;
    if (answer->fit.fits == MF_FIT_NO)
        report_code(run, EXIT_NO);
    return true;
}

bool plan_exceeds_model(const struct mf_plan *plan)
{
    return amount_known(plan->model_context) &&
           plan->asked > plan->model_context && amount_known(plan->asked);
}

void plan_warn(struct run *run, const struct plan_answer *answer)
{
    char text[160];

    for (size_t i = 0; i < answer->count; i++) {
        const struct mf_plan *plan = &answer->plan[i];

        if (!plan_exceeds_model(plan))
            continue;
        snprintf(text, sizeof(text),
                 "warning: a context of %s exceeds the model's, %s",
                 number_text(plan->asked).at,
                 number_text(plan->model_context).at);
        report_remark(run, run->operand[0], text);
    }
}
