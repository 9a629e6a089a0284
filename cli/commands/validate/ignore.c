/* SPDX-License-Identifier: MIT
 *
 * ignore.c - findings that do not count, and severities that are not shown
 */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/commands/validate/validate.h"
#include "cli/nearest.h"
#include "cli/report.h"

/* ---- --ignore ---- */

/* Whether an option's text names the rule; *pattern: what follows it, or NULL.
 */
static bool names_rule(const char *text, const char *rule, const char **pattern)
{
    size_t size = strcspn(text, ":");

    *pattern = text[size] ? text + size + 1 : NULL;
    return strlen(rule) == size && strncasecmp(text, rule, size) == 0;
}

/* The subject is part of a message, or the name of a tensor. */
static bool matches(const char *pattern, struct mf_str subject)
{
    char text[sizeof(((struct mf_error *)0)->message)];

    if (subject.at && subject.at[subject.size] == 0)
        return fnmatch(pattern, subject.at, 0) == 0;
    snprintf(text, sizeof(text), "%.*s", (int)subject.size,
             subject.at ? subject.at : "");
    return fnmatch(pattern, text, 0) == 0;
}

bool ignore_takes(const struct text_list *list,
                  const struct mf_finding *finding)
{
    const char *pattern;

    for (size_t i = 0; i < list->count; i++)
        if (names_rule(list->at[i], finding->rule, &pattern) &&
            (!pattern || matches(pattern, mf_finding_subject(finding))))
            return true;
    return false;
}

static const char *next_rule(void *state)
{
    size_t *next = state;
    struct mf_rule_info rule;

    return mf_rule_at((*next)++, &rule) ? rule.id : NULL;
}

static bool check(struct run *run, const char *text)
{
    size_t size = strcspn(text, ":"), next = 0;
    const char *rule, *pattern;
    char name[64];

    while ((rule = next_rule(&next)) != NULL)
        if (names_rule(text, rule, &pattern))
            return true;
    next = 0;
    snprintf(name, sizeof(name), "%.*s", size < 60 ? (int)size : 60, text);
    report_usage(run, "unknown rule '%s' in '--ignore'%s", name,
                 nearest_word(name, next_rule, &next).hint);
    return false;
}

bool ignore_check(struct run *run, const struct text_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (!check(run, list->at[i]))
            return false;
    return true;
}

/* ---- --hide ---- */

bool hide_parse(struct run *run, const char *words, bool hidden[MF_ERROR + 1])
{
    static const char *const names[] = {
        [MF_NOTE] = "notes", [MF_WARNING] = "warnings"
    };

    for (bool more = true; more;) {
        size_t size = strcspn(words, ",");
        int severity = MF_NOTE;

        while (severity < MF_ERROR && (strlen(names[severity]) != size ||
                                       memcmp(names[severity], words, size)))
            severity++;
        if (severity == MF_ERROR) {
            report_usage(run,
                         "invalid value '%.*s' for '--hide': expected 'notes', "
                         "'warnings' or both, with a comma between them",
                         size < 60 ? (int)size : 60, words);
            return false;
        }
        hidden[severity] = true;
        more = words[size] == ',';
        words += size + 1;
    }
    return true;
}
