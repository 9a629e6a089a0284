/* SPDX-License-Identifier: MIT
 *
 * sarif.c - findings as SARIF 2.1.0, which code hosts show next to the files
 *
 * https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
 */
#include <string.h>

#include "cli/commands/validate/validate.h"
#include "cli/json.h"
#include "cli/rules_text.h"

static struct identities identities;

static void text_object(struct run *run, const char *key, const char *text)
{
    mf_json_key(&run->json, key);
    mf_json_begin(&run->json, '{');
    json_text(run, "text", text);
    mf_json_end(&run->json, '}');
}

/* False after a report: their texts are missing. */
static bool rules(struct run *run)
{
    struct mf_json_out *json = &run->json;
    struct mf_rule_info rule;
    struct rule_texts texts;
    bool explained = rule_texts_open(run, &texts);
    const char *text;

    mf_json_key(json, "rules");
    mf_json_begin(json, '[');
    for (size_t i = 0; mf_rule_at(i, &rule); i++) {
        mf_json_begin(json, '{');
        json_text(run, "id", rule.id);
        text_object(run, "shortDescription", rule.meaning);
        text = explained ? rule_text(&texts, rule.id) : NULL;
        if (text)
            text_object(run, "fullDescription", text);
        mf_json_key(json, "defaultConfiguration");
        mf_json_begin(json, '{');
        json_text(run, "level", mf_severity_name(rule.severity));
        mf_json_end(json, '}');
        mf_json_end(json, '}');
    }
    mf_json_end(json, ']');
    if (explained)
        rule_texts_close(&texts);
    return explained;
}

#define SCHEMA                                                                 \
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/"              \
    "schemas/sarif-schema-2.1.0.json"

static bool begin(struct run *run, struct out *out, const char *reader)
{
    struct mf_json_out *json = &run->json;
    bool complete;

    (void)out; /* where run->json leads */
    mf_json_begin(json, '{');
    json_text(run, "$schema", SCHEMA);
    json_text(run, "version", "2.1.0");
    mf_json_key(json, "runs");
    mf_json_begin(json, '[');
    mf_json_begin(json, '{');
    mf_json_key(json, "tool");
    mf_json_begin(json, '{');
    mf_json_key(json, "driver");
    mf_json_begin(json, '{');
    json_text(run, "name", "modelfile");
    json_text(run, "version", mf_version());
    complete = rules(run);
    mf_json_end(json, '}');
    mf_json_end(json, '}');
    mf_json_key(json, "properties");
    mf_json_begin(json, '{');
    json_text(run, "for", reader);
    mf_json_end(json, '}');
    mf_json_key(json, "results");
    mf_json_begin(json, '[');
    return complete;
}

/* A path as a URI reference: characters that RFC 3986 reserves become %XX, so
 * also a colon, which would look like the end of a scheme. */
static void uri(struct run *run, const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789-._~/";
    static const char digits[] = "0123456789ABCDEF";

    mf_json_key(&run->json, "uri");
    mf_json_open_string(&run->json);
    for (; *path; path++) {
        unsigned char byte = (unsigned char)*path;
        char escape[3] = { '%', digits[byte >> 4], digits[byte & 15] };

        if (strchr(plain, *path))
            mf_json_piece(&run->json, path, 1);
        else
            mf_json_piece(&run->json, escape, sizeof(escape));
    }
    mf_json_close_string(&run->json, false);
}

/* offset: MF_NO_OFFSET for the file as a whole. */
static void location(struct run *run, const char *path, uint64_t offset)
{
    struct mf_json_out *json = &run->json;

    mf_json_key(json, "locations");
    mf_json_begin(json, '[');
    mf_json_begin(json, '{');
    mf_json_key(json, "physicalLocation");
    mf_json_begin(json, '{');
    mf_json_key(json, "artifactLocation");
    mf_json_begin(json, '{');
    uri(run, path);
    mf_json_end(json, '}');
    mf_json_key(json, "region");
    mf_json_begin(json, '{');
    json_number(run, "startLine", 1); /* GitHub requires one */
    if (offset <= INT64_MAX)
        json_number(run, "byteOffset", offset);
    mf_json_end(json, '}');
    mf_json_end(json, '}');
    mf_json_end(json, '}');
    mf_json_end(json, ']');
}

/* ---- notifications ---- */

/* Files that cannot be read, and findings that are not shown, belong to the
 * invocation, which comes last.  Until then each is kept as three strings with
 * their NULs: level, path, message. */
static struct buffer pending;

struct notification {
    struct run *run;
    size_t before;
    bool whole; /* memory was not exhausted */
};

static void add(void *user, const char *text)
{
    struct notification *notification = user;

    notification->whole =
        notification->whole &&
        buffer_add(notification->run, &pending, text, strlen(text));
}

static void add_end(struct notification *notification)
{
    notification->whole =
        notification->whole && buffer_add(notification->run, &pending, "", 1);
}

static struct notification
begin_notification(struct run *run, const char *level, const char *path)
{
    struct notification notification = { run, pending.size, true };

    add(&notification, level);
    add_end(&notification);
    add(&notification, path);
    add_end(&notification);
    return notification;
}

/* Out of memory it is dropped; standard error and the exit code have it. */
static void end_notification(struct notification *notification)
{
    add_end(notification);
    if (!notification->whole)
        pending.size = notification->before;
}

static void notifications(struct run *run)
{
    struct mf_json_out *json = &run->json;
    const char *at = pending.at;
    const char *end = at ? at + pending.size : NULL;

    mf_json_key(json, "toolExecutionNotifications");
    mf_json_begin(json, '[');
    while (at != end) {
        const char *level = at, *path = level + strlen(level) + 1;
        const char *text = path + strlen(path) + 1;

        mf_json_begin(json, '{');
        json_text(run, "level", level);
        text_object(run, "message", text);
        location(run, path, MF_NO_OFFSET);
        mf_json_end(json, '}');
        at = text + strlen(text) + 1;
    }
    mf_json_end(json, ']');
}

/* All results of a run say whether they are suppressed, or none does. */
static void suppressions(struct run *run, const struct result *result)
{
    struct mf_json_out *json = &run->json;

    mf_json_key(json, "suppressions");
    mf_json_begin(json, '[');
    if (result->passed) {
        mf_json_begin(json, '{');
        json_text(run, "kind", "external");
        json_text(run, "status", "accepted");
        json_text(run, "justification",
                  strcmp(result->passed, "ignored") == 0
                      ? "ignored by the options of the run"
                      : "accepted by the baseline");
        mf_json_end(json, '}');
    }
    mf_json_end(json, ']');
}

static void result_object(struct run *run, const struct verdict *verdict,
                          const struct result *result)
{
    const struct mf_finding *finding = &result->finding;
    struct mf_json_out *json = &run->json;

    mf_json_begin(json, '{');
    json_text(run, "ruleId", finding->rule);
    json_text(run, "level", mf_severity_name(finding->severity));
    text_object(run, "message", finding->message);
    location(run, result->path, finding->offset);
    mf_json_key(json, "partialFingerprints");
    mf_json_begin(json, '{');
    identity_json(run, &identities, "modelfile/v1", result->path, finding->rule,
                  finding->message);
    mf_json_end(json, '}');
    if (verdict->passes)
        suppressions(run, result);
    mf_json_key(json, "properties");
    mf_json_begin(json, '{');
    finding_attacks(run, result);
    mf_json_end(json, '}');
    mf_json_end(json, '}');
}

static void file(struct run *run, struct out *out,
                 const struct verdict *verdict)
{
    struct notification notification;

    (void)out;
    if (verdict->refused) {
        notification = begin_notification(run, "error", verdict->path);
        finding_line(&verdict->result[0], add, NULL, &notification);
        end_notification(&notification);
        return;
    }
    for (size_t i = 0; i < verdict->count; i++)
        result_object(run, verdict, &verdict->result[i]);
    for (size_t i = 0; i < verdict->passed_count; i++)
        result_object(run, verdict, &verdict->result[verdict->room - 1 - i]);
    if (tally_sum(&verdict->unshown) > 0) {
        notification = begin_notification(run, "warning", verdict->path);
        unshown_line(verdict, add, &notification);
        end_notification(&notification);
    }
}

static void end(struct run *run, struct out *out, const struct totals *totals)
{
    struct mf_json_out *json = &run->json;

    (void)totals;
    mf_json_end(json, ']');
    mf_json_key(json, "invocations");
    mf_json_begin(json, '[');
    mf_json_begin(json, '{');
    json_bool(run, "executionSuccessful", run->code < EXIT_USAGE);
    notifications(run);
    mf_json_end(json, '}');
    mf_json_end(json, ']');
    mf_json_end(json, '}');
    mf_json_end(json, ']');
    mf_json_end(json, '}');
    out_text(out, "\n");
    buffer_release(run, &pending);
    identities_release(run, &identities);
}

const struct report_form report_sarif = {
    .name = "SARIF",
    .beginning = "{\"$schema\":\"" SCHEMA "\"",
    .begin = begin,
    .file = file,
    .end = end,
};
