/* SPDX-License-Identifier: MIT
 *
 * inputs.c - files that a program has read for an env, other than models
 */
#include "lib/base/inputs.h"

#include "lib/program.h"

bool mf_inputs_have(const struct mf_env *env, uint64_t device, uint64_t file)
{
    for (size_t i = 0; i < env->inputs.count; i++)
        if (env->inputs.at[i].device == device &&
            env->inputs.at[i].file == file)
            return true;
    return false;
}

static bool grow(struct mf_env *env)
{
    struct mf_inputs *inputs = &env->inputs;
    size_t room = inputs->room ? inputs->room * 2 : 4;
    struct mf_input_file *at = mf_env_resize(
        env, inputs->at, inputs->room * sizeof(*at), room * sizeof(*at));

    if (!at)
        return false;
    inputs->at = at;
    inputs->room = room;
    return true;
}

enum mf_status mf_inputs_add(struct mf_env *env, uint64_t device, uint64_t file)
{
    if (mf_inputs_have(env, device, file))
        return MF_OK;
    if (env->inputs.count == env->inputs.room && !grow(env))
        return env->error.status;
    env->inputs.at[env->inputs.count++] =
        (struct mf_input_file){ device, file };
    return MF_OK;
}

void mf_inputs_release(struct mf_env *env)
{
    mf_release(env, env->inputs.at, env->inputs.room * sizeof(*env->inputs.at));
    env->inputs = (struct mf_inputs){ 0 };
}
