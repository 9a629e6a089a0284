/* SPDX-License-Identifier: MIT
 *
 * kept.c - what a room above makes once and keeps with the env
 */
#include "lib/base/kept.h"

#include <assert.h>

#include "lib/base/spin.h"
#include "lib/program.h"

void mf_kept_lock(struct mf_env *env)
{
    mf_spin_lock(&env->keeping);
}

void mf_kept_unlock(struct mf_env *env)
{
    mf_spin_unlock(&env->keeping);
}

const void *mf_kept(struct mf_env *env, size_t index, mf_keep *make)
{
    assert(index < MF_KEPT);

    struct mf_kept *kept = &env->kept[index];
    void *block = atomic_load_explicit(&kept->block, memory_order_acquire);

    if (block)
        return block;
    mf_kept_lock(env);
    block = atomic_load_explicit(&kept->block, memory_order_relaxed);
    if (!block) {
        block = make(env, index, &kept->size);
        atomic_store_explicit(&kept->block, block, memory_order_release);
    }
    mf_kept_unlock(env);
    return block;
}

void mf_kept_release(struct mf_env *env)
{
    for (size_t i = 0; i < MF_KEPT; i++) {
        struct mf_kept *kept = &env->kept[i];

        mf_release(env, atomic_exchange(&kept->block, NULL), kept->size);
    }
}

/* ---- files that a program has read for an env, other than models ---- */

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
