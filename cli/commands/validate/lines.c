/* SPDX-License-Identifier: MIT
 *
 * lines.c - the lines of a text report
 *
 * The other forms use the same sentences, and baseline.c recognizes them.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/commands/validate/validate.h"

void finding_line(const struct result *result, put_text *put, void *user)
{
    const struct mf_finding *finding = &result->finding;
    const char *attack, *before = " (see ";
    char place[32] = "";
    size_t next = 0;

    put(user, result->path);
    if (*finding->rule) {
        put(user, ": ");
        put(user, mf_severity_name(finding->severity));
        put(user, " ");
        put(user, finding->rule);
    }
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
