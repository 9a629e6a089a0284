/* SPDX-License-Identifier: MIT
 *
 * rules_text.h - what docs/rules.md says about the rules of validate
 */
#ifndef MF_CLI_RULES_TEXT_H
#define MF_CLI_RULES_TEXT_H

#include "cli/buffer.h"

/* Of all rules: each ID and its paragraph. */
struct rule_texts {
    struct run *run;
    struct buffer all;
    bool failed;
};

/* False after a report, if there is no memory. */
bool rule_texts_open(struct run *run, struct rule_texts *texts);
void rule_texts_close(struct rule_texts *texts);

/* The paragraph of the rule, in lines; NULL if docs/rules.md has none. */
const char *rule_text(const struct rule_texts *texts, const char *id);

#endif
