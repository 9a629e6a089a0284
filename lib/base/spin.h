/* SPDX-License-Identifier: MIT
 *
 * spin.h - a lock for what takes a few instructions
 */
#ifndef MF_LIB_SPIN_H
#define MF_LIB_SPIN_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

static inline void mf_spin_lock(atomic_bool *locked)
{
    while (atomic_exchange_explicit(locked, true, memory_order_acquire))
        sched_yield();
}

static inline void mf_spin_unlock(atomic_bool *locked)
{
    atomic_store_explicit(locked, false, memory_order_release);
}

#endif
