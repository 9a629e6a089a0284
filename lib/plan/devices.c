/* SPDX-License-Identifier: MIT
 *
 * devices.c - weights, the output buffer, and what is where
 */
#include "lib/plan/plan.h"

#include <stdio.h>
#include <string.h>

/* Logits of one token for each sequence. */
static uint64_t output_bytes(struct mf_planner *planner,
                             const struct mf_plan_settings *settings)
{
    return mf_plan_mul(
        mf_plan_mul(mf_planner_number(planner, "vocab", 0), sizeof(float)),
        settings->sequences);
}

void mf_plan_devices(struct mf_planner *planner,
                     const struct mf_plan_options *options,
                     const struct mf_plan_settings *settings,
                     struct mf_plan *plan)
{
    const struct mf_model_info *info = &mf_planner_model(planner)->info;
    struct mf_plan_device *host = &plan->device[0];

    (void)options;
    plan->line[MF_PLAN_WEIGHTS] =
        info->has_tensors ? info->data_size : MF_PLAN_UNKNOWN;
    plan->line[MF_PLAN_OUTPUT] = output_bytes(planner, settings);
    plan->mapped = plan->line[MF_PLAN_WEIGHTS];
    plan->device_count = 1;
    memset(host, 0, sizeof(*host));
    snprintf(host->name, sizeof(host->name), "host");
    host->weights = plan->line[MF_PLAN_WEIGHTS];
    host->kv = plan->line[MF_PLAN_KV];
    host->state = plan->line[MF_PLAN_STATE];
    host->compute = plan->line[MF_PLAN_COMPUTE];
    host->output = plan->line[MF_PLAN_OUTPUT];
    for (int i = 0; i < MF_PLAN_LINE_COUNT; i++)
        host->total = mf_plan_add(host->total, plan->line[i]);
}
