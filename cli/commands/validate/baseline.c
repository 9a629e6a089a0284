/* SPDX-License-Identifier: MIT
 *
 * baseline.c - findings that are accepted: the text report of an earlier run
 *
 * Lines are compared as printed, so that paths need no parsing: a finding is
 * formatted as the report would, and looked up.  The hash has no secret seed:
 * only the author of the baseline could make lines collide.
 */
#include <string.h>

#include "cli/commands/validate/validate.h"
#include "cli/report.h"

/* ---- lines of a report ---- */

/* Whether text begins with a rule and an offset: "TENSOR-ROW at 0x40: ". */
static bool is_rule(const char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
    size_t size = strspn(text, letters), digits;

    if (size == 0)
        return false;
    text += size;
    if (strncmp(text, " at 0x", 6) == 0) {
        digits = strspn(text + 6, "0123456789abcdef");
        text += digits > 0 ? 6 + digits : 0;
    }
    return strncmp(text, ": ", 2) == 0;
}

/* Ends the line before the remark that a reader named with --for does not
 * mind: without it the same finding is an error. */
static void cut_spared(char *line)
{
    size_t size = strlen(line);
    char *at = NULL;

    for (char *next = strstr(line, SPARED_WORDS); next;
         next = strstr(next + 1, SPARED_WORDS))
        at = next;
    for (unsigned bit = 1; at && bit < MF_READERS_ALL; bit *= 2) {
        const char *name = mf_readers_name((enum mf_readers)bit);
        size_t length = strlen(SPARED_WORDS) + strlen(name) + 1;

        if (at + length == line + size && line[size - 1] == ')' &&
            strncmp(at + strlen(SPARED_WORDS), name, strlen(name)) == 0) {
            *at = 0;
            return;
        }
    }
}

static bool is_finding(const char *line)
{
    for (const char *at = line; (at = strstr(at, ": ")) != NULL; at++)
        for (int severity = MF_NOTE; severity <= MF_ERROR; severity++) {
            const char *name = mf_severity_name((enum mf_severity)severity);
            size_t size = strlen(name);

            if (strncmp(at + 2, name, size) == 0 && at[2 + size] == ' ' &&
                is_rule(at + 2 + size + 1))
                return true;
        }
    return false;
}

/* Other lines of a report. */
static bool is_remark(const char *line)
{
    return strstr(line, ", header checked, data ") ||
           strstr(line, COVERAGE_WORDS) || strstr(line, UNSHOWN_WORDS) ||
           strstr(line, MISSING_WORDS) ||
           strstr(line, ": file ends "); /* of version 0.1 */
}

/* ---- the hash table ---- */

/* FNV-1a of 64 bits. */
static uint64_t hash(const char *at, size_t size)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < size; i++)
        sum = (sum ^ (unsigned char)at[i]) * UINT64_C(0x100000001b3);
    return sum;
}

/* The slot of a line, or the empty slot for it. */
static uint32_t *find(const struct baseline *baseline, const char *line,
                      size_t size)
{
    size_t at = (size_t)hash(line, size) & (baseline->slot_count - 1);

    for (;; at = (at + 1) & (baseline->slot_count - 1)) {
        uint32_t *slot = &baseline->slot[at];
        const char *other;

        if (*slot == 0)
            return slot;
        other = baseline->file.text + (*slot - 1);
        if (strncmp(other, line, size) == 0 && other[size] == 0)
            return slot;
    }
}

/* ---- reading ---- */

/* Terminates the line at text, without its LF or CRLF; returns the next line.
 * *whole: it contains no NUL. */
static char *end_line(char *text, const char *end, bool *whole)
{
    char *stop = memchr(text, '\n', (size_t)(end - text));
    char *next = stop ? stop + 1 : text + (end - text);

    stop = stop ? stop : next;
    *stop = 0;
    *whole = strlen(text) == (size_t)(stop - text);
    if (stop > text && stop[-1] == '\r')
        stop[-1] = 0;
    return next;
}

static bool add_lines(struct run *run, const char *path,
                      struct baseline *baseline)
{
    const struct textfile *file = &baseline->file;
    const char *end = file->text + file->size;
    size_t number = 1;
    bool whole;

    for (char *line = file->text, *next; line < end; line = next, number++) {
        next = end_line(line, end, &whole);
        if (whole && is_finding(line)) {
            cut_spared(line);
            *find(baseline, line, strlen(line)) =
                (uint32_t)(line - file->text) + 1;
        } else if (!whole || (*line && *line != '#' && !is_remark(line))) {
            report_usage(run,
                         "'--baseline' requires a text report: line %zu of "
                         "'%.200s' is not a line of one",
                         number, path);
            return false;
        }
    }
    return true;
}

/* At most half of the slots are used. */
static bool make_slots(struct run *run, struct baseline *baseline)
{
    const struct textfile *file = &baseline->file;
    size_t count = 2;

    baseline->line_count = 1;
    for (size_t i = 0; i < file->size; i++)
        baseline->line_count += file->text[i] == '\n';
    while (count / 2 < baseline->line_count)
        count *= 2;
    baseline->slot =
        mf_env_resize(run->env, NULL, 0, count * sizeof(*baseline->slot));
    if (!baseline->slot)
        return false;
    baseline->slot_count = count;
    memset(baseline->slot, 0, count * sizeof(*baseline->slot));
    return true;
}

bool baseline_read(struct run *run, const char *path, struct baseline *baseline)
{
    static const struct textkind kind = { .what = "the baseline",
                                          .size_max = TEXTFILE_MAX };

    if (!textfile_read(run, path, &kind, &baseline->file))
        return false;
    if (!make_slots(run, baseline)) {
        report_failure(run, path);
    } else if (add_lines(run, path, baseline)) {
        return true;
    }
    baseline_release(run, baseline);
    return false;
}

void baseline_release(struct run *run, struct baseline *baseline)
{
    textfile_release(run, &baseline->file);
    mf_env_resize(run->env, baseline->slot,
                  baseline->slot_count * sizeof(*baseline->slot), 0);
    buffer_release(run, &baseline->key);
    *baseline = (struct baseline){ 0 };
}

/* ---- look-up ---- */

struct key { /* the line of a finding as it is printed */
    struct run *run;
    struct buffer *text;
    bool whole; /* memory was not exhausted */
};

static void add(void *user, const char *text)
{
    struct key *key = user;
    size_t left = strlen(text);
    char escape[12];

    while (left > 0 && key->whole) {
        size_t clean = mf_text_clean(text, left);

        if (clean > 0) {
            key->whole = buffer_add(key->run, key->text, text, clean);
        } else {
            clean = mf_text_escape(text, left, escape);
            key->whole =
                buffer_add(key->run, key->text, escape, strlen(escape));
        }
        text += clean;
        left -= clean;
    }
}

bool baseline_has(struct run *run, struct baseline *baseline,
                  const struct result *result)
{
    struct result other = *result;
    struct key key = { .run = run, .text = &baseline->key, .whole = true };

    if (!baseline->slot)
        return false;
    other.spared = NULL;
    for (int severity = MF_NOTE; severity <= MF_ERROR; severity++) {
        baseline->key.size = 0;
        other.finding.severity = (enum mf_severity)severity;
        finding_line(&other, add, &key);
        if (key.whole && *find(baseline, key.text->at, key.text->size) != 0)
            return true;
    }
    return false;
}
