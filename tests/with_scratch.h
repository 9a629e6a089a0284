/* SPDX-License-Identifier: MIT
 *
 * with_scratch.h - tests that share one env and a scratch folder
 */
#ifndef TESTS_WITH_SCRATCH_H
#define TESTS_WITH_SCRATCH_H

#include "tests/scratch.h"
#include "tests/with_env.h"

static inline int scratch_env_setup(void **state)
{
    return env_setup(state) == 0 ? make_scratch(state) : -1;
}

static inline int scratch_env_teardown(void **state)
{
    env_teardown(state);
    return remove_scratch(state);
}

/* The tests of an array, and the exit code of main. */
#define RUN_WITH_SCRATCH(tests)                                                \
    cmocka_run_group_tests(tests, scratch_env_setup, scratch_env_teardown)

#endif
