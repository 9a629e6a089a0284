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
