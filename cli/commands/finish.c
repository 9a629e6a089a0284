/* SPDX-License-Identifier: MIT
 *
 * finish.c - modelfile finish: join what parts have written
 */
#include "cli/answer.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/report.h"

#include <inttypes.h>
#include <string.h>

static struct {
    bool discard, report;
} options;

static const struct option table[] = {
    OPTION_FLAG("--discard", options.discard,
                "remove what the parts wrote, finished or not"),
    OPTION_FLAG("--report", options.report,
                "report the quantization error, of parts that had --report"),
    OPTIONS_WORK,
    { 0 },
};

/* ---- parts that have to run ---- */

struct missing {
    struct run *run;
    size_t count;
};

static void missing_json(struct run *run, const struct mf_missing_part *part)
{
    mf_json_begin(&run->json, '{');
    json_number(run, "part", part->part);
    json_bool(run, "begun", part->begun);
    json_bool(run, "at_work", part->at_work);
    json_bool(run, "unsound", part->unsound);
    json_number(run, "units", part->units);
    json_number(run, "bytes", part->bytes);
    mf_json_end(&run->json, '}');
}

/* As text the numbers of those that have to be started: "3,7". */
static void name_missing(void *user, const struct mf_missing_part *part)
{
    struct missing *missing = user;
    struct run *run = missing->run;

    if (run->options->json && missing->count++ == 0) {
        mf_json_key(&run->json, "missing");
        mf_json_begin(&run->json, '[');
    }
    if (run->options->json)
        missing_json(run, part);
    else if (!part->at_work)
        out_format(&run->out, "%s%" PRIu32, missing->count++ > 0 ? "," : "",
                   part->part);
}

static void end_missing(const struct missing *missing)
{
    if (missing->count == 0)
        return;
    if (missing->run->options->json)
        mf_json_end(&missing->run->json, ']');
    else
        out_line(&missing->run->out, "");
}

/* ---- the answer ---- */

static void types_json(struct run *run, const struct mf_finish_result *result)
{
    mf_json_key(&run->json, "types");
    mf_json_begin(&run->json, '{');
    for (size_t i = 0; i < MF_QUANTIZED_MAX; i++) {
        const struct mf_quantized *type = &result->type[i];

        if (type->measured == 0)
            continue;
        mf_json_key(&run->json, type->name);
        mf_json_begin(&run->json, '{');
        json_number(run, "measured", type->measured);
        json_double(run, "rmse", type->rmse);
        json_double(run, "max_error", type->worst);
        json_double(run, "cosine", type->cosine);
        mf_json_end(&run->json, '}');
    }
    mf_json_end(&run->json, '}');
}

static void show_json(struct run *run, const struct mf_finish_result *result,
                      bool done)
{
    json_number(run, "parts", result->parts);
    json_number(run, "finished", result->finished);
    json_number(run, "attempts", result->attempts);
    json_number(run, "units", result->units);
    json_number(run, "bytes", result->bytes);
    json_number(run, "file_count", result->file_count);
    json_number(run, "file_bytes", result->file_size);
    json_bool(run, "discarded", done && options.discard);
    json_bool(run, "written", done && !options.discard);
    if (options.report)
        types_json(run, result);
}

static void report_text(struct run *run, const struct mf_finish_result *result)
{
    struct out *out = &run->out;

    out_text(out, "type            measured      RMSE     worst     cosine\n");
    for (size_t i = 0; i < MF_QUANTIZED_MAX; i++) {
        const struct mf_quantized *type = &result->type[i];

        if (type->measured == 0)
            continue;
        out_column(out, str_of(type->name), 8, false);
        out_format(out, "%16s %9.4g %9.4g %10.8f\n",
                   number_text(type->measured).at, type->rmse, type->worst,
                   type->cosine);
    }
}

static void show_text(struct run *run, const struct mf_finish_result *result)
{
    struct out *out = &run->out;

    if (options.report)
        report_text(run, result);
    out_escaped(out, str_of(run->operand[0]), "");
    if (options.discard) {
        out_text(out, ": its parts were removed\n");
        return;
    }
    out_format(out, ": %" PRIu32 " part%s, %s", result->parts,
               result->parts == 1 ? "" : "s", size_text(result->file_size).at);
    if (result->file_count > 1)
        out_format(out, " in %zu files", result->file_count);
    out_line(out, "");
}

/* ---- the command ---- */

static bool check(struct run *run)
{
    if (options.discard && options.report)
        report_usage(run, "'--discard' and '--report' cannot both be given");
    else if (output_is_stdout(run->operand[0]))
        report_usage(run, "standard output has no parts");
    else
        return true;
    return false;
}

static void finish(struct run *run)
{
    const char *path = run->operand[0];
    struct missing missing = { .run = run };
    const struct mf_finish_options how = {
        .size = sizeof(struct mf_finish_options),
        .discard = options.discard,
        .missing = name_missing,
        .user = &missing,
    };
    struct mf_finish_result result;
    enum mf_status status;

    if (!check(run))
        return;
    answer_one_begin(run, path);
    status = mf_parts_finish(run->env, path, &how, &result);
    end_missing(&missing);
    if (status != MF_OK)
        report_failure(run, path);
    else if (!options.discard)
        report_done(run, path, "was written");
    if (run->options->json)
        show_json(run, &result, status == MF_OK);
    else if (status == MF_OK)
        show_text(run, &result);
    answer_one_end(run);
}

static void writes(struct run *run)
{
    sandbox_allow_file(&run->sandbox, run->operand[0]);
}

const struct command command_finish = {
    .name = "finish",
    .sub = "",
    .operands = "OUT",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "join what runs with --part have written",
    .about = "Checks that all parts of OUT, which runs with --part I/N wrote, "
             "are there and that its bytes are those that they wrote, and "
             "gives the file its name, or the files of a split model theirs. "
             "OUT is the one that the parts were given. Reads all bytes of "
             "it once, and no other file.\n\n"
             "Where parts are missing, prints the numbers of those that have "
             "to run, as in 3,7.\n",
    .examples = "modelfile finish out.gguf\n"
                "modelfile finish --discard out.gguf\n",
    .exit_no = "parts have not finished",
    .no_input = true,
    .options = table,
    .once = true,
    .execute = finish,
    .writes = writes,
};
