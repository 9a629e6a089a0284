/* SPDX-License-Identifier: MIT
 *
 * null_watch.h - the part of test_null.c that is about watches
 */
#ifndef TESTS_NULL_WATCH_H
#define TESTS_NULL_WATCH_H

static struct mf_watch *new_watch(void)
{
    struct mf_watch *watch;

    assert_int_equal(mf_watch_open(env, NULL, &watch), MF_OK);
    return watch;
}

static void null_mf_watch_open(void)
{
    struct mf_watch *watch;

    refused(mf_watch_open(NULL, NULL, &watch));
    named("out", mf_watch_open(env, NULL, NULL));
}

static void null_mf_watch_close(void)
{
    mf_watch_close(NULL);
}

static void null_mf_watch_begin(void)
{
    assert_false(mf_watch_begin(NULL));
}

static void null_mf_watch_end(void)
{
    mf_watch_end(NULL);
}

static void null_mf_watch_count_at(void)
{
    struct mf_watch *watch = new_watch();
    struct mf_watch_count count;

    assert_false(mf_watch_count_at(NULL, 0, &count));
    assert_false(mf_watch_count_at(watch, 0, NULL));
    assert_false(mf_watch_count_at(watch, MF_WATCH_KINDS, &count));
    mf_watch_close(watch);
}

static void null_mf_watch_times(void)
{
    struct mf_watch *watch = new_watch();
    struct mf_watch_times times;

    assert_false(mf_watch_times(NULL, &times));
    assert_false(mf_watch_times(watch, NULL));
    mf_watch_close(watch);
}

static void null_mf_watch_energy(void)
{
    struct mf_watch *watch = new_watch();
    struct mf_watch_energy energy;

    assert_false(mf_watch_energy(NULL, &energy));
    assert_false(mf_watch_energy(watch, NULL));
    mf_watch_close(watch);
}

static void null_mf_watch_write(void)
{
    struct mf_watch *watch = new_watch();

    refused(mf_watch_write(NULL, "a", false));
    named("path", mf_watch_write(watch, NULL, false));
    mf_watch_close(watch);
}

#endif
