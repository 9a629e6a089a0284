/* SPDX-License-Identifier: MIT
 *
 * adapter.c - kind, rank, alpha, scale, targets and base model of an adapter
 */
#include "cli/adapter.h"

#include <inttypes.h>
#include <string.h>

#include "cli/json.h"
#include "cli/report.h"

static bool read(struct run *run, struct mf_model *model,
                 struct mf_adapter_info *out)
{
    if (mf_model_adapter_info(model, out) == MF_OK)
        return out->found;
    report_remark(run, run->operand[0], mf_env_error(run->env)->message);
    return false;
}

static struct out *label(struct run *run, const char *name, size_t column)
{
    size_t taken = strlen("  ") + strlen(name);

    out_text(&run->out, "  ");
    out_bold(&run->out, name);
    out_spaces(&run->out, column > taken ? column - taken : 1);
    return &run->out;
}

void adapter_text(struct run *run, struct mf_model *model, size_t column)
{
    struct mf_adapter_info info;

    if (!read(run, model, &info))
        return;
    out_escaped(label(run, "adapter", column),
                str_of(*info.kind ? info.kind : "unknown kind"), "");
    out_text(&run->out, "\n");
    if (info.rank_max > 0) {
        out_format(label(run, "rank", column), "%" PRIu64, info.rank_min);
        if (info.rank_max > info.rank_min)
            out_format(&run->out, " to %" PRIu64, info.rank_max);
        out_text(&run->out, "\n");
    }
    if (info.has_alpha)
        out_format(label(run, "alpha", column), "%g\n", info.alpha);
    if (info.has_scale) {
        out_format(label(run, "scale", column), "%g", info.scale_min);
        if (info.scale_max > info.scale_min)
            out_format(&run->out, " to %g", info.scale_max);
        out_text(&run->out, "\n");
    }
    out_format(label(run, "targets", column), "%zu tensor%s", info.pairs,
               info.pairs == 1 ? "" : "s");
    if (info.whole > 0)
        out_format(&run->out, ", and %zu replaced", info.whole);
    out_text(&run->out, "\n");
    if (!*info.base_model)
        return;
    out_escaped(label(run, "base model", column), str_of(info.base_model), "");
    out_text(&run->out, "\n");
}

static void number(struct run *run, const char *key, bool given, double value)
{
    mf_json_key(&run->json, key);
    if (given)
        mf_json_f64(&run->json, value);
    else
        mf_json_null(&run->json);
}

void adapter_json(struct run *run, struct mf_model *model)
{
    struct mf_adapter_info info;

    mf_json_key(&run->json, "adapter");
    if (!read(run, model, &info)) {
        mf_json_null(&run->json);
        return;
    }
    mf_json_begin(&run->json, '{');
    json_text(run, "kind", info.kind);
    json_number(run, "rank_min", info.rank_min);
    json_number(run, "rank_max", info.rank_max);
    number(run, "alpha", info.has_alpha, info.alpha);
    number(run, "scale_min", info.has_scale, info.scale_min);
    number(run, "scale_max", info.has_scale, info.scale_max);
    json_number(run, "targets", info.pairs);
    json_number(run, "replaced", info.whole);
    mf_json_key(&run->json, "base_model");
    if (*info.base_model)
        mf_json_string(&run->json, info.base_model, strlen(info.base_model));
    else
        mf_json_null(&run->json);
    mf_json_end(&run->json, '}');
}
