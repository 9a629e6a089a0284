/* SPDX-License-Identifier: MIT
 *
 * test_threads.c - OpenMP's library never ends the program for lack of memory
 *
 * It does so, with exit code 1, where it is refused memory or a thread.  This
 * process runs on the program's own malloc, which refuses above a limit.
 */
#include "cli/malloc_count.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>

#include <cmocka.h> /* needs the first two */

#include "lib/base/threads.h"

#ifndef REPLACES_LIBC

int main(void)
{
    puts("1..0 # SKIP this build leaves malloc alone");
    return 0;
}

#else

static atomic_size_t worked;

static void work(void *context, size_t worker)
{
    (void)context;
    (void)worker;
    atomic_fetch_add(&worked, 1);
}

static void do_nothing(void *context)
{
    (void)context;
}

static const struct mf_threads_task task = { .work = work,
                                             .watch = do_nothing };

/* As many work as there are, and at most count; none where memory is short. */
static bool works_on(struct mf_team *team, size_t count)
{
    if (count > team->size)
        mf_threads_start(team, count);
    if (team->size == 0)
        return true;
    atomic_store(&worked, 0);
    mf_threads_run(team, count < team->size ? count : team->size, &task);
    return atomic_load(&worked) != 1 && atomic_load(&worked) <= count;
}

/* Fewer threads, then more again, and work of another kind in between. */
static _Noreturn void use_threads(size_t threads, size_t left)
{
    struct process_heap heap;
    struct mf_team team = { 0 };
    bool good;

    process_heap(&heap);
    process_heap_limit(heap.live + left);
    good = mf_threads_start(&team, threads) <= threads &&
           works_on(&team, threads) && works_on(&team, threads / 2 + 1) &&
           works_on(&team, threads);
    mf_threads_end(&team);
    good = good && works_on(&team, threads);
    mf_threads_end(&team);
    process_heap(&heap);
    _exit(good && heap.peak <= heap_limit ? 42 : 43);
}

static void every_limit_is_survived(void **state)
{
    static const size_t counts[] = { 2, 5, 16, 40 };

    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
        for (size_t left = 1; left < 4000 + 1000 * counts[i]; left += 433) {
            pid_t child = fork();
            int end;

            assert_true(child >= 0);
            if (child == 0)
                use_threads(counts[i], left);
            assert_int_equal(waitpid(child, &end, 0), child);
            if (!WIFEXITED(end) || WEXITSTATUS(end) != 42)
                fail_msg("%zu threads, %zu bytes: ended with %d", counts[i],
                         left, end);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_limit_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
