/* SPDX-License-Identifier: MIT
 *
 * answer.c - plans of the library, and what must be said about them
 */
#include <stdio.h>

#include "cli/commands/plan/plan.h"
#include "cli/report.h"

bool plan_compute(struct run *run, struct mf_model *model,
                  const struct mf_plan_options *options, struct mf_plan *out)
{
    enum mf_status status = mf_plan(model, options, out);

    if (status == MF_OK)
        return true;
    if (status == MF_ERR_ARGUMENT)
        report_usage(run, "%s", mf_env_error(run->env)->message);
    else
        report_failure(run, run->operand[0]);
    return false;
}

void plan_warn(struct run *run, const struct plan_answer *answer)
{
    char text[160];

    for (size_t i = 0; i < answer->count; i++) {
        const struct mf_plan *plan = &answer->plan[i];

        if (plan->model_context >= MF_PLAN_HUGE ||
            plan->asked <= plan->model_context)
            continue;
        snprintf(text, sizeof(text),
                 "warning: a context of %s exceeds the model's, %s",
                 number_text(plan->asked).at,
                 number_text(plan->model_context).at);
        report_remark(run, run->operand[0], text);
    }
}
