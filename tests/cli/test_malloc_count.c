/* SPDX-License-Identifier: MIT
 *
 * test_malloc_count.c - every function that gives or takes a block is counted
 *
 * Includes the file it tests: this whole process then runs on that malloc.
 */
#include "cli/malloc_count.c"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h> /* needs the first two */

#ifndef REPLACES_LIBC

int main(void)
{
    puts("1..0 # SKIP this build leaves malloc alone");
    return 0;
}

#else

/* A compiler may drop a malloc whose block it never sees used. */
static void *volatile kept;

#define KEEP(call) (kept = (call))

static struct process_heap before;

static int remember(void **state)
{
    (void)state;
    return process_heap(&before) ? 0 : -1;
}

/* What is live in addition to what was when the test began. */
static void assert_live(size_t size, uint64_t allocations)
{
    struct process_heap now;

    assert_true(process_heap(&now));
    assert_int_equal(now.live - before.live, size);
    assert_int_equal(now.allocations - before.allocations, allocations);
    assert_true(now.peak >= now.live);
}

static void bytes_asked_for_are_counted(void **state)
{
    char *a, *b;

    (void)state;
    a = KEEP(malloc(1000));
    assert_live(1000, 1);
    b = KEEP(calloc(7, 11));
    assert_live(1077, 2);
    for (size_t i = 0; i < 77; i++)
        assert_int_equal(b[i], 0);
    free(a);
    assert_live(77, 2);
    free(b);
    free(NULL);
    assert_live(0, 2);
}

/* As DHAT has it. */
static void nothing_counts_as_one_byte(void **state)
{
    void *block;

    (void)state;
    block = KEEP(malloc(0));
    assert_non_null(block);
    assert_live(1, 1);
    free(block);
    assert_live(0, 1);
}

static void realloc_counts_the_difference(void **state)
{
    char *block;
    struct process_heap now;

    (void)state;
    block = KEEP(realloc(NULL, 100));
    memset(block, 'x', 100);
    block = KEEP(realloc(block, 1 << 20));
    assert_live(1 << 20, 2);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(block[i], 'x');
    assert_true(process_heap(&now));
    assert_int_equal(now.peak - before.live, 1 << 20);
    block = KEEP(reallocarray(block, 3, 5));
    assert_live(15, 3);
    assert_null(KEEP(realloc(block, 0)));
    assert_live(0, 3);
}

static void assert_aligned(void *block, size_t alignment)
{
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % alignment, 0);
}

static void aligned_blocks_are_aligned(void **state)
{
    uint64_t count = 0;

    (void)state;
    for (size_t alignment = 1; alignment <= 1 << 16; alignment *= 2) {
        void *a = KEEP(memalign(alignment, 333));
        void *b = KEEP(aligned_alloc(alignment, 444));
        void *c = NULL;

        if (alignment >= sizeof(void *))
            assert_int_equal(posix_memalign(&c, alignment, 555), 0);
        assert_aligned(a, alignment);
        assert_aligned(b, alignment);
        assert_aligned(c ? c : a, alignment);
        assert_int_equal(malloc_usable_size(a), 333);
        free(a);
        free(b);
        free(c);
        count += c ? 3 : 2;
    }
    /* A pointer's size is the least that posix_memalign takes. */
    assert_int_equal(count, sizeof(void *) == 8 ? 17 + 17 + 14 : 17 + 17 + 15);
    assert_live(0, count);
}

static void pages_are_whole(void **state)
{
    size_t page = page_size();
    void *a, *b;

    (void)state;
    a = KEEP(valloc(10));
    b = KEEP(pvalloc(page + 1));
    assert_aligned(a, page);
    assert_aligned(b, page);
    assert_live(10 + 2 * page, 2);
    free(a);
    free(b);
    assert_live(0, 2);
}

/* Its bytes stay where they were, whatever lies in front of them. */
static void aligned_block_can_grow(void **state)
{
    char *block;

    (void)state;
    block = KEEP(memalign(4096, 50));
    memset(block, 'y', 50);
    block = KEEP(realloc(block, 300000));
    for (size_t i = 0; i < 50; i++)
        assert_int_equal(block[i], 'y');
    memset(block, 'z', 300000);
    assert_live(300000, 2);
    free(block);
    assert_live(0, 2);
}

static void assert_refused(void *block)
{
    assert_null(block);
    assert_int_equal(errno, ENOMEM);
    errno = 0;
}

static void too_much_is_refused(void **state)
{
    static volatile size_t huge = SIZE_MAX, half = SIZE_MAX / 2 + 1, odd = 24;
    static void *volatile block; /* a refusal leaves it as it was */
    void *out = &before;

    (void)state;
    block = KEEP(malloc(1));
    errno = 0;
    assert_refused(KEEP(malloc(huge)));
    assert_refused(KEEP(malloc(huge - HEADER_SIZE + 1)));
    assert_refused(KEEP(malloc(half)));
    assert_refused(KEEP(calloc(half, 2)));
    assert_refused(KEEP(calloc(huge, 1)));
    assert_refused(KEEP(realloc(block, huge)));
    assert_refused(KEEP(reallocarray(block, half, 2)));
    assert_refused(KEEP(memalign(64, huge)));
    assert_refused(KEEP(aligned_alloc(half, 64)));
    assert_refused(KEEP(valloc(huge)));
    assert_refused(KEEP(pvalloc(huge)));
    assert_int_equal(posix_memalign(&out, 64, huge), ENOMEM);
    assert_int_equal(posix_memalign(&out, 3, 1), EINVAL);
    assert_int_equal(posix_memalign(&out, sizeof(void *) / 2, 1), EINVAL);
    assert_ptr_equal(out, &before);
    assert_int_equal(errno, 0);
    assert_null(KEEP(memalign(odd, 1)));
    assert_int_equal(errno, EINVAL);
    assert_live(1, 1);
    free(block);
}

/* Blocks that are there can shrink and end, and grow as far as it goes. */
static void limit_is_kept(void **state)
{
    static char *volatile block; /* a refusal leaves it as it was */
    void *out = NULL;

    (void)state;
    block = KEEP(malloc(1000));
    assert_int_equal(process_heap_left(), SIZE_MAX);
    assert_true(process_heap_limit(before.live + 1500));
    assert_int_equal(process_heap_left(), 500);
    errno = 0;
    assert_refused(KEEP(malloc(501)));
    assert_refused(KEEP(calloc(1, 501)));
    assert_refused(KEEP(realloc(block, 1501)));
    assert_refused(KEEP(memalign(64, 501)));
    assert_int_equal(posix_memalign(&out, 64, 501), ENOMEM);
    assert_null(out);
    assert_live(1000, 1);
    block = KEEP(realloc(block, 1500));
    assert_int_equal(process_heap_left(), 0);
    assert_refused(KEEP(malloc(0)));
    assert_true(process_heap_limit(1));
    assert_int_equal(process_heap_left(), 0);
    block = KEEP(realloc(block, 10));
    assert_live(10, 3);
    assert_refused(KEEP(realloc(block, 11)));
    free(block);
    assert_true(process_heap_limit(SIZE_MAX));
    assert_live(0, 3);
}

/* Each thread's block fits, both do not. */
static void *take_and_free(void *passed)
{
    for (size_t i = 0; i < 100000; i++) {
        void *volatile block = malloc(3000);
        struct process_heap now;

        if (process_heap(&now) && now.live > before.live + 5000)
            atomic_store((atomic_bool *)passed, true);
        free(block);
    }
    return NULL;
}

static void limit_is_kept_by_threads(void **state)
{
    pthread_t other;
    atomic_bool passed = false;

    (void)state;
    assert_true(process_heap_limit(before.live + 5000));
    assert_int_equal(pthread_create(&other, NULL, take_and_free, &passed), 0);
    take_and_free(&passed);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_true(process_heap_limit(SIZE_MAX));
    assert_false(passed);
}

static void the_c_library_is_counted(void **state)
{
    struct process_heap now;
    FILE *file;

    (void)state;
    file = fopen("/dev/null", "r");
    assert_non_null(file);
    assert_true(process_heap(&now));
    assert_true(now.live >= before.live + sizeof(*file));
    fclose(file);
    assert_true(process_heap(&now));
    assert_int_equal(now.live, before.live);
}

/* ---- a watch ---- */

static struct {
    uint64_t next;
    size_t live;
    bool confused;
} seen;

static uint64_t see(void *user, uint64_t tag, size_t old_size, size_t new_size,
                    const void *caller)
{
    seen.confused |= user != &seen || (tag == 0) != (old_size == 0) ||
                     (new_size > 0 && !caller);
    seen.live += new_size - old_size;
    return tag ? tag : ++seen.next;
}

static void a_watch_gets_each_change(void **state)
{
    static const struct malloc_watch watching = { see, &seen };
    struct process_heap now;
    void *before_it = KEEP(malloc(10)), *left;
    size_t live = before.live;

    (void)state;
    assert_true(malloc_watch(&watching));
    assert_true(process_heap(&now));
    assert_int_equal(now.live + now.peak + now.allocations, 0);
    left = KEEP(malloc(0));
    free(KEEP(realloc(KEEP(calloc(3, 5)), 100)));
    free(KEEP(memalign(4096, 50)));
    before_it = KEEP(realloc(before_it, 20)); /* as if it were new */
    assert_int_equal(seen.next, 4);
    free(before_it);
    assert_int_equal(seen.live, 1);
    assert_true(process_heap(&now));
    assert_int_equal(now.live, 1);
    assert_int_equal(now.peak, 101);
    assert_int_equal(now.allocations, 5);
    assert_true(malloc_watch(NULL));
    free(left);
    assert_int_equal(seen.live, 1);
    assert_false(seen.confused);
    atomic_store(&heap_live, live);
    atomic_store(&heap_peak, before.peak);
}

static void uncounted_memory_is_not(void **state)
{
    char *block = malloc_uncounted(NULL, NULL, 0, 100);

    (void)state;
    assert_non_null(block);
    block = malloc_uncounted(NULL, block, 100, 1000);
    assert_non_null(block);
    block[999] = 1;
    assert_null(malloc_uncounted(NULL, block, 1000, 0));
    assert_live(0, 0);
}

#define TEST(test) cmocka_unit_test_setup(test, remember)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bytes_asked_for_are_counted),
        TEST(nothing_counts_as_one_byte),
        TEST(realloc_counts_the_difference),
        TEST(aligned_blocks_are_aligned),
        TEST(pages_are_whole),
        TEST(aligned_block_can_grow),
        TEST(too_much_is_refused),
        TEST(limit_is_kept),
        TEST(limit_is_kept_by_threads),
        TEST(the_c_library_is_counted),
        TEST(a_watch_gets_each_change),
        TEST(uncounted_memory_is_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
