/* SPDX-License-Identifier: MIT
 *
 * json.c - plans as JSON
 */
#include "cli/json.h"

#include <string.h>

#include "cli/commands/plan/plan.h"

static void caches(struct run *run, const struct mf_plan *plan)
{
    struct mf_json_out *json = &run->json;

    mf_json_key(json, "kv");
    if (plan->line[MF_PLAN_KV] == MF_PLAN_UNKNOWN) {
        mf_json_null(json);
        return;
    }
    mf_json_begin(json, '[');
    for (size_t i = 0; i < plan->cache_count; i++) {
        const struct mf_plan_cache *cache = &plan->cache[i];

        mf_json_begin(json, '{');
        json_text(run, "name", cache->name);
        amount_json(run, "cells", cache->cells);
        amount_json(run, "layers", cache->layers);
        amount_json(run, "k_bytes", cache->k_bytes);
        amount_json(run, "v_bytes", cache->v_bytes);
        json_bool(run, "window", cache->window);
        mf_json_end(json, '}');
    }
    mf_json_end(json, ']');
}

static void devices(struct run *run, const struct mf_plan *plan)
{
    struct mf_json_out *json = &run->json;

    mf_json_key(json, "devices");
    mf_json_begin(json, '[');
    for (size_t i = 0; i < plan->device_count; i++) {
        const struct mf_plan_device *device = &plan->device[i];

        mf_json_begin(json, '{');
        json_text(run, "name", device->name);
        amount_json(run, "weights_bytes", device->weights);
        amount_json(run, "kv_bytes", device->kv);
        amount_json(run, "state_bytes", device->state);
        amount_json(run, "compute_bytes", device->compute);
        amount_json(run, "output_bytes", device->output);
        amount_json(run, "total_bytes", device->total);
        amount_json(run, "limit_bytes",
                    device->limit > 0 ? device->limit : MF_PLAN_UNKNOWN);
        mf_json_end(json, '}');
    }
    mf_json_end(json, ']');
}

static void context(struct run *run, const struct mf_plan *plan)
{
    mf_json_begin(&run->json, '{');
    amount_json(run, "ctx", plan->context);
    amount_json(run, "ctx_asked", plan->asked);
    json_bool(run, "exceeds_model", plan_exceeds_model(plan));
    caches(run, plan);
    amount_json(run, "kv_bytes", plan->line[MF_PLAN_KV]);
    amount_json(run, "state_bytes", plan->line[MF_PLAN_STATE]);
    amount_json(run, "state_r_bytes", plan->state_conv);
    amount_json(run, "state_s_bytes", plan->state_ssm);
    amount_json(run, "compute_bytes", plan->line[MF_PLAN_COMPUTE]);
    amount_json(run, "output_bytes", plan->line[MF_PLAN_OUTPUT]);
    amount_json(run, "weights_bytes", plan->line[MF_PLAN_WEIGHTS]);
    amount_json(run, "mapped_bytes", plan->mapped);
    amount_json(run, "total_bytes", plan->total);
    devices(run, plan);
    mf_json_key(&run->json, "not_known");
    if (*plan->reason)
        mf_json_string(&run->json, plan->reason, strlen(plan->reason));
    else
        mf_json_null(&run->json);
    mf_json_end(&run->json, '}');
}

/* The names of lines whose bit is set. */
static void lines(struct run *run, const char *key, uint32_t bits)
{
    mf_json_key(&run->json, key);
    mf_json_begin(&run->json, '[');
    for (unsigned i = 0; i < MF_PLAN_LINE_COUNT; i++)
        if (bits >> i & 1) {
            const char *name = mf_plan_line_name((enum mf_plan_line)i);

            mf_json_string(&run->json, name, strlen(name));
        }
    mf_json_end(&run->json, ']');
}

static void settings(struct run *run, const struct plan_answer *answer)
{
    const struct mf_plan_options *options = &answer->request->options;
    const struct mf_plan *plan = &answer->plan[0];

    amount_json(run, "context_length", plan->model_context);
    mf_json_key(&run->json, "as");
    if (options->as)
        mf_json_string(&run->json, options->as, strlen(options->as));
    else
        mf_json_null(&run->json);
    amount_json(run, "sequences", plan->sequences);
    amount_json(run, "ubatch", plan->ubatch);
    json_text(run, "type_k", plan->type_k);
    json_text(run, "type_v", plan->type_v);
    json_bool(run, "flash_attention", plan->flash);
    json_bool(run, "full_windows", options->full_windows);
    json_bool(run, "unified", options->unified);
    json_bool(run, "assumed_full_attention", plan->full_attention);
}

void plan_json(struct run *run, const struct plan_answer *answer)
{
    uint32_t estimated = 0;

    settings(run, answer);
    mf_json_key(&run->json, "contexts");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; i < answer->count; i++) {
        context(run, &answer->plan[i]);
        estimated |= answer->plan[i].estimated;
    }
    mf_json_end(&run->json, ']');
    fit_json(run, answer->fits ? &answer->fit : NULL);
    lines(run, "estimated", estimated);
}
