/* SPDX-License-Identifier: MIT
 *
 * rules.c - validate --rules and --explain, which read no file
 */
#include <string.h>
#include <strings.h>

#include "cli/answer.h"
#include "cli/commands/validate/validate.h"
#include "cli/json.h"
#include "cli/nearest.h"
#include "cli/report.h"
#include "cli/rules_text.h"

static void reader_json(struct run *run, const char *name)
{
    mf_json_string(&run->json, name, strlen(name));
}

static void rule_json(struct run *run, const struct mf_rule_info *rule)
{
    json_text(run, "id", rule->id);
    json_text(run, "severity", mf_severity_name(rule->severity));
    json_text(run, "meaning", rule->meaning);
    mf_json_key(&run->json, "readers");
    mf_json_begin(&run->json, '[');
    for (unsigned bit = 1; bit <= rule->readers; bit *= 2)
        if (rule->readers & bit)
            reader_json(run, mf_readers_name((enum mf_readers)bit));
    mf_json_end(&run->json, ']');
    json_bool(run, "when_asked", rule->when_asked);
}

static void rules_json(struct run *run)
{
    struct mf_rule_info rule;

    answer_begin(run);
    mf_json_key(&run->json, "rules");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; mf_rule_at(i, &rule); i++) {
        mf_json_begin(&run->json, '{');
        rule_json(run, &rule);
        mf_json_end(&run->json, '}');
    }
    mf_json_end(&run->json, ']');
    answer_end(run);
}

static void list_rules(struct run *run)
{
    struct mf_rule_info rule;

    for (size_t i = 0; mf_rule_at(i, &rule); i++) {
        out_column(&run->out, str_of(rule.id), 20, false);
        out_column(&run->out, str_of(mf_severity_name(rule.severity)), 9,
                   false);
        if (run->out.columns > 0)
            out_wrapped(&run->out, rule.meaning, 29);
        else
            out_line(&run->out, rule.meaning); /* one line each, for scripts */
    }
}

static const char *next_rule(void *state)
{
    size_t *index = state;
    struct mf_rule_info rule;

    return mf_rule_at((*index)++, &rule) ? rule.id : NULL;
}

/* Whom an error of the rule concerns. */
static void readers_line(struct run *run, const struct mf_rule_info *rule)
{
    const char *before =
        rule->when_asked ? "An error only for: " : "An error for: ";

    if (rule->readers == 0)
        return;
    out_text(&run->out, "\n");
    for (unsigned bit = 1; bit <= rule->readers; bit *= 2)
        if (rule->readers & bit) {
            out_text(&run->out, before);
            out_text(&run->out, mf_readers_name((enum mf_readers)bit));
            before = ", ";
        }
    out_text(&run->out, "\n");
}

static void explain_rule(struct run *run, const struct mf_rule_info *rule,
                         const char *text)
{
    if (run->options->json) {
        answer_begin(run);
        rule_json(run, rule);
        json_text(run, "text", text);
        rule_attacks(run, rule->id);
        answer_end(run);
        return;
    }
    out_format(&run->out, "%s\n\n", rule->id);
    out_wrapped(&run->out, text, 0);
    readers_line(run, rule);
    rule_attacks(run, rule->id);
}

/* False if it is not the ID of a rule. */
static bool rules_explain(struct run *run, const char *id)
{
    struct mf_rule_info rule;
    struct rule_texts texts;
    size_t index = 0;

    while (mf_rule_at(index, &rule) && strcasecmp(rule.id, id) != 0)
        index++;
    if (!mf_rule_at(index, &rule))
        return false;
    if (rule_texts_open(run, &texts)) {
        explain_rule(run, &rule, rule_text(&texts, rule.id));
        rule_texts_close(&texts);
    }
    return true;
}

static void explain(struct run *run, const char *id)
{
    struct nearest nearest;
    size_t index = 0;

    if (rules_explain(run, id) || attacks_explain(run, id))
        return;
    nearest = nearest_word(id, next_rule, &index);
    report_usage(run, "unknown rule '%.60s'%s", id,
                 *nearest.hint ? nearest.hint
                               : "; see: modelfile validate --rules");
}

void rules_show(struct run *run, bool all, const char *id)
{
    if (run->operand_count > 0)
        report_usage(run, "unexpected argument '%.200s': '%s' takes no file",
                     run->operand[0], all ? "--rules" : "--explain");
    else if (all && id)
        report_usage(run, "'--rules' and '--explain' cannot both be given");
    else if (all)
        (run->options->json ? rules_json : list_rules)(run);
    else
        explain(run, id);
}
