/* SPDX-License-Identifier: MIT
 *
 * xxh3.c - feeding XXH3, compiled once for each instruction set
 *
 * xxHash takes the widest vectors that the compiler may use; what it leaves in
 * the state does not depend on them.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "lib/lanes/isa.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)

/* XXH3's digests of 64 and of 128 bits keep one state and differ only in how
 * they end. */
void JOIN(mf_xxh3_add_, MF_ISA)(void *state, const void *bytes, size_t size)
{
    XXH3_64bits_update(state, bytes, size);
}
