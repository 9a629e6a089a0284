/* SPDX-License-Identifier: MIT
 *
 * starved.c - a program whose malloc refuses
 *
 * Linked with --wrap, so that what malloc_count.c asks of glibc comes here
 * first.  STARVED=N refuses the Nth request, STARVED=N+ that and all after it.
 * At the end the number of requests and the bytes that are still allocated are
 * appended to the file STARVED_LOG.
 *
 * OpenMP's library gets all that it asks for, because it ends the program if it
 * does not: the program asks for as much before it starts threads (threads.c),
 * and what was refused there is never asked by OpenMP.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/malloc_count.h"

void *__real___libc_malloc(size_t size);
void *__real___libc_calloc(size_t count, size_t size);
void *__real___libc_realloc(void *start, size_t size);
void *__real___libc_memalign(size_t alignment, size_t size);
void *__wrap___libc_malloc(size_t size);
void *__wrap___libc_calloc(size_t count, size_t size);
void *__wrap___libc_realloc(void *start, size_t size);
void *__wrap___libc_memalign(size_t alignment, size_t size);

/* What OpenMP's library calls to allocate.  Where it is a shared library it has
 * its own, and there are none of these. */
#define OPENMP_OWN(call)                                                       \
    do {                                                                       \
        in_openmp++;                                                           \
        call;                                                                  \
        in_openmp--;                                                           \
    } while (0)

#define WEAK __attribute__((weak))
void *__real_gomp_malloc(size_t size) WEAK;
void *__real_gomp_malloc_cleared(size_t size) WEAK;
void *__real_gomp_realloc(void *old, size_t size) WEAK;
void *__real_gomp_aligned_alloc(size_t alignment, size_t size) WEAK;
void __real_gomp_team_start(void (*run)(void *), void *data, unsigned count,
                            unsigned flags, void *team, void *task) WEAK;
void *__wrap_gomp_malloc(size_t size);
void *__wrap_gomp_malloc_cleared(size_t size);
void *__wrap_gomp_realloc(void *old, size_t size);
void *__wrap_gomp_aligned_alloc(size_t alignment, size_t size);
void __wrap_gomp_team_start(void (*run)(void *), void *data, unsigned count,
                            unsigned flags, void *team, void *task);

static _Thread_local unsigned in_openmp;
static atomic_ulong requests, refused;
static unsigned long refuse_from, refuse_to;
static int logged = -1;

/* Before all other constructors; the loader's have no malloc of ours. */
__attribute__((constructor(101))) static void begin(void)
{
    const char *which = getenv("STARVED"), *path = getenv("STARVED_LOG");
    char *end;

    if (path)
        logged = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (!which)
        return;
    refuse_from = strtoul(which, &end, 10);
    refuse_to = *end == '+' ? (unsigned long)-1 : refuse_from;
}

__attribute__((destructor)) static void end(void)
{
    struct process_heap heap;
    char line[64];
    int size;

    if (logged < 0 || !process_heap(&heap))
        return;
    size = snprintf(line, sizeof(line), "%lu %zu\n", atomic_load(&requests),
                    heap.live);
    if (write(logged, line, (size_t)size) != size)
        abort();
}

/* The program asks once more, without the room that glibc takes in advance: the
 * same request is not another one. */
static bool refuses(void)
{
    static _Thread_local bool again;
    unsigned long number;

    if (in_openmp > 0)
        return false;
    if (again) {
        again = false;
        errno = ENOMEM;
        return true;
    }
    number = atomic_fetch_add(&requests, 1) + 1;
    if (number < refuse_from || number > refuse_to || refuse_from == 0)
        return false;
    again = atomic_fetch_add(&refused, 1) == 0;
    errno = ENOMEM;
    return true;
}

void *__wrap___libc_malloc(size_t size)
{
    return refuses() ? NULL : __real___libc_malloc(size);
}

void *__wrap___libc_calloc(size_t count, size_t size)
{
    return refuses() ? NULL : __real___libc_calloc(count, size);
}

/* A block that gets smaller always can. */
void *__wrap___libc_realloc(void *start, size_t size)
{
    return refuses() ? NULL : __real___libc_realloc(start, size);
}

void *__wrap___libc_memalign(size_t alignment, size_t size)
{
    return refuses() ? NULL : __real___libc_memalign(alignment, size);
}

void *__wrap_gomp_malloc(size_t size)
{
    void *block;

    OPENMP_OWN(block = __real_gomp_malloc(size));
    return block;
}

void *__wrap_gomp_malloc_cleared(size_t size)
{
    void *block;

    OPENMP_OWN(block = __real_gomp_malloc_cleared(size));
    return block;
}

void *__wrap_gomp_realloc(void *old, size_t size)
{
    void *block;

    OPENMP_OWN(block = __real_gomp_realloc(old, size));
    return block;
}

void *__wrap_gomp_aligned_alloc(size_t alignment, size_t size)
{
    void *block;

    OPENMP_OWN(block = __real_gomp_aligned_alloc(alignment, size));
    return block;
}

/* pthread_create allocates, too. */
void __wrap_gomp_team_start(void (*run)(void *), void *data, unsigned count,
                            unsigned flags, void *team, void *task)
{
    OPENMP_OWN(__real_gomp_team_start(run, data, count, flags, team, task));
}
