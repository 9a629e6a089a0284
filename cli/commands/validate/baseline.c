/* SPDX-License-Identifier: MIT
 *
 * baseline.c - findings that are accepted: the text report of an earlier run
 *
 * A finding is known again by its file, rule and subject, so that an edit that
 * moves bytes or changes numbers does not bring it back.  The subject is what
 * the message quotes first; a message that quotes nothing stands for itself,
 * its numbers left out.  Each line accepts one finding: a second one of the
 * same rule and subject is new.
 *
 * Files are compared, not the spelling of their paths.  Where the report was
 * made elsewhere, so that its path leads nowhere here, the shorter path has to
 * be the end of the longer one.
 *
 * All is in one hash table of strings: "=PATH" has the number of a path, and
 * "NUMBER RULE SUBJECT" how many findings are still accepted.  The hash has no
 * secret seed: only the author of the baseline could make strings collide.
 */
#define _XOPEN_SOURCE 700 /* realpath */

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/validate/validate.h"
#include "cli/report.h"

/* ---- the hash table ---- */

struct entry {
    size_t at;     /* of its string in baseline->strings, terminated */
    size_t number; /* see above */
};

/* The slot of a string, or the empty slot for it. */
static uint32_t *find(const struct baseline *baseline, const char *text)
{
    size_t at =
        (size_t)mf_text_hash(str_of(text), 0) & (baseline->slot_count - 1);

    for (;; at = (at + 1) & (baseline->slot_count - 1)) {
        uint32_t *slot = &baseline->slot[at];

        if (*slot == 0 ||
            strcmp(baseline->strings.at + baseline->entry[*slot - 1].at,
                   text) == 0)
            return slot;
    }
}

/* The entry of a string; NULL if it has none. */
static struct entry *find_entry(const struct baseline *baseline,
                                const char *text)
{
    uint32_t slot = *find(baseline, text);

    return slot ? &baseline->entry[slot - 1] : NULL;
}

/* The same, with a new one of number 0; NULL after an error of the env. */
static struct entry *add_entry(struct run *run, struct baseline *baseline,
                               const char *text)
{
    uint32_t *slot = find(baseline, text);
    struct entry *entry;

    if (*slot)
        return &baseline->entry[*slot - 1];
    entry = &baseline->entry[baseline->entry_count];
    *entry = (struct entry){ .at = baseline->strings.size };
    if (!buffer_add(run, &baseline->strings, text, strlen(text) + 1))
        return NULL;
    *slot = (uint32_t)++baseline->entry_count;
    return entry;
}

/* ---- strings ---- */

/* Sets a buffer to a text; false after an error of the env. */
static bool set(struct run *run, struct buffer *buffer, const char *text)
{
    buffer->size = 0;
    return buffer_add(run, buffer, text, strlen(text) + 1);
}

/* baseline->key becomes the string of a finding in the file of that number. */
static bool make_key(struct run *run, struct baseline *baseline, size_t path,
                     const char *rule, size_t rule_size, const char *message)
{
    struct buffer *key = &baseline->key;
    char number[32];

    snprintf(number, sizeof(number), "%zu ", path);
    key->size = 0;
    return buffer_add(run, key, number, strlen(number)) &&
           buffer_add(run, key, rule, rule_size) &&
           buffer_add(run, key, " ", 1) && same_subject(run, key, message) &&
           buffer_add(run, key, "", 1);
}

/* ---- paths ---- */

/* Whether the shorter one, in whole names, is the end of the other. */
static bool ends_alike(const char *a, const char *b)
{
    size_t size_a = strlen(a), size_b = strlen(b);
    const char *longer = size_a >= size_b ? a : b;
    const char *shorter = size_a >= size_b ? b : a;
    size_t more = size_a >= size_b ? size_a - size_b : size_b - size_a;

    return *shorter && strcmp(longer + more, shorter) == 0 &&
           (more == 0 || *shorter == '/' || longer[more - 1] == '/');
}

static bool resolve(const char *path, char real[PATH_MAX])
{
    return strlen(path) < PATH_MAX && realpath(path, real) != NULL;
}

/* Sets baseline->key to "=" and the path of the file; *here: it exists. */
static bool make_path(struct run *run, struct baseline *baseline,
                      const char *path, bool *here)
{
    char real[PATH_MAX];

    *here = strcmp(path, "-") != 0 && resolve(path, real);
    baseline->key.size = 0;
    return buffer_add(run, &baseline->key, "=", 1) &&
           (*here ? buffer_add(run, &baseline->key, real, strlen(real) + 1)
                  : same_path(run, &baseline->key, path));
}

/* The number of the path of a line, from 1 on; 0 after an error of the env. */
static size_t add_path(struct run *run, struct baseline *baseline,
                       const char *path)
{
    struct entry *entry;
    bool here;

    if (!make_path(run, baseline, path, &here))
        return 0;
    entry = add_entry(run, baseline, baseline->key.at);
    if (!entry || entry->number > 0)
        return entry ? entry->number : 0;
    entry->number = ++baseline->path_count;
    if (!here && !buffer_add(run, &baseline->elsewhere,
                             (const char *)&entry->at, sizeof(entry->at)))
        return 0;
    return entry->number;
}

/* The number of the path of a line that leads nowhere here, and has the longest
 * end in common with the path; 0: there is none. */
static size_t find_elsewhere(const struct baseline *baseline, const char *path)
{
    size_t count = baseline->elsewhere.size / sizeof(size_t), longest = 0,
           found = 0;

    for (size_t i = 0; i < count; i++) {
        size_t at;
        const char *other;

        memcpy(&at, baseline->elsewhere.at + i * sizeof(at), sizeof(at));
        other = baseline->strings.at + at;
        if (strlen(other) > longest && ends_alike(other + 1, path)) {
            longest = strlen(other);
            found = find_entry(baseline, other)->number;
        }
    }
    return found;
}

/* Finds the numbers of a result's path, unless it is the one of last time. */
static bool look_up_path(struct run *run, struct baseline *baseline,
                         const char *path)
{
    struct buffer *key = &baseline->key;
    struct entry *entry;
    bool here;

    if (baseline->path.at && strcmp(baseline->path.at, path) == 0)
        return true;
    if (!make_path(run, baseline, path, &here))
        return false;
    entry = find_entry(baseline, key->at);
    baseline->path_here = entry && here ? entry->number : 0;
    key->size = 0;
    if (!same_text(run, key, str_of(path)) || !buffer_add(run, key, "", 1) ||
        !set(run, &baseline->path, key->at))
        return false;
    key->size = 0;
    if (!same_path(run, key, baseline->path.at))
        return false;
    baseline->path_elsewhere = find_elsewhere(baseline, key->at);
    return set(run, &baseline->path, path);
}

/* ---- reading ---- */

/* False after an error of the env. */
static bool add_finding(struct run *run, struct baseline *baseline, char *text,
                        const struct report_line *line)
{
    struct entry *entry;
    size_t path;

    text[line->path_size] = 0;
    path = add_path(run, baseline, text);
    if (path == 0 || !make_key(run, baseline, path, line->rule, line->rule_size,
                               line->message))
        return false;
    entry = add_entry(run, baseline, baseline->key.at);
    if (entry)
        entry->number++;
    return entry != NULL;
}

static bool add_lines(struct run *run, const char *path,
                      struct baseline *baseline)
{
    const struct textfile *file = &baseline->file;
    const char *end = file->text + file->size;
    size_t number = 1;
    bool whole;

    for (char *text = file->text, *next; text < end; text = next, number++) {
        struct report_line line;

        next = report_line_end(text, end, &whole);
        if (whole && report_line_split(text, &line)) {
            if (!add_finding(run, baseline, text, &line)) {
                report_memory(run, path);
                return false;
            }
        } else if (!whole ||
                   (*text && *text != '#' && !report_line_is_remark(text))) {
            report_usage(run,
                         "'--baseline' requires a text report: line %zu of "
                         "'%.200s' is not a line of one",
                         number, path);
            return false;
        }
    }
    return true;
}

/* Room for two strings of each line; at most half of the slots are used. */
static bool make_room(struct run *run, struct baseline *baseline)
{
    const struct textfile *file = &baseline->file;
    size_t count = 4;

    baseline->line_count = 1;
    for (size_t i = 0; i < file->size; i++)
        baseline->line_count += file->text[i] == '\n';
    while (count / 4 < baseline->line_count)
        count *= 2;
    baseline->slot =
        mf_env_resize(run->env, NULL, 0, count * sizeof(*baseline->slot));
    if (!baseline->slot)
        return false;
    baseline->slot_count = count;
    memset(baseline->slot, 0, count * sizeof(*baseline->slot));
    baseline->entry = mf_env_resize(
        run->env, NULL, 0, 2 * baseline->line_count * sizeof(*baseline->entry));
    return baseline->entry != NULL;
}

bool baseline_read(struct run *run, const char *path, struct baseline *baseline)
{
    static const struct textkind kind = { .what = "the baseline",
                                          .size_max = TEXTFILE_MAX };

    if (!textfile_read(run, path, &kind, &baseline->file))
        return false;
    if (!make_room(run, baseline)) {
        report_memory(run, path);
    } else if (add_lines(run, path, baseline)) {
        textfile_release(run, &baseline->file);
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
    mf_env_resize(run->env, baseline->entry,
                  baseline->entry
                      ? 2 * baseline->line_count * sizeof(*baseline->entry)
                      : 0,
                  0);
    buffer_release(run, &baseline->strings);
    buffer_release(run, &baseline->elsewhere);
    buffer_release(run, &baseline->key);
    buffer_release(run, &baseline->path);
    *baseline = (struct baseline){ 0 };
}

/* ---- look-up ---- */

/* Out of memory nothing is accepted. */
bool baseline_accepts(struct run *run, struct baseline *baseline,
                      const struct result *result)
{
    const struct mf_finding *finding = &result->finding;
    size_t paths[2];

    if (!baseline->slot || !look_up_path(run, baseline, result->path))
        return false;
    paths[0] = baseline->path_here;
    paths[1] = baseline->path_elsewhere;
    for (size_t i = 0; i < 2; i++) {
        struct entry *entry = NULL;

        if (paths[i] > 0 && make_key(run, baseline, paths[i], finding->rule,
                                     strlen(finding->rule), finding->message))
            entry = find_entry(baseline, baseline->key.at);
        if (entry && entry->number > 0) {
            entry->number--;
            return true;
        }
    }
    return false;
}
