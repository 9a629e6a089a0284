/* SPDX-License-Identifier: MIT
 *
 * codequality.c - findings as GitLab's Code Quality report
 *
 * https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
 *
 * GitLab compares the fingerprints of two branches, and drops an entry whose
 * fingerprint came before.
 */
#include <string.h>

#include "cli/commands/validate/validate.h"
#include "cli/json.h"

/* Takes the place of a rule. */
#define NOT_READABLE "NOT-READABLE"
#define NOT_SHOWN    "NOT-SHOWN"

#define BEGINNING "[{\"check_name\":\""
#define EMPTY     "[]\n"

static struct identities identities;

static bool begin(struct run *run, struct out *out, const char *reader)
{
    (void)out; /* where run->json leads */
    (void)reader;
    mf_json_begin(&run->json, '[');
    return true;
}

static void location(struct run *run, const char *path)
{
    struct mf_json_out *json = &run->json;

    mf_json_key(json, "location");
    mf_json_begin(json, '{');
    json_text(run, "path", path);
    mf_json_key(json, "lines");
    mf_json_begin(json, '{');
    json_number(run, "begin", 1); /* a model has no lines */
    mf_json_end(json, '}');
    mf_json_end(json, '}');
}

static void piece(void *user, const char *text)
{
    mf_json_piece(user, text, strlen(text));
}

/* Begins an entry, in which the description is still open. */
static void open_entry(struct run *run, const char *check)
{
    mf_json_begin(&run->json, '{');
    json_text(run, "check_name", check);
    mf_json_key(&run->json, "description");
    mf_json_open_string(&run->json);
}

static void close_entry(struct run *run, const char *path, const char *check,
                        const char *message, const char *severity)
{
    mf_json_close_string(&run->json, false);
    path = identity_json(run, &identities, "fingerprint", path, check, message);
    json_text(run, "severity", severity);
    location(run, path);
    mf_json_end(&run->json, '}');
}

static const char *const severities[] = {
    [MF_NOTE] = "info", [MF_WARNING] = "minor", [MF_ERROR] = "critical"
};

static void finding_entry(struct run *run, const struct verdict *verdict,
                          const struct result *result)
{
    const struct mf_finding *finding = &result->finding;
    const char *check = verdict->refused ? NOT_READABLE : finding->rule;

    open_entry(run, check);
    piece(&run->json, check);
    finding_sentence(result, piece, &run->json);
    close_entry(run, result->path, check, finding->message,
                verdict->refused ? "blocker" : severities[finding->severity]);
}

static void unshown_entry(struct run *run, const struct verdict *verdict)
{
    int severity = MF_ERROR;

    while (severity > MF_NOTE && verdict->unshown.of[severity] == 0)
        severity--;
    open_entry(run, NOT_SHOWN);
    unshown_line(verdict, piece, &run->json);
    close_entry(run, verdict->path, NOT_SHOWN, "", severities[severity]);
}

static void file(struct run *run, struct out *out,
                 const struct verdict *verdict)
{
    (void)out;
    for (size_t i = 0; i < verdict->count; i++)
        finding_entry(run, verdict, &verdict->result[i]);
    if (tally_sum(&verdict->unshown) > 0)
        unshown_entry(run, verdict);
}

static void end(struct run *run, struct out *out, const struct totals *totals)
{
    (void)totals;
    mf_json_end(&run->json, ']');
    out_text(out, "\n");
    identities_release(run, &identities);
}

const struct report_form report_codequality = {
    .name = "Code Quality",
    .beginning = BEGINNING,
    .empty = EMPTY,
    .begin = begin,
    .file = file,
    .end = end,
};
