/* SPDX-License-Identifier: MIT
 *
 * attacks.h - which known attack a finding is the mark of
 *
 * Checks do not know attacks: they look for what is wrong, and attacks.def says
 * which findings have been used against some reader.  A row looks at the text
 * of a finding, since the text has the place and the number; a check of its own
 * for each attack was the alternative, and it would find the same fields a
 * second time.  tests/cli/attacks.t fails if a fixture of a row stops naming it, so
 * a reworded message cannot lose one.
 */
#ifndef MF_LIB_ATTACKS_H
#define MF_LIB_ATTACKS_H

#include "lib/base/rules.h"

/* Whether the text contains the clue: '*' stands for any text, '#' for a
 * decimal number of at least `least`. */
bool mf_clue_fits(const char *clue, uint64_t least, const char *text);

#endif
