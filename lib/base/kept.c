/* SPDX-License-Identifier: MIT
 *
 * kept.c - what a room above makes once and keeps with the env
 */
#include "lib/base/kept.h"

#include <assert.h>

#include "lib/base/spin.h"

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
