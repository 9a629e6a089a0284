/* SPDX-License-Identifier: MIT
 *
 * rules.c - what can be found wrong with a file, one row each
 */
#include "lib/base/rules.h"

#include <assert.h>
#include <string.h>

/* Readers as rules.def names them. */
enum {
    NO_ONE = 0,
    SPEC = MF_READER_SPEC,
    LLAMA = MF_READER_LLAMA,
    TRANSFORMERS = MF_READER_TRANSFORMERS,
    ALL = MF_READERS_ALL
};

#define ROW(name, how, text, who, asked)                                       \
    { .id = name,                                                              \
      .severity = how,                                                         \
      .meaning = text,                                                         \
      .readers = who,                                                          \
      .when_asked = asked },

const struct mf_rule_info mf_rules[MF_RULE_COUNT] = {
#define RULE(NAME, id, severity, readers, meaning)                             \
    ROW(id, MF_##severity, meaning, readers, false)
#define ASKED(NAME, id, severity, readers, meaning)                            \
    ROW(id, MF_##severity, meaning, readers, true)
#define REFUSAL(NAME, id, status, readers, meaning)                            \
    ROW(id, MF_ERROR, meaning, readers, false)
#include "lib/base/rules.def"
#undef REFUSAL
#undef ASKED
#undef RULE
};
#undef ROW

enum mf_status mf_rule_status(enum mf_rule rule)
{
    static const uint8_t statuses[MF_RULE_COUNT] = {
#define RULE(NAME, id, severity, readers, meaning)  MF_ERR_CORRUPT,
#define ASKED(NAME, id, severity, readers, meaning) MF_ERR_CORRUPT,
#define REFUSAL(NAME, id, status, readers, meaning) MF_ERR_##status,
#include "lib/base/rules.def"
#undef REFUSAL
#undef ASKED
#undef RULE
    };

    return (enum mf_status)statuses[rule];
}

enum mf_rule mf_rule_of(const char *id)
{
    size_t rule = 0;

    while (rule < MF_RULE_COUNT && mf_rules[rule].id != id)
        rule++;
    assert(rule < MF_RULE_COUNT);
    return (enum mf_rule)rule;
}

const char *mf_readers_name(enum mf_readers reader)
{
    switch (reader) {
    case MF_READER_SPEC:
        return "spec";
    case MF_READER_LLAMA:
        return "llama.cpp";
    case MF_READER_TRANSFORMERS:
        return "transformers";
    case MF_READERS_ALL:
        return "all";
    }
    return NULL;
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

/* ---- subjects ---- */

static bool is_letter_or_digit(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9');
}

/* The next quotation mark that is not an apostrophe within a word; NULL if
 * there is none. */
static const char *next_quote(const char *text, const char *at)
{
    while ((at = strchr(at, '\'')) != NULL && at > text &&
           is_letter_or_digit(at[-1]) && is_letter_or_digit(at[1]))
        at++;
    return at;
}

struct mf_str mf_finding_subject(const struct mf_finding *finding)
{
    const char *text = finding ? finding->message : NULL, *from, *end;

    if (finding && finding->tensor.at)
        return finding->tensor;
    from = text ? next_quote(text, text) : NULL;
    end = from ? next_quote(text, from + 1) : NULL;
    return end ? (struct mf_str){ from + 1, (size_t)(end - from - 1) }
               : (struct mf_str){ NULL, 0 };
}
