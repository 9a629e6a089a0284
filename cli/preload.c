/* SPDX-License-Identifier: MIT
 *
 * preload.c - the malloc below ours: glibc's, or a preloaded library's
 */
#if defined(__linux__)
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include "cli/preload.h"

#ifdef MALLOC_COUNTED

#include <dlfcn.h>

const struct preload_heap preload_glibc = { __libc_malloc, __libc_calloc,
                                            __libc_realloc, __libc_memalign,
                                            __libc_free };
struct preload_heap preload_found;
const struct preload_heap *preload_heap = &preload_glibc;

/* The next function of that name after ours; ISO C has no cast for it. */
#define FIND(function, name) (*(void **)&(function) = dlsym(RTLD_NEXT, name))

void preload_find(void)
{
    const char *preload = getenv("LD_PRELOAD");
    struct preload_heap *found = &preload_found;

    /* A search for symbols takes long, compared with a short command. */
    if (preload && *preload && FIND(found->malloc, "malloc") &&
        FIND(found->calloc, "calloc") && FIND(found->realloc, "realloc") &&
        FIND(found->aligned, "aligned_alloc") && FIND(found->free, "free") &&
        found->malloc != __libc_malloc)
        preload_heap = found;
}

#endif
