/* SPDX-License-Identifier: MIT
 *
 * sarif.c - findings as SARIF 2.1.0, which code hosts show beside the files
 *
 * https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
 */
#include <string.h>

#include "cli/commands/validate/validate.h"

static void text_object(struct run *run, const char *key, const char *text)
{
    mf_json_key(&run->json, key);
    mf_json_begin(&run->json, '{');
    json_text(run, "text", text);
    mf_json_end(&run->json, '}');
}

static void rules(struct run *run)
{
    struct mf_json_out *json = &run->json;
    struct mf_rule_info rule;

    mf_json_key(json, "rules");
    mf_json_begin(json, '[');
    for (size_t i = 0; mf_rule_at(i, &rule); i++) {
        mf_json_begin(json, '{');
        json_text(run, "id", rule.id);
        text_object(run, "shortDescription", rule.meaning);
        if (rule_text(rule.id))
            text_object(run, "fullDescription", rule_text(rule.id));
        mf_json_key(json, "defaultConfiguration");
        mf_json_begin(json, '{');
        json_text(run, "level", mf_severity_name(rule.severity));
        mf_json_end(json, '}');
        mf_json_end(json, '}');
    }
    mf_json_end(json, ']');
}

static void begin(struct run *run)
{
    struct mf_json_out *json = &run->json;

    mf_json_begin(json, '{');
    json_text(run, "$schema",
              "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/"
              "schemas/sarif-schema-2.1.0.json");
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
    rules(run);
    mf_json_end(json, '}');
    mf_json_end(json, '}');
    mf_json_key(json, "results");
    mf_json_begin(json, '[');
}

/* A path as a URI reference: what RFC 3986 does not let through is written as
 * %XX, and a first part with a colon must not look like a scheme. */
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
    if (offset <= INT64_MAX) {
        mf_json_key(json, "region");
        mf_json_begin(json, '{');
        json_number(run, "byteOffset", offset);
        mf_json_end(json, '}');
    }
    mf_json_end(json, '}');
    mf_json_end(json, '}');
    mf_json_end(json, ']');
}

/* ---- what is not about a model ---- */

/* Files that could not be read, and what is not shown, are told in the
 * invocation, which comes last.  Until then each is here as three texts with
 * their NULs: level, path, sentence. */
static struct gathered told_later;

struct later {
    struct run *run;
    size_t before;
    bool whole; /* no memory was refused */
};

static void add(void *user, const char *text)
{
    struct later *later = user;

    later->whole =
        later->whole && gather(later->run, &told_later, text, strlen(text));
}

static void add_end(struct later *later)
{
    later->whole = later->whole && gather(later->run, &told_later, "", 1);
}

static struct later begin_later(struct run *run, const char *level,
                                const char *path)
{
    struct later later = { run, told_later.size, true };

    add(&later, level);
    add_end(&later);
    add(&later, path);
    add_end(&later);
    return later;
}

/* A half is of no use; the exit code and standard error tell as well. */
static void end_later(struct later *later)
{
    add_end(later);
    if (!later->whole)
        told_later.size = later->before;
}

static void notifications(struct run *run)
{
    struct mf_json_out *json = &run->json;
    const char *at = told_later.at;
    const char *end = at ? at + told_later.size : NULL;

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

static void file(struct run *run, const struct verdict *verdict)
{
    struct mf_json_out *json = &run->json;
    struct later later;

    if (verdict->refused) {
        later = begin_later(run, "error", verdict->path);
        finding_line(&verdict->result[0], add, &later);
        end_later(&later);
        return;
    }
    for (size_t i = 0; i < verdict->count; i++) {
        const struct mf_finding *finding = &verdict->result[i].finding;

        mf_json_begin(json, '{');
        json_text(run, "ruleId", finding->rule);
        json_text(run, "level", mf_severity_name(finding->severity));
        text_object(run, "message", finding->message);
        location(run, verdict->result[i].path, finding->offset);
        mf_json_end(json, '}');
    }
    if (tally_sum(&verdict->unshown) > 0) {
        later = begin_later(run, "warning", verdict->path);
        unshown_line(verdict, add, &later);
        end_later(&later);
    }
}

static void end(struct run *run)
{
    struct mf_json_out *json = &run->json;

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
    out_text(&run->out, "\n");
    gather_release(run, &told_later);
}

const struct report_form report_sarif = { begin, file, end };
