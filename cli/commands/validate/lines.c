/* SPDX-License-Identifier: MIT
 *
 * lines.c - the lines of a text report
 *
 * The other forms use the same sentences, and baseline.c recognizes them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands/validate/validate.h"

void finding_sentence(const struct result *result, put_text *put, void *user)
{
    const struct mf_finding *finding = &result->finding;
    const char *attack, *before = ATTACK_WORDS;
    char place[32] = "";
    size_t next = 0;

    if (finding->offset != MF_NO_OFFSET)
        snprintf(place, sizeof(place), " at 0x%" PRIx64, finding->offset);
    put(user, place);
    put(user, ": ");
    put(user, finding->message);
    for (; (attack = finding_attack(result, &next)); before = ", ") {
        put(user, before);
        put(user, attack);
    }
    if (*before == ',')
        put(user, ")");
    if (result->spared) {
        put(user, SPARED_WORDS);
        put(user, result->spared);
        put(user, ")");
    }
}

void finding_line(const struct result *result, put_text *put,
                  put_severity *mark, void *user)
{
    const struct mf_finding *finding = &result->finding;

    put(user, result->path);
    if (*finding->rule) {
        put(user, ": ");
        if (mark)
            mark(user, finding->severity);
        else
            put(user, mf_severity_name(finding->severity));
        put(user, " ");
        put(user, finding->rule);
    }
    finding_sentence(result, put, user);
}

size_t tally_sum(const struct tally *tally)
{
    return tally->of[MF_ERROR] + tally->of[MF_WARNING] + tally->of[MF_NOTE];
}

void missing_line(const struct verdict *verdict, put_text *put, void *user)
{
    if (verdict->missing == 0)
        return;
    put(user, verdict->missing_path);
    put(user, MISSING_WORDS);
    put(user, size_text(verdict->missing).at);
    put(user, " missing");
}

void unshown_line(const struct verdict *verdict, put_text *put, void *user)
{
    const struct tally *tally = &verdict->unshown;
    char text[200];

    if (tally_sum(tally) == 0)
        return;
    snprintf(text, sizeof(text),
             UNSHOWN_WORDS "%zu error%s, %zu warning%s, %zu note%s; "
                           "--max-findings %zu shows all",
             tally->of[MF_ERROR], tally->of[MF_ERROR] == 1 ? "" : "s",
             tally->of[MF_WARNING], tally->of[MF_WARNING] == 1 ? "" : "s",
             tally->of[MF_NOTE], tally->of[MF_NOTE] == 1 ? "" : "s",
             tally_sum(&verdict->found));
    put(user, verdict->path);
    put(user, text);
}

/* ", 3 warnings hidden", or nothing. */
static void add_count(char *text, size_t room, size_t count, const char *what,
                      const char *end)
{
    size_t size = strlen(text);

    if (count > 0)
        snprintf(text + size, room - size, ", %zu %s%s%s", count, what,
                 *what && count != 1 ? "s" : "", end);
}

struct passed_text passed_text(size_t accepted, size_t ignored,
                               const struct tally *hidden)
{
    struct passed_text text = { "" };

    add_count(text.at, sizeof(text.at), accepted, "",
              "accepted by the baseline");
    add_count(text.at, sizeof(text.at), ignored, "", "ignored");
    add_count(text.at, sizeof(text.at), hidden->of[MF_WARNING], "warning",
              " hidden");
    add_count(text.at, sizeof(text.at), hidden->of[MF_NOTE], "note", " hidden");
    return text;
}

void total_line(const struct totals *totals, put_text *put, void *user)
{
    const size_t *found = totals->found.of;
    char text[400];

    snprintf(text, sizeof(text),
             TOTAL_WORDS "%zu files: %zu error%s, %zu warning%s%s; %zu with "
                         "errors",
             totals->files, found[MF_ERROR], found[MF_ERROR] == 1 ? "" : "s",
             found[MF_WARNING], found[MF_WARNING] == 1 ? "" : "s",
             passed_text(totals->accepted, totals->ignored, &totals->hidden).at,
             totals->with_errors);
    put(user, text);
    if (totals->unread > 0) {
        snprintf(text, sizeof(text), ", %zu not readable", totals->unread);
        put(user, text);
    }
}
