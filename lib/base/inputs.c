/* SPDX-License-Identifier: MIT
 *
 * inputs.c - files that a program has read for an env, beside the models
 */
#include "lib/base/inputs.h"

#include <sys/stat.h>

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

enum mf_status mf_env_keep_input(struct mf_env *env, int fd)
{
    MF_NEED(NULL, env);

    struct stat status;

    mf_clear_error(env);
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
        mf_inputs_have(env, status.st_dev, status.st_ino))
        return MF_OK;
    if (env->inputs.count == env->inputs.room && !grow(env))
        return env->error.status;
    env->inputs.at[env->inputs.count++] =
        (struct mf_input_file){ status.st_dev, status.st_ino };
    return MF_OK;
}

void mf_inputs_release(struct mf_env *env)
{
    mf_release(env, env->inputs.at, env->inputs.room * sizeof(*env->inputs.at));
    env->inputs = (struct mf_inputs){ 0 };
}
