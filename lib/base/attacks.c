/* SPDX-License-Identifier: MIT
 *
 * attacks.c - which known attack a finding is the mark of
 *
 * Checks do not know attacks: they look for what is wrong, and attacks.def says
 * which findings have been used against some reader.  A row looks at the text
 * of a finding, since the text has the place and the number; a check of its own
 * for each attack was the alternative, and it would find the same fields a
 * second time.  tests/cli/attacks.t fails if a fixture of a row stops naming
 * it, so a reworded message cannot lose one.
 */

#include <stdlib.h>
#include <string.h>

#include "lib/base/rules.h"

static const struct attack {
    const char *id;
    enum mf_rule rule;
    const char *format, *clue;
    uint64_t least;
    const char *meaning;
} attacks[] = {
#define ATTACK(id, RULE, format, clue, least, meaning)                         \
    { id, MF_RULE_##RULE, format, clue, least, meaning },
#include "lib/base/attacks.def"
#undef ATTACK
};

#define ATTACK_COUNT (sizeof(attacks) / sizeof(*attacks))

/* Moves *text past the number that it begins with; false if it is too small or
 * there is none. */
static bool take_number(const char **text, uint64_t least)
{
    const char *at = *text;
    char *end;

    if (*at < '0' || *at > '9' || strtoull(at, &end, 10) < least)
        return false;
    *text = end;
    return true;
}

/* Whether the text contains the clue: '*' stands for any text, '#' for a
 * decimal number of at least `least`. */
static bool clue_fits(const char *clue, uint64_t least, const char *text)
{
    const char *at = clue;
    const char *again = clue; /* after a mismatch: from here in the clue, */
    const char *start = text; /* and one character after this in the text */

    while (*at) {
        if (*at == '*') {
            again = ++at;
            start = text;
        } else if (*at == '#' ? take_number(&text, least) : *at == *text) {
            text += *at++ != '#';
        } else if (*start) {
            text = ++start;
            at = again;
        } else {
            return false;
        }
    }
    return true;
}

bool mf_attack_at(size_t index, struct mf_attack_info *out)
{
    if (!out || index >= ATTACK_COUNT)
        return false;
    *out = (struct mf_attack_info){ .id = attacks[index].id,
                                    .rule = mf_rules[attacks[index].rule].id,
                                    .meaning = attacks[index].meaning };
    return true;
}

bool mf_attack_fits(size_t index, const char *format,
                    const struct mf_finding *finding)
{
    const struct attack *row;

    if (!finding || !finding->rule || !finding->message ||
        index >= ATTACK_COUNT)
        return false;
    row = &attacks[index];
    return strcmp(finding->rule, mf_rules[row->rule].id) == 0 &&
           (!format || !row->format || strcmp(format, row->format) == 0) &&
           clue_fits(row->clue, row->least, finding->message);
}
