/* SPDX-License-Identifier: MIT
 *
 * validate.c - modelfile validate: may this file be shipped
 */
#include "cli/commands/validate/validate.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

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
      "shows at most N of each file, 1000 if not given; all are counted" },
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

/* ---- text and JSON ---- */

static void put_escaped(void *user, const char *text)
{
    out_escaped(user, str_of(text), "");
}

static void show_text(struct run *run, const struct verdict *verdict)
{
    struct out *out = &run->out;
    const size_t *found = verdict->found.of;

    if (verdict->refused)
        return; /* standard error has it */
    missing_line(verdict, put_escaped, out);
    out_text(out, verdict->missing > 0 ? "\n" : "");
    for (size_t i = 0; i < verdict->count; i++) {
        finding_line(&verdict->result[i], put_escaped, out);
        out_text(out, "\n");
    }
    unshown_line(verdict, put_escaped, out);
    if (tally_sum(&verdict->unshown) > 0)
        out_text(out, "\n");
    out_escaped(out, str_of(verdict->path), "");
    out_format(out, ": %zu error%s, %zu warning%s", found[MF_ERROR],
               found[MF_ERROR] == 1 ? "" : "s", found[MF_WARNING],
               found[MF_WARNING] == 1 ? "" : "s");
    if (verdict->accepted > 0)
        out_format(out, ", %zu accepted by the baseline", verdict->accepted);
    out_format(out, "; %" PRIu64 " tensor%s, header checked, data %s\n",
               verdict->tensors, verdict->tensors == 1 ? "" : "s",
               verdict->data ? "checked" : "not read");
}

static void finding_json(struct run *run, const struct result *result)
{
    const struct mf_finding *finding = &result->finding;
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
    json_str(run, "path", str_of(result->path));
    mf_json_key(json, "shard");
    if (finding->shard == NO_SHARD)
        mf_json_null(json);
    else
        mf_json_u64(json, finding->shard);
    json_text(run, "message", finding->message);
    mf_json_end(json, '}');
}

static void show_json(struct run *run, const struct verdict *verdict)
{
    struct mf_json_out *json = &run->json;

    if (verdict->refused)
        return; /* an object "error" has it */
    json_str(run, "file", str_of(verdict->path));
    json_bool(run, "valid", verdict->found.of[MF_ERROR] == 0);
    json_text(run, "level", verdict->data ? "data" : "header");
    json_number(run, "errors", verdict->found.of[MF_ERROR]);
    json_number(run, "warnings", verdict->found.of[MF_WARNING]);
    json_number(run, "notes", verdict->found.of[MF_NOTE]);
    json_number(run, "accepted", verdict->accepted);
    json_number(run, "not_shown", tally_sum(&verdict->unshown));
    json_number(run, "tensor_count", verdict->tensors);
    json_number(run, "missing_bytes", verdict->missing);
    mf_json_key(json, "findings");
    mf_json_begin(json, '[');
    for (size_t i = 0; i < verdict->count; i++)
        finding_json(run, &verdict->result[i]);
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

static void rule_json(struct run *run, const struct mf_rule_info *rule)
{
    json_text(run, "id", rule->id);
    json_text(run, "severity", mf_severity_name(rule->severity));
    json_text(run, "meaning", rule->meaning);
}

static void rules_json(struct run *run)
{
    struct mf_rule_info rule;

    report_begin(run);
    mf_json_key(&run->json, "rules");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; mf_rule_at(i, &rule); i++) {
        mf_json_begin(&run->json, '{');
        rule_json(run, &rule);
        mf_json_end(&run->json, '}');
    }
    mf_json_end(&run->json, ']');
    report_end(run);
    out_text(&run->out, "\n");
}

static void list_rules(struct run *run)
{
    struct mf_rule_info rule;

    for (size_t i = 0; mf_rule_at(i, &rule); i++) {
        out_column(&run->out, str_of(rule.id), 20, false);
        out_column(&run->out, str_of(mf_severity_name(rule.severity)), 9,
                   false);
        if (run->out.columns > 0)
            out_wrapped(&run->out, rule.meaning, 29);
        else
            out_line(&run->out, rule.meaning); /* a line for each, to scripts */
    }
}

static const char *next_rule(void *state)
{
    size_t *index = state;
    struct mf_rule_info rule;

    return mf_rule_at((*index)++, &rule) ? rule.id : NULL;
}

static void explain_rule(struct run *run, const struct mf_rule_info *rule)
{
    const char *text = rule_text(rule->id);

    if (run->options.json) {
        report_begin(run);
        rule_json(run, rule);
        json_text(run, "text", text);
        report_end(run);
        out_text(&run->out, "\n");
        return;
    }
    out_format(&run->out, "%s\n\n", rule->id);
    out_wrapped(&run->out, text, 0);
}

static void explain(struct run *run, const char *id)
{
    struct mf_rule_info rule;
    struct args_hint hint;
    size_t index = 0;

    for (size_t i = 0; mf_rule_at(i, &rule); i++)
        if (strcasecmp(rule.id, id) == 0 && rule_text(rule.id)) {
            explain_rule(run, &rule);
            return;
        }
    hint = args_hint(id, next_rule, &index);
    report_usage(run, "there is no rule '%.60s'%s", id,
                 *hint.text ? hint.text : "; see: modelfile validate --rules");
}

/* ---- the command ---- */

/* model NULL: the error of the env is the verdict. */
static void judge(struct run *run, const char *path,
                  const struct mf_model *model)
{
    struct verdict verdict = { .path = path,
                               .data = model && run->options.data };

    verdict_make(run, model, &baseline, &verdict);
    if (verdict.refused)
        report_failure(run, path);
    else if (verdict.found.of[MF_ERROR] > 0)
        report_worse(run, EXIT_NO);
    form_of(run)->file(run, &verdict);
    verdict_release(run, &verdict);
}

static void show(struct run *run, const char *path, enum mf_shards shards)
{
    struct mf_model *model = NULL;
    enum mf_status status = inputs_try(run, path, shards, &model);

    if (status == MF_OK)
        status = run->options.data ? mf_model_validate_data(model)
                                   : mf_model_validate(model);
    judge(run, path, status == MF_OK ? model : NULL);
    mf_model_close(model);
}

static void show_failure(struct run *run, const char *path)
{
    judge(run, path, NULL);
}

/* Each finding that the baseline accepts leaves room for another one. */
static size_t findings_to_keep(const struct run *run)
{
    size_t most = verdict_limit(run);

    if (most < MF_FINDINGS_MAX)
        most = MF_FINDINGS_MAX;
    return baseline.line_count < SIZE_MAX - most ? most + baseline.line_count
                                                 : SIZE_MAX;
}

/* --rules and --explain look at no file. */
static void tell_rules(struct run *run)
{
    const struct options *options = &run->options;
    const char *option = options->rules ? "--rules" : "--explain";

    if (run->operand_count > 0)
        report_usage(run, "'%s' looks at no file, and '%.200s' is given",
                     option, run->operand[0]);
    else if (options->rules && options->explain)
        report_usage(run, "'--rules' and '--explain' do not go together");
    else if (options->rules)
        (options->json ? rules_json : list_rules)(run);
    else
        explain(run, options->explain);
}

void command_validate(struct run *run)
{
    const struct options *options = &run->options;

    if (options->json)
        run->options.form = FORM_JSON;
    run->options.json = options->form == FORM_JSON;
    if (options->rules || options->explain) {
        tell_rules(run);
        return;
    }
    if (run->operand_count == 0) {
        report_usage(run, "something is missing; usage: modelfile validate "
                          "FILE...");
        return;
    }
    if (options->baseline && !baseline_read(run, options->baseline, &baseline))
        return;
    run->findings_kept = findings_to_keep(run);
    if (form_of(run)->begin)
        form_of(run)->begin(run);
    inputs_each(run, show, show_failure);
    if (form_of(run)->end)
        form_of(run)->end(run);
    baseline_release(run, &baseline);
}
