/* SPDX-License-Identifier: MIT
 *
 * malloc_count.c - counts every malloc of the process, the C library's too
 *
 * The program defines malloc and its relatives itself.  They count, and call
 * glibc's functions by their second names (__libc_malloc), which glibc exports
 * for this.  dlsym would find the same functions, but costs a symbol search at
 * every start.
 *
 * "Bytes" are requested bytes, as in valgrind's DHAT, so that its "At t-gmax"
 * can be compared with our peak (tests/cli/heap.t does).  Therefore:
 *
 *   - A header in front of each block keeps its size, because free() does not
 *     get it.  The header is not counted, nor is glibc's own overhead.
 *   - realloc counts as one change by the difference, although both blocks may
 *     exist for a moment while glibc copies.
 *   - malloc(0) counts one byte.
 *
 * A limit refuses what would pass it with ENOMEM, so the peak never does.
 *
 * valgrind replaces these functions by its own as it does libc's: under it
 * process_heap() sees next to nothing, and the comparison needs two runs.  The
 * dynamic loader's first blocks come from its own memory before malloc can be
 * called; neither counts them.
 */
#include "cli/malloc_count.h"

#include <malloc.h> /* memalign and others; and defines __GLIBC__ */
#include <stdlib.h>

#include "cli/preload.h"

#ifndef MALLOC_COUNTED

bool process_heap(struct process_heap *out)
{
    (void)out;
    return false;
}

bool process_heap_limit(size_t limit)
{
    (void)limit;
    return false;
}

bool process_heap_refused(void)
{
    return false;
}

size_t process_heap_left(void)
{
    return SIZE_MAX;
}

bool malloc_watch(const struct malloc_watch *watch)
{
    (void)watch;
    return false;
}

void *malloc_uncounted(void *user, void *block, size_t old_size,
                       size_t new_size)
{
    (void)user;
    (void)block;
    (void)old_size;
    (void)new_size;
    return NULL;
}

#else

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

/* glibc gets memory for small blocks from the system a MiB at a time instead of
 * 132 KiB, so most runs ask once.  101 is before every other constructor, whose
 * malloc may be the first.  If the system has less, as under ulimit -d, glibc
 * allocates only its need. */
#define ROOM_AT_ONCE  (1024 * 1024)

/* False if that was done before. */
static bool ask_for_less(void)
{
    static atomic_flag asked = ATOMIC_FLAG_INIT;

    return !atomic_flag_test_and_set(&asked) && mallopt(M_TOP_PAD, 0) == 1;
}

/* Visible to the C library although the program hides its symbols, and never
 * inlined into each other: valgrind replaces most of them but not all, and a
 * block of valgrind's must not reach the body of one of ours. */
#define REPLACES_LIBC __attribute__((visibility("default"), noinline))

__attribute__((constructor(101))) static void begin(void)
{
    mallopt(M_TOP_PAD, ROOM_AT_ONCE);
    preload_find();
}

#define SIZE_BITS    57 /* far more than a process can have */

/* In front of every block. */
struct header {
    uint64_t size : SIZE_BITS; /* counted for this block */
    uint64_t preloaded : 1;    /* it is not glibc's */
    uint64_t shift : 6; /* the block is 1 << shift bytes after the start of
                           what glibc gave */
    uint64_t tag;       /* of the watch; 0: the watch does not know the block */
};

/* Blocks must stay aligned for any type. */
#define HEADER_SIZE  sizeof(struct header)
#define HEADER_SHIFT 4
_Static_assert(HEADER_SIZE == 1 << HEADER_SHIFT, "the header has 16 bytes");
_Static_assert(HEADER_SIZE % _Alignof(max_align_t) == 0,
               "the header would put every block off its alignment");

/* Relaxed order: these counters guard no other data. */
static atomic_size_t heap_live, heap_peak, heap_limit = SIZE_MAX;
static atomic_uint_fast64_t heap_allocations;
static atomic_bool heap_refused;

/* Nearly always NULL. */
static const struct malloc_watch *watch;

bool malloc_watch(const struct malloc_watch *new_watch)
{
    if (new_watch) {
        atomic_store(&heap_live, 0);
        atomic_store(&heap_peak, 0);
        atomic_store(&heap_allocations, 0);
    }
    watch = new_watch;
    return true;
}

static struct header *header_of(void *block)
{
    return (struct header *)block - 1;
}

static size_t offset_of(const struct header *header)
{
    return (size_t)1 << header->shift;
}

static void *start_of(void *block)
{
    return (char *)block - offset_of(header_of(block));
}

void *malloc_uncounted(void *user, void *block, size_t old_size,
                       size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size > 0)
        return __libc_realloc(block, new_size);
    __libc_free(block);
    return NULL;
}

static const struct preload_heap *heap_of(const struct header *header)
{
    return header->preloaded ? &preload_found : &preload_glibc;
}

/* Calls glibc, and again without the extra memory if that fails. */
#define TAKE(start, call)                                                      \
    do                                                                         \
        (start) = (call);                                                      \
    while (!(start) && ask_for_less())

/* One block that comes, or changes its size. */
struct change {
    struct header old; /* all zero: it comes */
    size_t old_size, new_size;
    size_t live; /* with it */
};

/* Counts as live what glibc is then asked for: so threads cannot pass the limit
 * together.  Unsigned numbers wrap, so live + added is right for shrinking too.
 * False, with errno set, if it would pass the limit. */
static bool reserve(struct change *change, struct header old, size_t size)
{
    size_t old_size = watch && !old.tag ? 0 : (size_t)old.size;
    size_t new_size = size > 0 ? size : 1; /* DHAT's view, see above */
    size_t added = new_size - old_size;
    size_t limit = atomic_load_explicit(&heap_limit, memory_order_relaxed);
    size_t live = atomic_load_explicit(&heap_live, memory_order_relaxed);

    do {
        if (new_size > old_size && (live > limit || added > limit - live)) {
            atomic_store_explicit(&heap_refused, true, memory_order_relaxed);
            errno = ENOMEM;
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(
        &heap_live, &live, live + added, memory_order_relaxed,
        memory_order_relaxed));
    *change = (struct change){ old, old_size, new_size, live + added };
    return true;
}

static void count(const struct change *change)
{
    size_t peak = atomic_load_explicit(&heap_peak, memory_order_relaxed);

    /* A failed exchange loads the peak that another thread has set. */
    while (change->live > peak &&
           !atomic_compare_exchange_weak_explicit(
               &heap_peak, &peak, change->live, memory_order_relaxed,
               memory_order_relaxed))
        ;
    atomic_fetch_add_explicit(&heap_allocations, 1, memory_order_relaxed);
}

/* Makes a block of what glibc returned for a change that was reserved; NULL,
 * with errno set, stays NULL. */
static void *make_block(const struct preload_heap *heap, void *start,
                        unsigned shift, const struct change *change,
                        const void *caller)
{
    struct header header = {
        .size = change->new_size & (((uint64_t)1 << SIZE_BITS) - 1),
        .preloaded = heap == &preload_found,
        .shift = shift & 63,
        .tag = change->old.tag,
    };
    void *block;

    if (!start) {
        atomic_fetch_sub_explicit(&heap_live,
                                  change->new_size - change->old_size,
                                  memory_order_relaxed);
        return NULL;
    }
    if (watch)
        header.tag = watch->change(watch->user, header.tag, change->old_size,
                                   change->new_size, caller);
    block = (char *)start + offset_of(&header);
    *header_of(block) = header;
    count(change);
    return block;
}

/* Whether size + extra is a possible request.  No process can have as much as
 * the limit, and below it the sum cannot wrap. */
static bool fits(size_t size, size_t extra)
{
    const uint64_t limit = PTRDIFF_MAX < UINT64_C(1) << SIZE_BITS
                               ? PTRDIFF_MAX
                               : UINT64_C(1) << (SIZE_BITS - 1);

    if (extra <= limit && size <= limit - extra)
        return true;
    errno = ENOMEM;
    return false;
}

static const struct header no_header;

/* Who called the function of the C library that one of ours replaces. */
#define CALLER __builtin_return_address(0)

static void *new_block(size_t size, const void *caller)
{
    struct change change;
    void *start;

    if (!fits(size, HEADER_SIZE) || !reserve(&change, no_header, size))
        return NULL;
    TAKE(start, preload_heap->malloc(size + HEADER_SIZE));
    return make_block(preload_heap, start, HEADER_SHIFT, &change, caller);
}

REPLACES_LIBC void *malloc(size_t size)
{
    return new_block(size, CALLER);
}

REPLACES_LIBC void *calloc(size_t number, size_t each)
{
    struct change change;
    size_t size;
    void *start;

    if (__builtin_mul_overflow(number, each, &size))
        size = SIZE_MAX; /* which does not fit */
    if (!fits(size, HEADER_SIZE) || !reserve(&change, no_header, size))
        return NULL;
    TAKE(start, preload_heap->calloc(1, size + HEADER_SIZE));
    return make_block(preload_heap, start, HEADER_SHIFT, &change, CALLER);
}

/* False for a block that was made before there was a watch. */
static bool unwatch(const struct header *header)
{
    if (header->tag)
        watch->change(watch->user, header->tag, (size_t)header->size, 0, NULL);
    return header->tag;
}

static void free_block(void *block)
{
    const struct header *header = header_of(block);

    if (!watch || unwatch(header))
        atomic_fetch_sub_explicit(&heap_live, (size_t)header->size,
                                  memory_order_relaxed);
    heap_of(header)->free(start_of(block));
}

REPLACES_LIBC void free(void *block)
{
    if (block)
        free_block(block);
}

/* An aligned block keeps its offset from the start, so that its bytes move with
 * it; its alignment may be lost, as with any realloc. */
static void *resized_block(void *block, size_t size, const void *caller)
{
    struct change change;
    struct header old;
    void *start;

    if (!block)
        return new_block(size, caller);
    if (size == 0) {
        free_block(block);
        return NULL;
    }
    old = *header_of(block);
    if (!fits(size, offset_of(&old)) || !reserve(&change, old, size))
        return NULL;
    TAKE(start,
         heap_of(&old)->realloc(start_of(block), offset_of(&old) + size));
    return make_block(heap_of(&old), start, old.shift, &change, caller);
}

REPLACES_LIBC void *realloc(void *block, size_t size)
{
    return resized_block(block, size, CALLER);
}

REPLACES_LIBC void *reallocarray(void *block, size_t number, size_t each)
{
    size_t size;

    if (__builtin_mul_overflow(number, each, &size))
        size = SIZE_MAX; /* which does not fit */
    return resized_block(block, size, CALLER);
}

/* alignment is a power of two.  The header gets one alignment in front, so that
 * the block is as aligned as the start. */
static void *aligned_block(size_t alignment, size_t size, const void *caller)
{
    struct change change;
    unsigned shift = HEADER_SHIFT;
    void *start;

    while (alignment >> shift > 1)
        shift++;
    alignment = (size_t)1 << shift;
    if (!fits(size, alignment) || !reserve(&change, no_header, size))
        return NULL;
    TAKE(start, preload_heap->aligned(alignment, size + alignment));
    return make_block(preload_heap, start, shift, &change, caller);
}

static bool is_power_of_two(size_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

static void *checked_block(size_t alignment, size_t size, const void *caller)
{
    if (is_power_of_two(alignment))
        return aligned_block(alignment, size, caller);
    errno = EINVAL;
    return NULL;
}

REPLACES_LIBC void *memalign(size_t alignment, size_t size)
{
    return checked_block(alignment, size, CALLER);
}

REPLACES_LIBC void *aligned_alloc(size_t alignment, size_t size)
{
    return checked_block(alignment, size, CALLER);
}

/* It returns its error and leaves errno alone. */
REPLACES_LIBC int posix_memalign(void **out, size_t alignment, size_t size)
{
    int kept = errno;
    void *block;

    if (!is_power_of_two(alignment) || alignment % sizeof(void *) != 0)
        return EINVAL;
    block = aligned_block(alignment, size, CALLER);
    errno = kept;
    if (!block)
        return ENOMEM;
    *out = block;
    return 0;
}

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Obsolete, but their blocks may reach our free(). */
REPLACES_LIBC void *valloc(size_t size)
{
    return aligned_block(page_size(), size, CALLER);
}

REPLACES_LIBC void *pvalloc(size_t size)
{
    size_t page = page_size(), over = size % page;

    if (!fits(size, page))
        return NULL;
    return aligned_block(page, over ? size + (page - over) : size, CALLER);
}

REPLACES_LIBC size_t malloc_usable_size(void *block)
{
    return block ? (size_t)header_of(block)->size : 0;
}

bool process_heap(struct process_heap *out)
{
    out->live = atomic_load_explicit(&heap_live, memory_order_relaxed);
    out->peak = atomic_load_explicit(&heap_peak, memory_order_relaxed);
    out->allocations =
        atomic_load_explicit(&heap_allocations, memory_order_relaxed);
    return true;
}

bool process_heap_limit(size_t limit)
{
    atomic_store_explicit(&heap_limit, limit, memory_order_relaxed);
    return true;
}

bool process_heap_refused(void)
{
    return atomic_load_explicit(&heap_refused, memory_order_relaxed);
}

size_t process_heap_left(void)
{
    size_t limit = atomic_load_explicit(&heap_limit, memory_order_relaxed);
    size_t live = atomic_load_explicit(&heap_live, memory_order_relaxed);

    if (limit == SIZE_MAX)
        return SIZE_MAX;
    return live < limit ? limit - live : 0;
}

#endif
