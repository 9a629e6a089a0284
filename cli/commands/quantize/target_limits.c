/* SPDX-License-Identifier: MIT
 *
 * target_limits.c - what options say of tensors and types that are chosen
 *
 * --tensor-type fixes a type, --min-type and --like set a smallest one, --tie
 * gives several tensors one type, and --importance says how much an error
 * counts.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/quantize/target.h"
#include "cli/report.h"
#include "cli/types.h"

/* ---- patterns ---- */

/* After mf_pattern_find: the pattern may be right.  True after a report. */
static bool out_of_memory(struct target *target)
{
    if (mf_env_error(target->run->env)->status == MF_ERR_ARGUMENT)
        return false;
    report_failure(target->run, NULL);
    return true;
}

/* Sets target->match; false after a report, also where nothing matches. */
static bool find(struct target *target, const char *option, const char *pattern)
{
    bool any = false;

    if (mf_pattern_find(target->errors, pattern, target->match) != MF_OK) {
        if (!out_of_memory(target))
            report_usage(target->run, "'%s': %s", option,
                         mf_env_error(target->run->env)->message);
        return false;
    }
    for (size_t i = 0; i < target->errors->count; i++)
        any |= target->match[i];
    if (!any)
        report_absent(target->run,
                      "'%s': pattern '%.100s' applies to no "
                      "tensor",
                      option, pattern);
    return any;
}

/* Bits of an element. */
static double bits_of(const char *type)
{
    struct mf_type_info info;

    return mf_type_find(type, &info) ? 8.0 * info.size / info.block : 0;
}

static void exclude(struct target *target, size_t tensor, size_t type)
{
    target->cost[tensor * target->errors->types + type].error =
        (double)INFINITY;
}

/* Leaves the tensor types of at least so many bits. */
static void set_least(struct target *target, size_t tensor, double bits)
{
    for (size_t t = 0; t < target->errors->types; t++)
        if (bits_of(target->errors->type_name[t]) < bits)
            exclude(target, tensor, t);
}

/* ---- --min-type, --tie ---- */

static bool set_minimum(struct target *target, char *text)
{
    char *equals = strrchr(text, '=');

    if (!equals || equals == text || !equals[1]) {
        report_usage(target->run,
                     "invalid value '%.100s' for '--min-type': expected "
                     "PATTERN=TYPE",
                     text);
        return false;
    }
    *equals = 0;
    if (!types_check_tensor(target->run, "--min-type", equals + 1) ||
        !find(target, "--min-type", text))
        return false;
    for (size_t i = 0; i < target->errors->count; i++)
        if (target->match[i])
            set_least(target, i, bits_of(equals + 1));
    return true;
}

static bool tie(struct target *target, uint32_t number)
{
    if (!find(target, "--tie", target->given->ties.at[number]))
        return false;
    for (size_t i = 0; i < target->errors->count; i++)
        if (target->match[i] && target->tied[i] == MF_CHOOSE_NONE)
            target->tied[i] = number;
    return true;
}

/* ---- --tensor-type ---- */

static bool fix(struct target *target, const struct mf_tensor_type *fixed)
{
    const struct mf_type_errors *errors = target->errors;
    size_t type = target_type(errors, fixed->type);

    if (mf_pattern_find(errors, fixed->pattern, target->match) != MF_OK) {
        report_failure(target->run, NULL);
        return false;
    }
    for (size_t i = 0; i < errors->count; i++) {
        if (!target->match[i] || target->fixed[i])
            continue;
        target->fixed[i] = true;
        for (size_t t = 0; t < errors->types; t++)
            if (t != type)
                exclude(target, i, t);
    }
    return true;
}

static bool fix_all(struct target *target, const struct request *request)
{
    for (size_t i = 0; i < request->patterns.count; i++)
        if (!fix(target, &request->patterns.at[i]))
            return false;
    return true;
}

/* ---- --like ---- */

static size_t mix_number(const struct mf_type_errors *errors, const char *name)
{
    size_t i = 0;

    while (i < errors->mixes && strcmp(errors->mix_name[i], name) != 0)
        i++;
    return i;
}

static double main_bits(const char *mix)
{
    struct mf_mix_info info;

    for (size_t i = 0; mf_mix_at(i, &info); i++)
        if (strcmp(info.name, mix) == 0)
            return bits_of(info.type);
    return 0;
}

/* Tensors to which the mix gives more bits than to most keep those at least. */
static bool be_like(struct target *target)
{
    const struct mf_type_errors *errors = target->errors;
    const char *name = mf_mix_name(target->given->like);
    size_t mix = name ? mix_number(errors, name) : errors->mixes;

    if (mix == errors->mixes || !errors->mix_known[mix]) {
        report_usage(target->run,
                     "invalid value '%.60s' for '--like': not a mix that this "
                     "model can have with these types",
                     target->given->like);
        return false;
    }
    for (size_t i = 0; i < errors->count; i++) {
        uint8_t type = errors->tensor[i].mix[mix];
        double bits = bits_of(errors->type_name[type]);

        target->preferred[i] = type;
        if (bits > main_bits(name))
            set_least(target, i, bits);
    }
    return true;
}

/* ---- --importance ---- */

/* How much more the answer of a model changes by an error in these tensors than
 * by one of the same part of attn_output; measured, see docs/target.md. */
static const struct factor {
    const char *pattern;
    double factor;
} factors[] = {
    { "^output\\.weight$", 64 },
    { "^token_embd\\.weight$", 2 },
    { "attn_[qk]\\.weight$", 0.5 },
    { "attn_v\\.weight$|attn_kv_b|attn_v_b", 4 },
    { "attn_qkv", 2 },
    { "ffn_(up|down|gate_up)", 3 },
};

static bool weigh(struct target *target, const char *pattern, double factor,
                  bool *weighed)
{
    if (mf_pattern_find(target->errors, pattern, target->match) != MF_OK)
        return false;
    for (size_t i = 0; i < target->errors->count; i++)
        if (target->match[i] && !weighed[i]) {
            weighed[i] = true;
            target->factor[i] = factor;
        }
    return true;
}

/* Whether the model's answer is a vector, for which tokens are pooled. */
static bool has_pooling(const struct mf_model *model)
{
    static const char suffix[] = ".pooling_type";
    struct mf_meta meta;

    for (size_t i = 0; mf_meta_at(model, i, &meta); i++)
        if (meta.key.size >= sizeof(suffix) &&
            strcmp(meta.key.at + meta.key.size - (sizeof(suffix) - 1),
                   suffix) == 0)
            return true;
    return false;
}

/* An embedding without an output of its own is the output, too, unless there
 * is no output. */
static bool weigh_by_default(struct target *target,
                             const struct mf_model *model, bool *weighed)
{
    bool has_output = has_pooling(model);

    for (size_t i = 0; i < target->errors->count; i++)
        has_output |=
            strcmp(target->errors->tensor[i].name.at, "output.weight") == 0;
    if (!has_output &&
        !weigh(target, "^token_embd\\.weight$", factors[0].factor, weighed))
        return false;
    for (size_t i = 0; i < sizeof(factors) / sizeof(*factors); i++)
        if (!weigh(target, factors[i].pattern, factors[i].factor, weighed))
            return false;
    return true;
}

static bool bad_line(struct target *target, size_t line, const char *why)
{
    report_input(target->run, target->given->importance, "line %zu: %s", line,
                 why);
    return false;
}

/* PATTERN=FACTOR; the first line whose pattern matches counts. */
static bool weigh_line(struct target *target, char *text, size_t line,
                       bool *weighed)
{
    char *equals = strrchr(text, '='), *end;
    double factor;

    if (text[strspn(text, " \t\r")] == 0)
        return true;
    if (!equals || equals == text)
        return bad_line(target, line, "expected PATTERN=FACTOR");
    *equals = 0;
    factor = strtod(equals + 1, &end);
    if (equals[1] < '0' || equals[1] > '9' || end[strspn(end, " \t\r")] ||
        !(factor > 0) || factor > 1e12)
        return bad_line(target, line, "the factor is not a number above 0");
    if (weigh(target, text, factor, weighed))
        return true;
    return !out_of_memory(target) &&
           bad_line(target, line, mf_env_error(target->run->env)->message);
}

static bool weigh_by_file(struct target *target, bool *weighed)
{
    static const struct textkind kind = { .what = "the list of factors",
                                          .size_max = (size_t)1 << 20,
                                          .nul_refused = true };
    char *at;
    size_t line = 1;

    if (!textfile_read(target->run, target->given->importance, &kind,
                       &target->importance))
        return false;
    for (at = target->importance.text; *at; line++) {
        char *end = at + strcspn(at, "\n");
        bool more = *end == '\n';

        *end = 0;
        if (!weigh_line(target, at, line, weighed))
            return false;
        at = end + more;
    }
    return true;
}

/* An error counts as a part of the tensor's own squares: a model in which one
 * tensor is doubled, and the next one halved, says the same. */
static void make_relative(struct target *target)
{
    for (size_t i = 0; i < target->errors->count; i++) {
        double squares = target->errors->tensor[i].squares;

        if (squares > 0 && squares < (double)INFINITY)
            target->factor[i] /= squares;
    }
}

static bool weigh_all(struct target *target, const struct mf_model *model)
{
    const char *given = target->given->importance;
    size_t size = target->errors->count;
    bool *weighed, done;

    if (given && strcmp(given, "none") == 0)
        return true;
    weighed = mf_env_resize(target->run->env, NULL, 0, size);
    if (!weighed) {
        report_failure(target->run, NULL);
        return false;
    }
    memset(weighed, 0, size);
    if (given) {
        done = weigh_by_file(target, weighed);
    } else {
        done = weigh_by_default(target, model, weighed);
        if (!done)
            report_failure(target->run, NULL);
    }
    mf_env_resize(target->run->env, weighed, size, 0);
    if (done)
        make_relative(target);
    return done;
}

/* ---- all of them ---- */

static void apply_factors(struct target *target)
{
    size_t types = target->errors->types;

    for (size_t i = 0; i < target->errors->count * types; i++)
        target->cost[i].error *= target->factor[i / types];
}

/* False after a report where options leave a tensor no type. */
static bool check_left(const struct target *target)
{
    size_t types = target->errors->types, t;

    for (size_t i = 0; i < target->errors->count; i++) {
        for (t = 0; t < types; t++)
            if (target->cost[i * types + t].error < (double)INFINITY)
                break;
        if (t < types)
            continue;
        report_usage(target->run,
                     "tensor '%.100s' can have none of the types that the "
                     "options leave it: rows have %s elements%s",
                     target->errors->tensor[i].name.at,
                     number_text(target->errors->tensor[i].row).at,
                     target->errors->tensor[i].weighted
                         ? ""
                         : ", and it has no importance matrix");
        return false;
    }
    return true;
}

bool target_limit(struct target *target, const struct mf_model *model,
                  const struct request *request)
{
    const struct quantize_options *given = target->given;

    if (given->like && !be_like(target))
        return false;
    for (size_t i = 0; i < given->min_types.count; i++)
        if (!set_minimum(target, (char *)given->min_types.at[i]))
            return false;
    for (size_t i = 0; i < given->ties.count; i++)
        if (!tie(target, (uint32_t)i))
            return false;
    if (!fix_all(target, request) || !weigh_all(target, model))
        return false;
    apply_factors(target);
    return check_left(target);
}
