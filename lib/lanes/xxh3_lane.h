/* SPDX-License-Identifier: MIT
 *
 * xxh3_lane.h - feeding XXH3, compiled once for each instruction set
 *
 * Included by xxh3_portable.c and its kin, which define LANE.  xxHash takes the
 * widest vectors that the compiler may use in that file; what it leaves in the
 * state does not depend on them.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "lib/lanes/isa.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)

/* XXH3's digests of 64 and of 128 bits keep one state and differ only in how
 * they end. */
void JOIN(mf_xxh3_add_, LANE)(void *state, const void *bytes, size_t size)
{
    XXH3_64bits_update(state, bytes, size);
}
