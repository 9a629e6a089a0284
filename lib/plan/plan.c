/* SPDX-License-Identifier: MIT
 *
 * plan.c - the memory that a model needs, part by part
 */
#include "lib/plan/plan.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/options.h"

const char *mf_plan_line_name(enum mf_plan_line line)
{
    static const char *const names[MF_PLAN_LINE_COUNT] = {
        [MF_PLAN_WEIGHTS] = "weights", [MF_PLAN_KV] = "kv",
        [MF_PLAN_STATE] = "state",     [MF_PLAN_COMPUTE] = "compute",
        [MF_PLAN_OUTPUT] = "output",
    };

    return (unsigned)line < MF_PLAN_LINE_COUNT ? names[line] : NULL;
}

static void put_settings(struct mf_planner *planner,
                         const struct mf_plan_settings *settings,
                         struct mf_plan *out)
{
    out->asked = settings->asked;
    out->context = settings->context;
    out->model_context = mf_planner_number(planner, "ctx", 0);
    if (out->model_context == 0)
        out->model_context = MF_PLAN_UNKNOWN;
    out->sequences = settings->sequences;
    out->ubatch = settings->ubatch;
    out->flash = settings->flash;
    out->type_k = mf_types[settings->type_k].name;
    out->type_v = mf_types[settings->type_v].name;
    out->full_attention = !mf_planner_is_known(planner);
    if (out->full_attention)
        out->estimated |= UINT32_C(1) << MF_PLAN_KV;
    if (mf_planner_is_unsure(planner))
        out->estimated |=
            UINT32_C(1) << MF_PLAN_WEIGHTS | UINT32_C(1) << MF_PLAN_COMPUTE;
}

static void put_sums(struct mf_planner *planner, struct mf_plan *out)
{
    out->total = 0;
    for (int i = 0; i < MF_PLAN_LINE_COUNT; i++) {
        out->total = mf_plan_add(out->total, out->line[i]);
        if (out->line[i] == MF_PLAN_UNKNOWN)
            out->unknown |= UINT32_C(1) << i;
    }
    out->estimated &= ~out->unknown;
    if (out->unknown)
        snprintf(out->reason, sizeof(out->reason), "%s",
                 mf_planner_reason(planner));
}

enum mf_status mf_plan_with(struct mf_planner *planner,
                            const struct mf_plan_options *options,
                            struct mf_plan *out)
{
    struct mf_plan_settings settings;
    enum mf_status status = mf_plan_settings_of(planner, options, &settings);

    if (status != MF_OK)
        return status;
    memset(out, 0, sizeof(*out));
    put_settings(planner, &settings, out);
    mf_plan_caches(planner, &settings, out);
    mf_plan_devices(planner, options, &settings, out);
    put_sums(planner, out);
    /* What is made of a file never fails, only memory does. */
    status = mf_planner_env(planner)->error.status;
    return status == MF_ERR_MEMORY || status == MF_ERR_LIMIT ? status : MF_OK;
}

enum mf_status mf_plan_options_take(struct mf_env *env,
                                    struct mf_plan_options *to,
                                    const struct mf_plan_options *options)
{
    enum mf_status status = mf_options_take(env, to, sizeof(*to), options);

    if (status != MF_OK)
        return status;
    if (to->device_count > MF_PLAN_DEVICES)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "%zu devices; at most %d can be planned for",
                       to->device_count, MF_PLAN_DEVICES);
    if (to->device_count > 0)
        MF_NEED(env, to->device_limits);
    return MF_OK;
}

enum mf_status mf_plan(struct mf_model *model,
                       const struct mf_plan_options *options,
                       struct mf_plan *out)
{
    struct mf_plan_options given;
    struct mf_planner *planner;
    struct mf_plan plan;
    enum mf_status status;

    MF_NEED(NULL, model);
    MF_NEED(model->env, out);
    status = mf_plan_options_take(model->env, &given, options);
    if (status != MF_OK)
        return status;
    mf_clear_error(model->env);
    status = mf_planner_open(model, given.as, &planner);
    if (status != MF_OK)
        return status;
    status = mf_plan_with(planner, &given, &plan);
    mf_planner_close(planner);
    if (status == MF_OK)
        *out = plan;
    return status;
}
