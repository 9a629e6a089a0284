/* SPDX-License-Identifier: MIT
 *
 * validate.c - modelfile validate: may this file be shipped
 */
#include "cli/validate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum form { FORM_TEXT, FORM_JSON, FORM_SARIF, FORM_JUNIT };

const struct option validate_options[] = {
    { "--format", OPTION_CHOICE, "text|json|sarif|junit", FORM_TEXT,
      offsetof(struct options, form), "how to report" },
    { "--data", OPTION_FLAG, NULL, 0, offsetof(struct options, data),
      "reads all tensor data, too" },
    { "--strict", OPTION_FLAG, NULL, 0, offsetof(struct options, strict),
      "warnings are errors" },
    { "--baseline", OPTION_TEXT, "FILE", 0, offsetof(struct options, baseline),
      "leaves out what FILE, an earlier text report, has" },
    { "--max-findings", OPTION_COUNT, "N", 0,
      offsetof(struct options, max_findings),
      "shows at most N of each file; all are counted" },
    { "--one-file", OPTION_FLAG, NULL, 0, offsetof(struct options, one_file),
      "this file only, without the other shards of its model" },
    { "--rules", OPTION_FLAG, NULL, 0, offsetof(struct options, rules),
      "lists all rules" },
    { "--explain", OPTION_TEXT, "ID", 0, offsetof(struct options, explain),
      "says what a rule means and what to do" },
    OPTIONS_LONG,
    { 0 },
};

static struct baseline baseline;
static struct mf_finding list[MF_FINDINGS_MAX];

/* ---- the verdict ---- */

void finding_line(const char *path, const struct mf_finding *finding, char *out,
                  size_t size)
{
    char place[32] = "";

    if (finding->offset != MF_NO_OFFSET)
        snprintf(place, sizeof(place), " at 0x%" PRIx64, finding->offset);
    snprintf(out, size, "%s: %s %s%s: %s", path,
             mf_severity_name(finding->severity), finding->rule, place,
             finding->message);
}

/* Adds a finding unless the baseline has it. */
static void take(const struct run *run, struct verdict *verdict,
                 struct mf_finding finding)
{
    char line[1024];

    if (run->options.strict && finding.severity == MF_WARNING)
        finding.severity = MF_ERROR;
    finding_line(verdict->path, &finding, line, sizeof(line));
    if (baseline.file.text && baseline_has(&baseline, line)) {
        verdict->accepted++;
        *(finding.severity == MF_ERROR     ? &verdict->errors
          : finding.severity == MF_WARNING ? &verdict->warnings
                                           : &verdict->notes) -= 1;
        return;
    }
    if (run->options.max_findings == 0 ||
        verdict->count < run->options.max_findings)
        list[verdict->count++] = finding;
}

/* Worst first, else in the order in which they were met. */
static void judge_model(const struct run *run, const struct mf_model *model,
                        struct verdict *verdict)
{
    const struct mf_model_info *info = mf_model_info(model);
    struct mf_finding finding;

    verdict->errors = info->error_count;
    verdict->warnings = info->warning_count;
    verdict->notes = info->note_count;
    verdict->tensors = info->tensor_count;
    if (run->options.strict) {
        verdict->errors += verdict->warnings;
        verdict->warnings = 0;
    }
    for (int severity = MF_ERROR; severity >= MF_NOTE; severity--)
        for (size_t i = 0; mf_finding_at(model, i, &finding); i++)
            if (finding.severity == (enum mf_severity)severity)
                take(run, verdict, finding);
}

/* Bytes that cannot be read on are a finding; bytes that cannot be had are
 * none. */
static void judge_error(const struct run *run, struct verdict *verdict)
{
    const struct mf_error *error = mf_env_error(run->env);
    struct mf_finding finding = { .rule = error->rule,
                                  .severity = MF_ERROR,
                                  .offset = error->offset,
                                  .message = error->message };

    verdict->readable = *error->rule != 0;
    verdict->errors = 1;
    if (verdict->readable)
        take(run, verdict, finding);
    else
        list[verdict->count++] = finding;
}

/* ---- text and JSON ---- */

static void show_text(struct run *run, const struct verdict *verdict)
{
    struct out *out = &run->out;
    char line[1024];

    for (size_t i = 0; i < verdict->count; i++) {
        finding_line(verdict->path, &verdict->finding[i], line, sizeof(line));
        out_escaped(out, str_of(line), "");
        out_text(out, "\n");
    }
    out_escaped(out, str_of(verdict->path), "");
    out_format(out, ": %zu error%s, %zu warning%s", verdict->errors,
               verdict->errors == 1 ? "" : "s", verdict->warnings,
               verdict->warnings == 1 ? "" : "s");
    if (verdict->accepted > 0)
        out_format(out, ", %zu accepted by the baseline", verdict->accepted);
    out_format(out, "; %" PRIu64 " tensor%s, header checked, data %s\n",
               verdict->tensors, verdict->tensors == 1 ? "" : "s",
               verdict->data ? "checked" : "not read");
}

static void finding_json(struct run *run, const struct mf_finding *finding)
{
    struct mf_json_out *json = &run->json;

    mf_json_begin(json, '{');
    json_text(run, "id", finding->rule);
    json_text(run, "severity", mf_severity_name(finding->severity));
    mf_json_key(json, "offset");
    if (finding->offset == MF_NO_OFFSET)
        mf_json_null(json);
    else
        mf_json_u64(json, finding->offset);
    if (finding->tensor.at) {
        json_str(run, "tensor", finding->tensor);
    } else {
        mf_json_key(json, "tensor");
        mf_json_null(json);
    }
    json_number(run, "shard", finding->shard);
    json_text(run, "message", finding->message);
    mf_json_end(json, '}');
}

static void show_json(struct run *run, const struct verdict *verdict)
{
    struct mf_json_out *json = &run->json;

    json_str(run, "file", str_of(verdict->path));
    json_bool(run, "valid", verdict->errors == 0);
    json_text(run, "level", verdict->data ? "data" : "header");
    json_number(run, "errors", verdict->errors);
    json_number(run, "warnings", verdict->warnings);
    json_number(run, "notes", verdict->notes);
    json_number(run, "accepted", verdict->accepted);
    json_number(run, "tensor_count", verdict->tensors);
    mf_json_key(json, "findings");
    mf_json_begin(json, '[');
    for (size_t i = 0; i < verdict->count; i++)
        finding_json(run, &verdict->finding[i]);
    mf_json_end(json, ']');
}

static const struct report_form report_text = { NULL, show_text, NULL };
static const struct report_form report_as_json = { NULL, show_json, NULL };

static const struct report_form *form_of(const struct run *run)
{
    static const struct report_form *const forms[] = {
        [FORM_TEXT] = &report_text,
        [FORM_JSON] = &report_as_json,
        [FORM_SARIF] = &report_sarif,
        [FORM_JUNIT] = &report_junit,
    };

    return forms[run->options.form];
}

/* ---- rules ---- */

static void list_rules(struct run *run)
{
    struct mf_rule_info rule;

    if (run->options.json)
        mf_json_begin(&run->json, '[');
    for (size_t i = 0; mf_rule_at(i, &rule); i++) {
        if (!run->options.json) {
            out_column(&run->out, str_of(rule.id), 20, false);
            out_column(&run->out, str_of(mf_severity_name(rule.severity)), 9,
                       false);
            out_line(&run->out, rule.meaning);
            continue;
        }
        mf_json_begin(&run->json, '{');
        json_text(run, "id", rule.id);
        json_text(run, "severity", mf_severity_name(rule.severity));
        json_text(run, "meaning", rule.meaning);
        mf_json_end(&run->json, '}');
    }
    if (run->options.json) {
        mf_json_end(&run->json, ']');
        out_text(&run->out, "\n");
    }
}

static const char *next_rule(void *state)
{
    size_t *index = state;
    struct mf_rule_info rule;

    return mf_rule_at((*index)++, &rule) ? rule.id : NULL;
}

static void explain(struct run *run, const char *id)
{
    size_t index = 0;
    const char *text = rule_text(id), *nearest;

    if (text) {
        out_format(&run->out, "%s\n\n", id);
        out_text(&run->out, text);
        return;
    }
    nearest = args_nearest(id, next_rule, &index);
    report_usage(run, "there is no rule '%.60s'%s%s%s", id,
                 nearest ? "; did you mean '"
                         : "; see: modelfile validate "
                           "--rules",
                 nearest ? nearest : "", nearest ? "'?" : "");
}

/* ---- the command ---- */

static void show(struct run *run, const char *path, enum mf_shards shards)
{
    struct verdict verdict = { .path = path,
                               .finding = list,
                               .readable = true };
    struct mf_model *model = NULL;
    enum mf_status status = inputs_try(run, path, shards, &model);

    if (status == MF_OK)
        status =
            run->options.data ? mf_validate_data(model) : mf_validate(model);
    verdict.data = status == MF_OK && run->options.data;
    if (status == MF_OK)
        judge_model(run, model, &verdict);
    else
        judge_error(run, &verdict);
    if (!verdict.readable)
        report_failure(run, path);
    else if (verdict.errors > 0)
        report_worse(run, EXIT_NO);
    if (verdict.readable || run->options.form > FORM_JSON)
        form_of(run)->file(run, &verdict);
    mf_close(model);
}

void command_validate(struct run *run)
{
    const struct options *options = &run->options;

    if (options->json)
        run->options.form = FORM_JSON;
    run->options.json = options->form == FORM_JSON;
    if (options->rules || options->explain) {
        if (options->rules)
            list_rules(run);
        else
            explain(run, options->explain);
        return;
    }
    if (run->operand_count == 0) {
        report_usage(run, "something is missing; usage: modelfile validate "
                          "FILE...");
        return;
    }
    if (options->baseline && !baseline_read(run, options->baseline, &baseline))
        return;
    if (form_of(run)->begin)
        form_of(run)->begin(run);
    inputs_each(run, show);
    if (form_of(run)->end)
        form_of(run)->end(run);
    baseline_release(run, &baseline);
}
