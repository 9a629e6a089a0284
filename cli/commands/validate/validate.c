/* SPDX-License-Identifier: MIT
 *
 * validate.c - modelfile validate: check files against all rules
 */
#include "cli/commands/validate/validate.h"

#include <inttypes.h>
#include <string.h>

#include "cli/files_from.h"
#include "cli/inputs.h"
#include "cli/jobs.h"
#include "cli/json.h"
#include "cli/missing.h"
#include "cli/remote/remote.h"
#include "cli/report.h"

enum form { FORM_TEXT, FORM_JSON, FORM_SARIF, FORM_JUNIT, FORM_CODEQUALITY };

static struct {
    unsigned form; /* enum form */
    bool data, known, coverage, rules;
    const char *baseline, *explain, *config, *hide, *sarif, *junit,
        *codequality;
    struct verdict_options verdict;
} options;

static const struct option table[] = {
    OPTION_CHOICE("--format", "text|json|sarif|junit|codequality", FORM_TEXT,
                  options.form, "form of the report"),
    OPTION_FLAG("--data", options.data, "read all tensor data, too"),
    OPTION_CHOICE("--for", "all|spec|llama.cpp|transformers", READER_ALL,
                  options.verdict.reader,
                  "only what this reader refuses is an error"),
    OPTION_FLAG("--require-known", options.known,
                "treat an unknown architecture as an error"),
    OPTION_FLAG("--strict", options.verdict.strict, "treat warnings as errors"),
    OPTION_FLAG("--coverage", options.coverage,
                "show which bytes and rules were checked"),
    OPTION_TEXT("--baseline", "FILE", options.baseline,
                "accept findings listed in FILE, an earlier text report"),
    OPTION_LIST("--ignore", "RULE[:PATTERN]", options.verdict.ignored,
                "findings of the rule do not count; only those about a "
                "tensor, key or member that matches PATTERN"),
    OPTION_TEXT("--config", "FILE", options.config,
                "read options from FILE, one per line without '--'"),
    OPTION_TEXT("--hide", "notes,warnings", options.hide,
                "do not show these; they still count"),
    OPTION_TEXT("--sarif", "FILE", options.sarif,
                "also write the report to FILE, as SARIF"),
    OPTION_TEXT("--junit", "FILE", options.junit,
                "also write the report to FILE, as JUnit XML"),
    OPTION_TEXT("--codequality", "FILE", options.codequality,
                "also write the report to FILE, for GitLab's Code Quality"),
    OPTION_COUNT("--max-findings", "N", options.verdict.max_findings,
                 "show at most N findings of each file (default 1000); all "
                 "are counted"),
    OPTION_ONE_FILE,
    OPTION_WHOLE,
    OPTION_FLAG("--rules", options.rules, "list all rules"),
    OPTION_TEXT("--explain", "ID", options.explain,
                "explain a rule and what to do about it, or a known attack; "
                "'attacks' lists these"),
    OPTIONS_WORK,
    OPTION_FILES_FROM,
    OPTIONS_JOBS,
    { 0 },
};

static struct baseline baseline;

/* ---- text and JSON ---- */

static void put_escaped(void *user, const char *text)
{
    out_escaped(user, str_of(text), "");
}

static void put_coloured(void *user, enum mf_severity severity)
{
    out_severity(user, severity);
}

static void show_text(struct run *run, struct out *out,
                      const struct verdict *verdict)
{
    const size_t *found = verdict->found.of;

    if (verdict->refused)
        return; /* it is on standard error */
    missing_line(verdict, put_escaped, out);
    out_text(out, verdict->missing > 0 ? "\n" : "");
    for (size_t i = 0; i < verdict->count; i++) {
        finding_line(&verdict->result[i], put_escaped, put_coloured, out);
        out_text(out, "\n");
    }
    unshown_line(verdict, put_escaped, out);
    if (tally_sum(&verdict->unshown) > 0)
        out_text(out, "\n");
    out_escaped(out, str_of(verdict->path), "");
    out_format(out, ": %zu error%s, %zu warning%s", found[MF_ERROR],
               found[MF_ERROR] == 1 ? "" : "s", found[MF_WARNING],
               found[MF_WARNING] == 1 ? "" : "s");
    out_text(
        out,
        passed_text(verdict->accepted, verdict->ignored, &verdict->hidden).at);
    out_format(out, "; %" PRIu64 " %s%s, header checked, data %s",
               verdict->tensors, verdict->is_table ? "chunk" : "tensor",
               verdict->tensors == 1 ? "" : "s",
               verdict->data ? "checked" : "not read");
    if (verdict->named > 0)
        out_format(out, ", SHA-256 of %s compared",
                   verdict->named == 1 ? "its name" : "their names");
    if (verdict->model)
        out_format(out, "; %" PRIu64 " of %" PRIu64 " bytes checked%s",
                   verdict->coverage.checked_bytes,
                   verdict->coverage.file_bytes,
                   verdict->generic ? ", generic checks only" : "");
    out_text(out, "\n");
    if (options.coverage)
        coverage_text(run, verdict);
}

static void finding_json(struct run *run, const struct result *result)
{
    const struct mf_finding *finding = &result->finding;
    struct mf_str subject = mf_finding_subject(finding);
    struct mf_json_out *json = &run->json;

    mf_json_begin(json, '{');
    json_text(run, "id", finding->rule);
    json_text(run, "severity", mf_severity_name(finding->severity));
    json_text(run, "usual_severity", mf_severity_name(finding->usual));
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
    mf_json_key(json, "subject");
    if (subject.at)
        mf_json_string(json, subject.at, subject.size);
    else
        mf_json_null(json);
    json_str(run, "path", str_of(result->path));
    mf_json_key(json, "shard");
    if (finding->shard == NO_SHARD)
        mf_json_null(json);
    else
        mf_json_u64(json, finding->shard);
    json_text(run, "message", finding->message);
    finding_attacks(run, result);
    mf_json_end(json, '}');
}

static void show_json(struct run *run, struct out *out,
                      const struct verdict *verdict)
{
    struct mf_json_out *json = &run->json;

    (void)out;
    if (verdict->refused)
        return; /* it is the member "error" */
    json_bool(run, "valid", verdict->found.of[MF_ERROR] == 0);
    json_text(run, "level", verdict->data ? "data" : "header");
    json_text(run, "for", verdict->reader);
    json_number(run, "errors", verdict->found.of[MF_ERROR]);
    json_number(run, "warnings", verdict->found.of[MF_WARNING]);
    json_number(run, "notes", verdict->found.of[MF_NOTE]);
    json_number(run, "accepted", verdict->accepted);
    json_number(run, "ignored", verdict->ignored);
    json_number(run, "hidden", tally_sum(&verdict->hidden));
    json_number(run, "not_shown", tally_sum(&verdict->unshown));
    json_number(run, verdict->is_table ? "chunk_count" : "tensor_count",
                verdict->tensors);
    json_number(run, "missing_bytes", verdict->missing);
    if (verdict->named > 0)
        json_number(run, "names_compared", verdict->named);
    if (options.coverage)
        coverage_json(run, verdict);
    mf_json_key(json, "findings");
    mf_json_begin(json, '[');
    for (size_t i = 0; i < verdict->count; i++)
        finding_json(run, &verdict->result[i]);
    mf_json_end(json, ']');
}

static void end_text(struct run *run, struct out *out,
                     const struct totals *totals)
{
    (void)run;
    if (totals->files < 2)
        return;
    total_line(totals, put_escaped, out);
    out_text(out, "\n");
}

static void end_json(struct run *run, struct out *out,
                     const struct totals *totals)
{
    (void)out;
    mf_json_key(&run->json, "total");
    mf_json_begin(&run->json, '{');
    json_number(run, "files", totals->files);
    json_number(run, "with_errors", totals->with_errors);
    json_number(run, "not_readable", totals->unread);
    json_number(run, "errors", totals->found.of[MF_ERROR]);
    json_number(run, "warnings", totals->found.of[MF_WARNING]);
    json_number(run, "notes", totals->found.of[MF_NOTE]);
    json_number(run, "accepted", totals->accepted);
    json_number(run, "ignored", totals->ignored);
    json_number(run, "hidden", tally_sum(&totals->hidden));
    mf_json_end(&run->json, '}');
}

static const struct report_form report_text = { .name = "text",
                                                .file = show_text,
                                                .end = end_text };
static const struct report_form report_json = { .name = "JSON",
                                                .file = show_json,
                                                .end = end_json };

static const struct report_form *form_of(void)
{
    static const struct report_form *const forms[] = {
        [FORM_TEXT] = &report_text,
        [FORM_JSON] = &report_json,
        [FORM_SARIF] = &report_sarif,
        [FORM_JUNIT] = &report_junit,
        [FORM_CODEQUALITY] = &report_codequality,
    };

    return forms[options.form];
}

/* ---- the command ---- */

static struct totals totals;

static void add_tally(struct tally *sum, const struct tally *tally)
{
    for (int severity = MF_NOTE; severity <= MF_ERROR; severity++)
        sum->of[severity] += tally->of[severity];
}

static void add_totals(const struct verdict *verdict)
{
    totals.files++;
    if (verdict->refused) {
        totals.unread++;
        return;
    }
    totals.with_errors += verdict->found.of[MF_ERROR] > 0;
    add_tally(&totals.found, &verdict->found);
    add_tally(&totals.hidden, &verdict->hidden);
    totals.accepted += verdict->accepted;
    totals.ignored += verdict->ignored;
}

/* model NULL: reports the error of the env. */
static void show_verdict(struct run *run, const char *path,
                         const struct mf_model *model, size_t named)
{
    struct verdict verdict = { .path = path,
                               .data = model && options.data,
                               .named = named,
                               .reader = verdict_reader(&options.verdict) };

    verdict_make(run, model, &options.verdict, &baseline, &verdict);
    if (verdict.refused)
        report_failure(run, path);
    else if (verdict.found.of[MF_ERROR] > 0)
        report_code(run, EXIT_NO);
    add_totals(&verdict);
    form_of()->file(run, &run->out, &verdict);
    report_files_show(run, &verdict);
    verdict_release(run, &verdict);
}

static void show(struct run *run, const char *path, enum mf_shards shards)
{
    struct mf_validate_options how = {
        .size = sizeof(how),
        .readers = verdict_readers(&options.verdict),
        .data = options.data,
        .require_known = options.known,
    };
    struct mf_model *model = NULL;
    enum mf_status status = inputs_try(run, path, shards, &model);
    size_t named = 0;

    if (status == MF_OK)
        missing_show(run, path, model);
    /* What cannot be converted is checked as it is. */
    if (status == MF_OK && mf_model_outline(model, MF_OUTLINE_HEADER,
                                            &how.outline) == MF_ERR_MEMORY)
        status = MF_ERR_MEMORY;
    if (status == MF_OK && options.data)
        status = named_expect(model, &named);
    if (status == MF_OK)
        status = mf_model_validate_with(model, &how);
    if (status == MF_OK && options.data)
        status = remote_check(run, model, path);
    show_verdict(run, path, status == MF_OK ? model : NULL, named);
    mf_model_close(how.outline);
    mf_model_close(model);
}

static void show_failure(struct run *run, const char *path)
{
    show_verdict(run, path, NULL, 0);
}

/* What is not kept cannot be ignored or accepted: so many that an honest file
 * never has more. */
#define IGNORED_MAX 100000

/* As many as are shown, after some were taken out. */
static size_t findings_to_keep(void)
{
    size_t limit = verdict_limit(&options.verdict);
    size_t more = baseline.line_count;

    if (limit < MF_FINDINGS_MAX)
        limit = MF_FINDINGS_MAX;
    if (options.verdict.ignored.count > 0)
        more += IGNORED_MAX;
    return more < SIZE_MAX - limit ? limit + more : SIZE_MAX;
}

static bool fits_jobs(struct run *run)
{
    return (options.form == FORM_TEXT || options.form == FORM_JSON ||
            jobs_allow(run, "--format")) &&
           (!options.sarif || jobs_allow(run, "--sarif")) &&
           (!options.junit || jobs_allow(run, "--junit")) &&
           (!options.codequality || jobs_allow(run, "--codequality")) &&
           (!options.baseline || jobs_allow(run, "--baseline"));
}

static bool check_options(struct run *run)
{
    return fits_jobs(run) && ignore_check(run, &options.verdict.ignored) &&
           (!options.hide ||
            hide_parse(run, options.hide, options.verdict.hidden)) &&
           (!options.sarif ||
            report_file_add(run, "--sarif", options.sarif, &report_sarif)) &&
           (!options.junit ||
            report_file_add(run, "--junit", options.junit, &report_junit)) &&
           (!options.codequality ||
            report_file_add(run, "--codequality", options.codequality,
                            &report_codequality));
}

/* A report must not replace what the run reads besides models. */
static bool check_files(struct run *run)
{
    const char *read[] = { options.baseline, options.config,
                           shared_options.files_from };

    for (size_t i = 0; i < sizeof(read) / sizeof(*read); i++)
        if (report_file_is(read[i])) {
            report_usage(run,
                         "the report would replace '%.200s', which is "
                         "read",
                         read[i]);
            return false;
        }
    return true;
}

static void end_report(struct run *run)
{
    form_of()->end(run, &run->out, &totals);
    if (jobs_are_used()) /* the answer was about one file */
        totals = (struct totals){ 0 };
}

static void check_all(struct run *run)
{
    const struct report_form *form = form_of();
    const char *reader = verdict_reader(&options.verdict);

    run->findings_max = findings_to_keep();
    run->checks_data = options.data;
    if (form->begin)
        form->begin(run, &run->out, reader);
    report_files_begin(run, reader);
    inputs_summed(run, show, show_failure, end_report);
    report_files_end(run, &totals);
}

static void validate(struct run *run)
{
    struct textfile config = { 0 };

    run->lists_missing = true; /* each is a finding */
    if (run->options->json)
        options.form = FORM_JSON;
    run->options->json = options.form == FORM_JSON;
    if (options.rules || options.explain) {
        rules_show(run, options.rules, options.explain);
        return;
    }
    if (run->operand_count == 0) {
        args_missing(run);
        return;
    }
    if ((!options.config || config_read(run, options.config, table, &config)) &&
        check_options(run) && check_files(run) &&
        (!options.baseline || baseline_read(run, options.baseline, &baseline)))
        check_all(run);
    baseline_release(run, &baseline);
    textfile_release(run, &config);
}

static void writes(struct run *run)
{
    if (options.sarif)
        sandbox_allow_file(&run->sandbox, options.sarif);
    if (options.junit)
        sandbox_allow_file(&run->sandbox, options.junit);
    if (options.codequality)
        sandbox_allow_file(&run->sandbox, options.codequality);
}

const struct command command_validate = {
    .name = "validate",
    .sub = "",
    .operands = "FILE...",
    .operands_max = SIZE_MAX,
    .summary = "check files against all rules",
    .about = "Checks models against all rules, and prints each finding "
             "with its rule, its place and what is wrong, then a "
             "verdict. An error is what a reader that follows the "
             "specification, llama.cpp or transformers does not load, or "
             "reads as something else; a warning loads, but probably not "
             "as it was meant; a note is about what is unknown here.\n\n"
             "Only headers are read; with --data all tensor data is "
             "checked as well. Of a folder every model in it and its "
             "subfolders is checked. modelfile-rules(7) explains the "
             "rules, and so does --explain.\n",
    .examples = "modelfile validate model.gguf\n"
                "modelfile validate --data --strict models/\n"
                "modelfile validate --sarif findings.sarif *.gguf\n"
                "modelfile validate --ignore 'DATA-ZERO:blk.*' model.gguf\n"
                "modelfile validate --explain TENSOR-OVERLAP\n",
    .exit_no = "errors were found",
    .options = table,
    .remote = true,
    .in_order = true,
    .shared = true,
    .execute = validate,
    .writes = writes,
    .check_operands = files_from_operands,
};
