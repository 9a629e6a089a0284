/* SPDX-License-Identifier: MIT
 *
 * target_solve.c - the choice of types, and their numbers
 */
#include <string.h>

#include "cli/commands/quantize/target.h"

size_t target_type(const struct mf_type_errors *errors, const char *name)
{
    struct mf_type_info info; /* its name has no capital letters */
    size_t i = 0;

    if (!mf_type_find(name, &info))
        return errors->types;
    while (i < errors->types && strcmp(errors->type_name[i], info.name) != 0)
        i++;
    return i;
}

bool target_solve(const struct target *target, uint64_t limit, uint32_t *types,
                  struct mf_chosen *out)
{
    struct mf_choose_options options = target->choose;

    options.limit = limit;
    return mf_choose_types(target->run->env, &options, types, out) == MF_OK;
}

static bool solve_mixes(struct target *target, uint32_t *types)
{
    struct target_least *least = &target->least;
    struct target_mix mix;
    struct mf_chosen found;

    for (size_t i = 0; i < target->errors->mixes; i++) {
        least->known[i] = target_mix_at(target, i, &mix) &&
                          mix.bytes >= target->rest + target->chosen.least;
        if (!least->known[i])
            continue;
        if (!target_solve(target, mix.bytes - target->rest, types, &found))
            return false;
        least->mix[i] = found.error;
    }
    return true;
}

static bool solve_curve(struct target *target, uint32_t *types)
{
    const struct mf_chosen *chosen = &target->chosen;
    uint64_t step = (chosen->most - chosen->least) / (TARGET_POINTS - 1);
    bool done = true;

    for (size_t i = 0; i < TARGET_POINTS && done; i++)
        done = target_solve(target,
                            i == TARGET_POINTS - 1 ? chosen->most
                                                   : chosen->least + i * step,
                            types, &target->least.curve[i]);
    return done;
}

bool target_solve_others(struct target *target)
{
    size_t size = target->errors->count * sizeof(uint32_t);
    uint32_t *types = mf_env_resize(target->run->env, NULL, 0, size);
    bool done =
        types && solve_mixes(target, types) && solve_curve(target, types);

    if (types)
        mf_env_resize(target->run->env, types, size, 0);
    return done;
}
