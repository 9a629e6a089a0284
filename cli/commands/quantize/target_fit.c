/* SPDX-License-Identifier: MIT
 *
 * target_fit.c - --fit of modelfile quantize: what a plan leaves for tensors
 *
 * Everything that a run needs besides the tensors, for a context, is what the
 * plan of the model has without its weights.  A GiB of the memory stays free,
 * as in `plan --fit`.
 */
#include <string.h>

#include "cli/commands/quantize/target.h"
#include "cli/report.h"
#include "cli/units.h"

#define MARGIN ((uint64_t)1024 * 1024 * 1024)

static bool read_options(struct target *target, uint64_t *memory,
                         uint64_t *context)
{
    const struct quantize_options *given = target->given;

    if (!units_memory(given->fit, memory))
        report_usage(target->run,
                     "invalid value '%.60s' for '--fit': not a size such as "
                     "16G or 24GiB",
                     given->fit);
    else if (given->context && !units_tokens(given->context, context))
        report_usage(target->run,
                     "invalid value '%.60s' for '--ctx': not a number of "
                     "tokens such as 4096, 32k or 1M",
                     given->context);
    else
        return true;
    return false;
}

bool target_fit(struct target *target, struct mf_model *model)
{
    struct mf_plan_options options = { .size = sizeof(options) };
    uint64_t memory = 0, used;
    struct mf_plan plan;

    if (!read_options(target, &memory, &options.context))
        return false;
    if (mf_plan(model, &options, &plan) != MF_OK) {
        report_failure(target->run, target->run->operand[0]);
        return false;
    }
    if (plan.total >= MF_PLAN_HUGE) {
        report_input(target->run, target->run->operand[0],
                     "what the model needs is not known: %s", plan.reason);
        return false;
    }
    used = plan.total - plan.device[0].weights + MARGIN;
    target->limit = memory > used ? memory - used : 0;
    target->rest = target->errors->other_bytes;
    if (target->limit > 0)
        return true;
    report_usage(target->run,
                 "'--fit': without any tensor, %s bytes are needed for this "
                 "context, and 1 GiB more as a margin: %s bytes are too few",
                 number_text(used - MARGIN).at, number_text(memory).at);
    return false;
}
