/* SPDX-License-Identifier: MIT
 *
 * rules_text.h - what docs/rules.md says about a rule of validate
 */
#ifndef MF_CLI_RULES_TEXT_H
#define MF_CLI_RULES_TEXT_H

/* The paragraph of the rule, in lines; NULL if docs/rules.md has none. */
const char *rule_text(const char *id);

#endif
