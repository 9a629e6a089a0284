/* SPDX-License-Identifier: MIT
 *
 * rules.h - what can be found wrong with a file, one row each
 */
#ifndef MF_LIB_RULES_H
#define MF_LIB_RULES_H

#include "lib/modelfile.h"

enum mf_rule {
#define RULE(NAME, id, severity, readers, meaning)  MF_RULE_##NAME,
#define ASKED(NAME, id, severity, readers, meaning) MF_RULE_##NAME,
#define REFUSAL(NAME, id, status, readers, meaning) MF_RULE_##NAME,
#include "lib/base/rules.def"
#undef REFUSAL
#undef ASKED
#undef RULE
    MF_RULE_COUNT
};

extern const struct mf_rule_info mf_rules[MF_RULE_COUNT];

/* Of an open that ends for this rule. */
enum mf_status mf_rule_status(enum mf_rule rule);

/* The rule of a finding, by the address of its id. */
enum mf_rule mf_rule_of(const char *id);

#endif
