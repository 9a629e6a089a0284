/* SPDX-License-Identifier: MIT
 *
 * outputs.c - --output of modelfile quantize: several files of one run
 */
#include <string.h>

#include "cli/commands/quantize/quantize.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/room.h"
#include "cli/types.h"

/* The type has no '=', the path may. */
static bool split(struct run *run, char *text, struct mf_quantize_output *out)
{
    char *equals = strchr(text, '=');

    if (!equals || equals == text || !equals[1]) {
        report_usage(run,
                     "invalid value '%.100s' for '--output': expected "
                     "TYPE=FILE",
                     text);
        return false;
    }
    *equals = 0;
    *out = (struct mf_quantize_output){ .type = text, .path = equals + 1 };
    return true;
}

bool outputs_read(struct run *run, const struct text_list *list,
                  struct outputs *out)
{
    out->at = room_take(list->count * sizeof(*out->at));
    out->result = room_take(list->count * sizeof(*out->result));
    if (!out->at || !out->result) {
        report_no_room(run);
        return false;
    }
    for (; out->count < list->count; out->count++)
        if (!split(run, (char *)list->at[out->count], &out->at[out->count]))
            return false;
    return true;
}

bool outputs_check(struct run *run, const struct quantize_options *options,
                   const struct outputs *outputs)
{
    if (options->keep_split) {
        report_usage(run, "'--keep-split' and '--output' cannot both be given");
        return false;
    }
    if (run->options->resume && options->report) {
        report_usage(run, "'--resume', '--report' and several outputs cannot "
                          "be combined");
        return false;
    }
    if (!output_excludes_part(run, "--output", true) ||
        !output_can_keep(run, ""))
        return false;
    for (size_t i = 0; i < outputs->count; i++) {
        if (!types_check_mix(run, outputs->at[i].type))
            return false;
        if (output_is_stdout(outputs->at[i].path)) {
            report_usage(run, "'--output' requires a file, not '%s'",
                         outputs->at[i].path);
            return false;
        }
    }
    return true;
}

/* ---- the plans ---- */

struct showing {
    struct run *run;
    struct outputs *outputs;
};

/* For mf_quantize_options.planned, which is called for each. */
static void show_plan(void *user, const struct mf_quantize_plan *plan)
{
    struct run *run = ((struct showing *)user)->run;
    struct outputs *outputs = ((struct showing *)user)->outputs;
    const struct mf_quantize_output *output = &outputs->at[outputs->shown];
    bool dry_run = run->options->dry_run, json = dry_run && run->options->json;

    if (json && outputs->shown == 0) {
        mf_json_key(&run->json, "plans");
        mf_json_begin(&run->json, '[');
    }
    if (json) {
        mf_json_begin(&run->json, '{');
        json_str(run, "output", str_of(output->path));
    } else if (dry_run) {
        out_escaped(&run->out, str_of(output->path), "");
        out_format(&run->out, ": %s\n", mf_mix_name(output->type));
    }
    table_show(run, plan);
    if (json)
        mf_json_end(&run->json, '}');
    if (++outputs->shown == outputs->count && json)
        mf_json_end(&run->json, ']');
}

void outputs_quantize(struct run *run, struct mf_model *model,
                      struct outputs *outputs, struct request *request,
                      const struct mf_convert_options *how)
{
    struct showing showing = { run, outputs };

    request->options.planned = show_plan;
    request->options.planned_user = &showing;
    if (mf_model_quantize_many(model, outputs->at, outputs->count,
                               &request->options, how,
                               outputs->result) != MF_OK) {
        report_failure(run, run->operand[0]);
        return;
    }
    for (size_t i = 0; i < outputs->count; i++)
        output_name_left(run, outputs->at[i].path, outputs->result[i].format,
                         0);
    report_done(run, outputs->at->path,
                outputs->count > 1 ? "and the other outputs were written"
                                   : "was written");
    result_show_many(run, outputs, request);
}
