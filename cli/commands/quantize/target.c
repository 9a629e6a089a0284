/* SPDX-License-Identifier: MIT
 *
 * target.c - --target-size, --target-bpw and --fit of modelfile quantize
 *
 * The errors of all types are measured, a cost is made of each, and the library
 * chooses.  What it chose then is what --tensor-type gives: the file is written
 * as for any other request.
 */
#include "cli/commands/quantize/target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/report.h"
#include "cli/types.h"

/* ---- the options ---- */

bool target_is_given(const struct quantize_options *options)
{
    return options->target_size || options->target_bpw || options->fit;
}

/* The option that is only for a size; NULL: none of them is given. */
static const char *needs_target(const struct quantize_options *options)
{
    return options->types                 ? "--types"
           : options->like                ? "--like"
           : options->importance          ? "--importance"
           : options->samples             ? "--samples"
           : options->save_recipe         ? "--save-recipe"
           : options->plot                ? "--plot"
           : options->min_types.count > 0 ? "--min-type"
           : options->ties.count > 0      ? "--tie"
           : options->context             ? "--ctx"
                                          : NULL;
}

/* The option that cannot be given with a size; NULL: none of them is. */
static const char *not_with_target(const struct quantize_options *options)
{
    return options->outputs.count > 0 ? "--output"
           : options->recipe          ? "--recipe"
           : options->pure            ? "--pure"
           : options->keep_split      ? "--keep-split"
           : options->output_type     ? "--output-type"
           : options->embedding_type  ? "--embedding-type"
                                      : NULL;
}

const char *target_name(const struct quantize_options *options)
{
    return options->target_size  ? "--target-size"
           : options->target_bpw ? "--target-bpw"
                                 : "--fit";
}

static bool check_alone(struct run *run, const struct quantize_options *options)
{
    const char *with = not_with_target(options);

    if ((options->target_size != 0) + (options->target_bpw != NULL) +
            (options->fit != NULL) >
        1)
        report_usage(run, "'--target-size', '--target-bpw' and '--fit' cannot "
                          "be given together");
    else if (with)
        report_usage(run, "'%s' and '%s' cannot both be given",
                     target_name(options), with);
    else if (options->context && !options->fit)
        report_usage(run, "'--ctx' is for '--fit'");
    else
        return true;
    return false;
}

/* Two outputs of one name, of which the second would replace the first. */
static bool check_names(struct run *run, const struct quantize_options *options)
{
    const char *name[4] = { run->operand[1], options->plot,
                            options->save_recipe, NULL };
    struct recipe_path document;

    if (options->save_recipe) {
        document = recipe_document(options->save_recipe);
        name[3] = document.at;
    }
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < i; k++)
            if (name[i] && name[k] && strcmp(name[i], name[k]) == 0) {
                report_usage(run, "two outputs are called '%.200s'", name[i]);
                return false;
            }
    return true;
}

/* What is written after the model is refused before anything is measured. */
static bool are_free(struct run *run, const struct quantize_options *options)
{
    return (!options->save_recipe ||
            (output_is_free(run, options->save_recipe) &&
             output_is_free(run, recipe_document(options->save_recipe).at))) &&
           (!options->plot || output_is_free(run, options->plot));
}

bool target_check(struct run *run, const struct quantize_options *options)
{
    const char *needs = needs_target(options);

    if (options->recipe && (options->tensor_types.count > 0 ||
                            options->tensor_type_files.count > 0)) {
        report_usage(run, "'--recipe' has the types of all tensors: "
                          "'--tensor-type' cannot be given, too");
        return false;
    }
    if (!target_is_given(options)) {
        if (needs)
            report_usage(run,
                         "'%s' requires '--target-size', '--target-bpw' "
                         "or '--fit'",
                         needs);
        return !needs;
    }
    if (run->options->share) {
        report_usage(run,
                     "'--part' and '%s' cannot both be given: a run with "
                     "--dry-run and --save-recipe chooses the types for all "
                     "parts, which take --recipe",
                     target_name(options));
        return false;
    }
    if (options->types && !types_check_list(run, "--types", options->types))
        return false;
    return check_alone(run, options) && check_names(run, options) &&
           (!options->plot || output_fits(run, options->plot)) &&
           are_free(run, options);
}

/* ---- what it may take ---- */

static bool bad_bits(const struct target *target)
{
    report_usage(target->run,
                 "invalid value '%.60s' for '--target-bpw': not a number of "
                 "bits per weight such as 4.5",
                 target->given->target_bpw);
    return false;
}

/* Bits of all tensors, without the padding between them. */
static bool limit_of_bits(struct target *target)
{
    const char *text = target->given->target_bpw;
    char *end;
    double bits = strtod(text, &end);

    if (*text < '0' || *text > '9' || *end || !(bits > 0) || bits > 64)
        return bad_bits(target);
    target->limit =
        (uint64_t)floor(bits * (double)target->errors->elements / 8);
    target->rest = target->errors->other_bytes;
    return true;
}

static bool find_limit(struct target *target, struct mf_model *model)
{
    const struct quantize_options *given = target->given;

    if (given->fit)
        return target_fit(target, model);
    if (given->target_bpw)
        return limit_of_bits(target);
    target->padded = true;
    target->limit = given->target_size;
    target->rest = target->errors->fixed;
    return true;
}

/* ---- the costs ---- */

static bool make_room(struct target *target)
{
    size_t count = target->errors->count;
    size_t costs = count * target->errors->types * sizeof(*target->cost);
    size_t each = sizeof(double) + 3 * sizeof(uint32_t) + 2 * sizeof(bool);
    uint8_t *at;

    target->room = costs + count * each + 1;
    at = mf_env_resize(target->run->env, NULL, 0, target->room);
    if (!at) {
        report_failure(target->run, target->run->operand[0]);
        return false;
    }
    target->cost = (void *)at;
    target->factor = (void *)(at + costs);
    target->types = (void *)(target->factor + count);
    target->preferred = target->types + count;
    target->tied = target->preferred + count;
    target->match = (void *)(target->tied + count);
    target->fixed = target->match + count;
    return true;
}

static uint64_t padded(const struct target *target, uint64_t bytes)
{
    uint64_t unit = target->errors->alignment;

    return target->padded ? (bytes + unit - 1) / unit * unit : bytes;
}

/* Before options change them. */
static void fill_costs(struct target *target)
{
    const struct mf_type_errors *errors = target->errors;

    for (size_t i = 0; i < errors->count; i++) {
        const struct mf_tensor_errors *tensor = &errors->tensor[i];
        struct mf_type_cost *cost = target->cost + i * errors->types;

        target->factor[i] = 1;
        target->fixed[i] = false;
        target->preferred[i] = target->tied[i] = MF_CHOOSE_NONE;
        for (size_t t = 0; t < errors->types; t++)
            cost[t] = (struct mf_type_cost){ padded(target, tensor->bytes[t]),
                                             tensor->type[t].error };
    }
}

/* ---- the choice ---- */

static const char *whose(const struct target *target)
{
    return target->padded ? "the file" : "all tensors";
}

/* Both ends are named where the target is outside of them. */
static bool out_of_range(const struct target *target, uint64_t least,
                         uint64_t most)
{
    report_usage(target->run,
                 "'%s': %s can have %s to %s bytes with these types, not %s%s",
                 target_name(target->given), whose(target),
                 number_text(least).at, number_text(most).at,
                 number_text(target->limit).at,
                 mf_env_resumable(target->run->env)
                     ? "; the errors are kept for another size"
                     : "");
    return false;
}

static bool solve(struct target *target)
{
    struct mf_chosen most;

    target->choose =
        (struct mf_choose_options){ .size = sizeof(target->choose),
                                    .cost = target->cost,
                                    .tensors = target->errors->count,
                                    .types = target->errors->types,
                                    .preferred = target->preferred,
                                    .tied = target->tied };
    if (!target_solve(target, UINT64_MAX, target->types, &most)) {
        report_failure(target->run, target->run->operand[0]);
        return false;
    }
    if (target->limit < target->rest ||
        target->limit - target->rest < most.least ||
        target->limit - target->rest > most.most)
        return out_of_range(target, target->rest + most.least,
                            target->rest + most.most);
    if (target_solve(target, target->limit - target->rest, target->types,
                     &target->chosen))
        return true;
    report_failure(target->run, target->run->operand[0]);
    return false;
}

static bool measure(struct target *target, struct mf_model *model,
                    const char *path, const struct request *request,
                    const struct mf_convert_options *how)
{
    const struct mf_type_errors_options what = {
        .types = target->given->types,
        .all = target->given->samples > 0,
    };

    if (mf_type_errors_new(model, path, &request->options, how, &what,
                           &target->errors) != MF_OK) {
        report_failure(target->run, target->run->operand[0]);
        return false;
    }
    if (target->errors->count > 0)
        return true;
    report_input(target->run, target->run->operand[0],
                 "no tensor can have several types");
    return false;
}

/* What is shown of other sizes is found before anything is written. */
static bool solve_others(struct target *target)
{
    const struct options *options = target->run->options;

    if (!options->json && !options->dry_run && !target->given->save_recipe)
        return true;
    if (target_solve_others(target))
        return true;
    report_failure(target->run, target->run->operand[0]);
    return false;
}

bool target_choose(struct target *target, struct mf_model *model,
                   const char *path, struct request *request,
                   const struct mf_convert_options *how)
{
    if (!measure(target, model, path, request, how) || !make_room(target) ||
        !find_limit(target, model))
        return false;
    fill_costs(target);
    return target_limit(target, model, request) && solve(target) &&
           solve_others(target) && recipe_make(target, request);
}

void target_release(struct target *target)
{
    struct run *run = target->run;

    mf_type_errors_free(target->errors);
    if (target->cost)
        mf_env_resize(run->env, target->cost, target->room, 0);
    buffer_release(run, &target->text);
    textfile_release(run, &target->importance);
}
