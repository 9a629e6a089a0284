/* SPDX-License-Identifier: MIT
 *
 * codequality.c - findings as GitLab's Code Quality report
 *
 * https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
 *
 * GitLab compares the fingerprints of two branches, and drops an entry whose
 * fingerprint came before.  So the fingerprint is made of file, rule and
 * subject, which edits elsewhere in the file leave alone, and of how often
 * these three came.
 */
#define _XOPEN_SOURCE 700 /* getcwd */

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/validate/validate.h"
#include "cli/json.h"
#include "cli/report.h"

/* Takes the place of a rule. */
#define NOT_READABLE "NOT-READABLE"
#define NOT_SHOWN    "NOT-SHOWN"

#define BEGINNING "[{\"check_name\":\""
#define EMPTY     "[]\n"

static struct counted counted;

/* Path, rule and subject of the entry, with a NUL after each. */
static struct buffer identity;

static void begin(struct run *run, struct out *out, const char *reader)
{
    (void)out; /* where run->json leads */
    (void)reader;
    mf_json_begin(&run->json, '[');
}

/* The path relative to the folder in which the command runs, which has to be
 * the root of the repository; other absolute paths stay. */
static const char *relative(const char *path)
{
    char folder[PATH_MAX];
    size_t size;

    if (*path != '/' || !getcwd(folder, sizeof(folder)))
        return path;
    size = strlen(folder);
    return strncmp(path, folder, size) == 0 && path[size] == '/'
               ? path + size + 1
               : path;
}

/* Sets the identity; returns how often it came, 0 after an error of the env. */
static size_t identify(struct run *run, const char *path, const char *check,
                       const char *message)
{
    identity.size = 0;
    if (!same_path(run, &identity, relative(path)) ||
        !buffer_add(run, &identity, check, strlen(check) + 1) ||
        !same_subject(run, &identity, message) ||
        !buffer_add(run, &identity, "", 1))
        return 0;
    return counted_add(run, &counted, &identity);
}

static void fingerprint(struct run *run, size_t number)
{
    struct mf_sha256 sha;
    uint8_t digest[32];
    char text[32];

    snprintf(text, sizeof(text), "%zu", number);
    mf_sha256_begin(&sha);
    mf_sha256_add(&sha, identity.at, identity.size);
    mf_sha256_add(&sha, text, strlen(text));
    mf_sha256_end(&sha, digest);
    mf_json_key(&run->json, "fingerprint");
    json_hex(run, (struct mf_str){ (const char *)digest, 16 });
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
    size_t number = identify(run, path, check, message);

    mf_json_close_string(&run->json, false);
    if (number == 0)
        report_failure(run, path);
    fingerprint(run, number);
    json_text(run, "severity", severity);
    location(run, number > 0 ? identity.at : path);
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
    counted_release(run, &counted);
    buffer_release(run, &identity);
}

const struct report_form report_codequality = {
    .name = "Code Quality",
    .beginning = BEGINNING,
    .empty = EMPTY,
    .begin = begin,
    .file = file,
    .end = end,
};
