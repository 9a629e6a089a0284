/* SPDX-License-Identifier: MIT
 *
 * rules.c - what can be found wrong with a file, one row each
 */
#include "lib/base/rules.h"

const struct mf_rule_info mf_rules[MF_RULE_COUNT] = {
#define RULE(NAME, id, severity, meaning)  { id, MF_##severity, meaning },
#define REFUSAL(NAME, id, status, meaning) { id, MF_ERROR, meaning },
#include "lib/base/rules.def"
#undef REFUSAL
#undef RULE
};

enum mf_status mf_rule_status(enum mf_rule rule)
{
    static const uint8_t statuses[MF_RULE_COUNT] = {
#define RULE(NAME, id, severity, meaning)  MF_ERR_CORRUPT,
#define REFUSAL(NAME, id, status, meaning) MF_ERR_##status,
#include "lib/base/rules.def"
#undef REFUSAL
#undef RULE
    };

    return (enum mf_status)statuses[rule];
}

const char *mf_severity_name(enum mf_severity severity)
{
    return severity == MF_ERROR     ? "error"
           : severity == MF_WARNING ? "warning"
                                    : "note";
}

bool mf_rule_at(size_t index, struct mf_rule_info *out)
{
    if (!out)
        return false;

    if (index >= MF_RULE_COUNT)
        return false;
    *out = mf_rules[index];
    return true;
}
