/* SPDX-License-Identifier: MIT
 *
 * attacks.c - the known attacks of a finding, and of a rule
 */
#include <string.h>
#include <strings.h>

#include "cli/answer.h"
#include "cli/commands/validate/validate.h"
#include "cli/json.h"

const char *finding_attack(const struct result *result, size_t *next)
{
    struct mf_attack_info attack;

    while (mf_attack_at(*next, &attack))
        if (mf_attack_fits((*next)++, result->format, &result->finding))
            return attack.id;
    return NULL;
}

void finding_attacks(struct run *run, const struct result *result)
{
    struct mf_json_out *json = &run->json;
    const char *attack;
    size_t next = 0;

    mf_json_key(json, "known_as");
    mf_json_begin(json, '[');
    while ((attack = finding_attack(result, &next)))
        mf_json_string(json, attack, strlen(attack));
    mf_json_end(json, ']');
}

static void attack_json(struct run *run, const struct mf_attack_info *attack)
{
    mf_json_begin(&run->json, '{');
    json_text(run, "id", attack->id);
    json_text(run, "rule", attack->rule);
    json_text(run, "meaning", attack->meaning);
    mf_json_end(&run->json, '}');
}

static void attack_text(struct run *run, const struct mf_attack_info *attack)
{
    out_column(&run->out, str_of(attack->id), 26, false);
    out_column(&run->out, str_of(attack->rule), 20, false);
    if (run->out.columns > 0)
        out_wrapped(&run->out, attack->meaning, 46);
    else
        out_line(&run->out, attack->meaning);
}

/* Attacks of a rule, or of an id; all if both are NULL. */
static void show(struct run *run, const char *rule, const char *id,
                 void (*each)(struct run *, const struct mf_attack_info *))
{
    struct mf_attack_info attack;
    size_t count = 0;

    for (size_t i = 0; mf_attack_at(i, &attack); i++)
        if ((!rule || strcmp(attack.rule, rule) == 0) &&
            (!id || strcasecmp(attack.id, id) == 0)) {
            if (count++ == 0 && rule && each == attack_text)
                out_text(&run->out, "\nKnown attacks:\n");
            each(run, &attack);
        }
}

static void show_member(struct run *run, const char *rule, const char *id)
{
    mf_json_key(&run->json, "attacks");
    mf_json_begin(&run->json, '[');
    show(run, rule, id, attack_json);
    mf_json_end(&run->json, ']');
}

void rule_attacks(struct run *run, const char *rule)
{
    if (run->options->json)
        show_member(run, rule, NULL);
    else
        show(run, rule, NULL, attack_text);
}

static bool is_known(const char *id)
{
    struct mf_attack_info attack;

    for (size_t i = 0; mf_attack_at(i, &attack); i++)
        if (strcasecmp(attack.id, id) == 0)
            return true;
    return false;
}

bool attacks_explain(struct run *run, const char *id)
{
    const char *only = strcasecmp(id, "attacks") == 0 ? NULL : id;

    if (only && !is_known(only))
        return false;
    if (!run->options->json) {
        show(run, NULL, only, attack_text);
        return true;
    }
    answer_begin(run);
    show_member(run, NULL, only);
    answer_end(run);
    return true;
}
