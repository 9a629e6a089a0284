/* SPDX-License-Identifier: MIT
 *
 * preload.h - the malloc below ours: glibc's, or a preloaded library's
 *
 * The linker finds the program's malloc before the malloc of an LD_PRELOAD
 * library, which would never be called: heaptrack, for one, would wait for
 * ever.  So where there is such a library, its functions are called instead of
 * glibc's.
 */
#ifndef MF_CLI_PRELOAD_H
#define MF_CLI_PRELOAD_H

#include <stddef.h>
#include <stdlib.h> /* defines __GLIBC__ */

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) ||     \
    __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

#if defined(__GLIBC__) && !defined(SANITIZED) && !defined(MF_NO_MALLOC_COUNT)
#define MALLOC_COUNTED 1
#endif

/* glibc has no header for these names. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *start, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *start);

struct preload_heap {
    void *(*malloc)(size_t size);
    void *(*calloc)(size_t count, size_t size);
    void *(*realloc)(void *start, size_t size);
    void *(*aligned)(size_t alignment, size_t size);
    void (*free)(void *start);
};

extern const struct preload_heap preload_glibc;
extern struct preload_heap preload_found;

/* In which new blocks are made: one of the two. */
extern const struct preload_heap *preload_heap;

/* Looks whether there is such a library.  Blocks made before are glibc's. */
void preload_find(void);

#endif
