/* SPDX-License-Identifier: MIT
 *
 * plan.c - how much memory a model takes: the member "plan"
 *
 * One planner makes all plans, so that the tensors are gone through once for
 * each placement, and not for each of a hundred contexts.
 */
#include "lib/report/put.h"

#include <string.h>

#include "lib/plan/fit.h"

#define CONTEXT_USUAL 4096 /* where the model has none */

struct planning {
    struct mf_planner *planner;
    struct mf_json_out *json;
    uint64_t limit;      /* that the page begins with; 0: none */
    struct mf_plan base; /* all defaults, with the model's context */
    uint64_t context[MF_PLAN_POINTS];
    size_t points;
    uint32_t estimated;
};

/* The lines of a plan, and their total. */
#define LINES (MF_PLAN_LINE_COUNT + 1)

struct curve {
    uint64_t at[LINES][MF_PLAN_POINTS];
    uint32_t unknown, estimated;
};

static enum mf_status plan_with(struct planning *work,
                                struct mf_plan_options options,
                                struct mf_plan *out)
{
    options.size = sizeof(options);
    return mf_plan_with(work->planner, &options, out);
}

/* ---- JSON ---- */

/* Null: unknown, or more than 16 EiB. */
static void put_amount(struct mf_json_out *json, uint64_t amount)
{
    if (mf_plan_is_number(amount))
        mf_report_number(json, amount);
    else
        mf_json_null(json);
}

static void put_member(struct mf_json_out *json, const char *key,
                       uint64_t amount)
{
    mf_json_key(json, key);
    put_amount(json, amount);
}

static void put_list(struct mf_json_out *json, const char *key,
                     const uint64_t *amounts, size_t count)
{
    mf_json_key(json, key);
    mf_json_begin(json, '[');
    for (size_t i = 0; i < count; i++)
        put_amount(json, amounts[i]);
    mf_json_end(json, ']');
}

/* The names of lines whose bit is set. */
static void put_lines(struct mf_json_out *json, const char *key, uint32_t bits)
{
    mf_json_key(json, key);
    mf_json_begin(json, '[');
    for (unsigned i = 0; i < MF_PLAN_LINE_COUNT; i++) {
        const char *name = mf_plan_line_name((enum mf_plan_line)i);

        if (bits >> i & 1)
            mf_json_string(json, name, strlen(name));
    }
    mf_json_end(json, ']');
}

/* ---- curves ---- */

static enum mf_status compute_curve(struct planning *work, const char *type,
                                    struct curve *out)
{
    struct mf_plan_options options = { .type_k = type, .type_v = type };
    struct mf_plan plan;

    out->unknown = out->estimated = 0;
    for (size_t i = 0; i < work->points; i++) {
        enum mf_status status;

        options.context = work->context[i];
        status = plan_with(work, options, &plan);
        if (status != MF_OK)
            return status;
        for (size_t line = 0; line < MF_PLAN_LINE_COUNT; line++)
            out->at[line][i] = plan.line[line];
        out->at[MF_PLAN_LINE_COUNT][i] = plan.total;
        out->unknown |= plan.unknown;
        out->estimated |= plan.estimated;
    }
    return MF_OK;
}

static void put_curve(struct planning *work, const char *type,
                      const struct curve *curve)
{
    struct mf_json_out *json = work->json;

    mf_json_begin(json, '{');
    mf_put_string(json, "type_k", type);
    mf_put_string(json, "type_v", type);
    for (unsigned line = 0; line < MF_PLAN_LINE_COUNT; line++)
        put_list(json, mf_plan_line_name((enum mf_plan_line)line),
                 curve->at[line], work->points);
    put_list(json, "total", curve->at[MF_PLAN_LINE_COUNT], work->points);
    mf_json_end(json, '}');
}

/* Types that do not suit the model are left out: quantized values where there
 * is no flash attention, and rows that are not whole blocks. */
static enum mf_status put_curves(struct planning *work)
{
    static const char *const types[] = { "f16", "q8_0", "q4_0" };
    struct mf_env *env = mf_planner_env(work->planner);
    struct curve *curve = mf_alloc(env, sizeof(*curve));
    enum mf_status status = MF_OK;
    uint32_t unknown = 0;

    if (!curve)
        return env->error.status;
    mf_json_key(work->json, "curves");
    mf_json_begin(work->json, '[');
    for (size_t i = 0; i < sizeof(types) / sizeof(*types) && status == MF_OK;
         i++) {
        status = compute_curve(work, types[i], curve);
        if (i > 0 && status == MF_ERR_ARGUMENT) {
            mf_clear_error(env);
            status = MF_OK;
            continue;
        }
        unknown = i == 0 ? curve->unknown : unknown;
        if (status != MF_OK || curve->unknown != unknown)
            continue;
        work->estimated |= curve->estimated;
        put_curve(work, types[i], curve);
    }
    mf_json_end(work->json, ']');
    mf_release(env, curve, sizeof(*curve));
    return status;
}

/* ---- mixes ---- */

static void put_mix(struct mf_json_out *json, const struct mf_fit_mix *mix)
{
    mf_json_begin(json, '{');
    mf_put_string(json, "name", mix->name);
    mf_put_bool(json, "needs_imatrix", mix->needs_imatrix);
    put_member(json, "file_bytes", mix->file_size);
    mf_json_key(json, "bits_per_weight");
    if (mix->bits_per_weight > 0)
        mf_json_f64(json, mix->bits_per_weight);
    else
        mf_json_null(json);
    put_member(json, "weights", mix->data_size);
    mf_json_end(json, '}');
}

static enum mf_status put_mixes(struct planning *work)
{
    struct mf_env *env = mf_planner_env(work->planner);
    const struct mf_fitting fitting = { .planner = work->planner };
    struct mf_fit *fit = mf_alloc(env, sizeof(*fit));
    enum mf_status status;

    if (!fit)
        return env->error.status;
    memset(fit, 0, sizeof(*fit));
    status = mf_fit_mixes(&fitting, &work->base, fit);
    mf_json_key(work->json, "mixes");
    mf_json_begin(work->json, '[');
    for (size_t i = 0; i < fit->mix_count; i++)
        put_mix(work->json, &fit->mix[i]);
    mf_json_end(work->json, ']');
    mf_release(env, fit, sizeof(*fit));
    return status;
}

/* ---- devices ---- */

static void put_device(struct mf_json_out *json,
                       const struct mf_plan_device *device)
{
    mf_json_begin(json, '{');
    mf_put_string(json, "name", device->name);
    put_member(json, "weights", device->weights);
    put_member(json, "kv", device->kv);
    put_member(json, "state", device->state);
    put_member(json, "compute", device->compute);
    put_member(json, "output", device->output);
    put_member(json, "total", device->total);
    put_member(json, "limit", device->limit);
    mf_json_end(json, '}');
}

static enum mf_status offload(struct planning *work, uint64_t blocks,
                              struct mf_plan *out)
{
    uint64_t longest = work->context[work->points - 1];

    return plan_with(work,
                     (struct mf_plan_options){ .offloaded = true,
                                               .offload = blocks,
                                               .context = longest },
                     out);
}

static enum mf_status put_devices(struct planning *work, uint64_t all)
{
    struct mf_plan plan;
    enum mf_status status = offload(work, all, &plan);

    if (status != MF_OK)
        return status;
    mf_json_key(work->json, "devices");
    mf_json_begin(work->json, '[');
    for (size_t i = 0; i < plan.device_count; i++)
        put_device(work->json, &plan.device[i]);
    mf_json_end(work->json, ']');
    return MF_OK;
}

#define OFFLOADS 8 /* steps from all blocks to none */

static enum mf_status put_offloads(struct planning *work, uint64_t all)
{
    uint64_t steps = all < OFFLOADS ? all : OFFLOADS;
    enum mf_status status = MF_OK;

    mf_json_key(work->json, "offloads");
    mf_json_begin(work->json, '[');
    for (uint64_t i = 0; i <= steps && status == MF_OK; i++) {
        uint64_t blocks = all * (steps - i) / steps;
        struct mf_plan plan;

        status = offload(work, blocks, &plan);
        if (status != MF_OK)
            break;
        mf_json_begin(work->json, '{');
        put_member(work->json, "blocks", blocks);
        put_member(work->json, "host", plan.device[0].total);
        put_member(work->json, "devices",
                   blocks > 0 ? plan.device[1].total : 0);
        mf_json_end(work->json, '}');
    }
    mf_json_end(work->json, ']');
    return status;
}

/* ---- all of it ---- */

static enum mf_status put_plan(struct planning *work)
{
    uint64_t blocks = mf_planner_blocks(work->planner);
    struct mf_json_out *json = work->json;
    enum mf_status status;

    if (work->limit > 0)
        mf_put_number(json, "limit", work->limit);
    put_member(json, "context", work->base.asked);
    put_member(json, "sequences", work->base.sequences);
    put_member(json, "ubatch", work->base.ubatch);
    put_list(json, "contexts", work->context, work->points);
    status = put_curves(work);
    if (status == MF_OK)
        status = put_mixes(work);
    if (status == MF_OK && blocks > 0)
        status = put_devices(work, blocks + 1);
    if (status == MF_OK && blocks > 0)
        status = put_offloads(work, blocks + 1);
    put_lines(json, "estimated", work->estimated);
    put_lines(json, "unknown", work->base.unknown);
    if (*work->base.reason)
        mf_put_string(json, "reason", work->base.reason);
    return status;
}

/* Whether the model is one that is run: it names its architecture, or is the
 * config.json of one, even of a family that is not known. */
static bool is_run(const struct planning *work, const struct mf_model *model)
{
    struct mf_meta architecture;

    if (mf_model_is_imatrix(model))
        return false;
    return mf_planner_blocks(work->planner) > 0 || model->bare ||
           mf_model_fact(mf_planner_model(work->planner), MF_FACT_ARCHITECTURE,
                         &architecture, NULL);
}

/* All that there is to say of a folder whose config.json has a fault. */
static void put_refusal(struct mf_json_out *json, const char *reason)
{
    mf_json_key(json, "plan");
    mf_json_begin(json, '{');
    mf_put_string(json, "reason", reason);
    mf_json_end(json, '}');
}

static enum mf_status make(struct planning *work, const struct mf_model *model)
{
    uint64_t most;
    enum mf_status status =
        plan_with(work, (struct mf_plan_options){ 0 }, &work->base);

    if (status == MF_OK && mf_planner_is_refused(work->planner)) {
        put_refusal(work->json, mf_planner_reason(work->planner));
        return MF_OK;
    }
    if (status != MF_OK || !is_run(work, model))
        return status;
    most =
        mf_plan_is_number(work->base.asked) ? work->base.asked : CONTEXT_USUAL;
    work->points = mf_plan_contexts(most, work->context);
    work->estimated = work->base.estimated;
    mf_json_key(work->json, "plan");
    mf_json_begin(work->json, '{');
    status = put_plan(work);
    mf_json_end(work->json, '}');
    return status;
}

/* What a planner is refused for is what the model is, and no error. */
static enum mf_status refused(struct mf_model *model, struct mf_json_out *json)
{
    enum mf_status status = model->env->error.status;

    if (status != MF_ERR_UNSUPPORTED && status != MF_ERR_CORRUPT)
        return status;
    if (model->bare)
        put_refusal(json, model->env->error.message);
    mf_clear_error(model->env);
    return MF_OK;
}

enum mf_status mf_report_plan(struct mf_model *model,
                              const struct mf_report_options *options,
                              struct mf_json_out *json)
{
    struct planning work = { .json = json,
                             .limit = options ? options->limit : 0 };
    enum mf_status status;

    mf_clear_error(model->env);
    if (mf_planner_open(model, NULL, &work.planner) != MF_OK)
        return refused(model, json);
    status = make(&work, model);
    mf_planner_close(work.planner);
    return status;
}
