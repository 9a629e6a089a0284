/* SPDX-License-Identifier: MIT
 *
 * report_line.c - the lines of a text report, read again
 */
#include <string.h>
#include <sys/stat.h>

#include "cli/commands/validate/validate.h"

char *report_line_end(char *text, const char *end, bool *whole)
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

/* Whether text is a rule with an offset and a message: "TENSOR-ROW at 0x40: ".
 */
static bool split_rule(const char *text, struct report_line *line)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
    size_t digits;

    line->rule = text;
    line->rule_size = strspn(text, letters);
    if (line->rule_size == 0)
        return false;
    text += line->rule_size;
    if (strncmp(text, " at 0x", 6) == 0) {
        digits = strspn(text + 6, "0123456789abcdef");
        text += digits > 0 ? 6 + digits : 0;
    }
    line->message = text + 2;
    return strncmp(text, ": ", 2) == 0;
}

static bool split_at(const char *text, const char *colon,
                     struct report_line *line)
{
    for (int severity = MF_NOTE; severity <= MF_ERROR; severity++) {
        const char *name = mf_severity_name((enum mf_severity)severity);
        size_t size = strlen(name);

        line->path_size = (size_t)(colon - text);
        if (strncmp(colon + 2, name, size) == 0 && colon[2 + size] == ' ' &&
            split_rule(colon + 2 + size + 1, line))
            return true;
    }
    return false;
}

static bool leads_to_file(char *text, size_t size)
{
    char kept = text[size];
    struct stat status;
    bool leads;

    text[size] = 0;
    leads = stat(text, &status) == 0;
    text[size] = kept;
    return leads;
}

static bool has_known_rule(const struct report_line *line)
{
    struct mf_rule_info rule;

    for (size_t i = 0; mf_rule_at(i, &rule); i++)
        if (strlen(rule.id) == line->rule_size &&
            memcmp(rule.id, line->rule, line->rule_size) == 0)
            return true;
    return false;
}

/* A path, and a name in a message, can contain ": error " as well.  The longest
 * path that leads to a file is the one, else the first place with a rule that
 * there is, else the first with what could be one. */
bool report_line_split(char *text, struct report_line *out)
{
    enum { NOTHING, SHAPE, KNOWN, FILE_HERE } best = NOTHING;
    struct report_line line;

    for (const char *at = text; (at = strstr(at, ": ")) != NULL; at++) {
        if (!split_at(text, at, &line))
            continue;
        if (best < SHAPE || (best < KNOWN && has_known_rule(&line)))
            *out = line;
        if (best < KNOWN)
            best = has_known_rule(&line) ? KNOWN : SHAPE;
        if (leads_to_file(text, line.path_size)) {
            *out = line;
            best = FILE_HERE;
        }
    }
    return best != NOTHING;
}

bool report_line_is_remark(const char *line)
{
    return strstr(line, ", header checked, data ") ||
           strstr(line, COVERAGE_WORDS) || strstr(line, UNSHOWN_WORDS) ||
           strstr(line, MISSING_WORDS) ||
           strncmp(line, TOTAL_WORDS, strlen(TOTAL_WORDS)) == 0 ||
           strstr(line, ": file ends "); /* of version 0.1 */
}
