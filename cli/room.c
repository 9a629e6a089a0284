/* SPDX-License-Identifier: MIT
 *
 * room.c - memory for the rest of the process, for what few runs need
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "cli/room.h"

#include <sys/mman.h>

void *room_take(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

void *room_share(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

void room_only_read(void *at, size_t size)
{
    mprotect(at, size, PROT_READ);
}
