/* SPDX-License-Identifier: MIT
 *
 * test_kernel.c - codecs and threads, as an embedding program gets them
 */
#include <stdatomic.h>
#include <time.h>

#include "lib/codec/codecs.h"
#include "tests/support.h"

#define COLUMNS 512

/* ---- instruction sets ---- */

static void the_plainest_set_comes_first(void **state)
{
    size_t count = 0;

    (void)state;
    assert_string_equal(mf_isa_at(0), "portable");
    for (const struct mf_isa *isa = mf_isas; isa->name; isa++)
        if (mf_isa_runs(isa))
            assert_string_equal(mf_isa_at(count++), isa->name);
    assert_null(mf_isa_at(count));
}

/* ---- kernels ---- */

static void every_codec_is_found(void **state)
{
    (void)state;
    for (int type = 0; type < MF_TYPE_COUNT; type++)
        for (const struct mf_isa *isa = mf_isas; isa->name; isa++) {
            const struct mf_codec *codec = mf_codec_of(isa, (enum mf_type)type);
            struct mf_kernel kernel;
            bool found =
                mf_kernel_find(mf_types[type].name, isa->name, &kernel);

            assert_int_equal(found, codec && mf_isa_runs(isa));
            if (!found)
                continue;
            assert_true(kernel.decode == codec->decode);
            assert_true(kernel.encode == codec->encode);
            assert_int_equal(mf_kernel_encodes(&kernel, NULL),
                             mf_codec_encodes(codec));
            assert_string_equal(kernel.type, mf_types[type].name);
            assert_string_equal(kernel.isa, isa->name);
        }
}

static void without_a_name_the_best_set_is_found(void **state)
{
    const char *best = mf_isa_at(0);
    struct mf_kernel kernel;

    (void)state;
    for (size_t i = 0; mf_isa_at(i); i++)
        best = mf_isa_at(i);
    assert_true(mf_kernel_find("q8_0", NULL, &kernel));
    assert_string_equal(kernel.isa, best);
}

static void what_is_not_there_is_not_found(void **state)
{
    struct mf_kernel kernel = { .size = 7 };

    (void)state;
    assert_false(mf_kernel_find("q8_9", NULL, &kernel));
    assert_false(mf_kernel_find("", NULL, &kernel));
    assert_false(mf_kernel_find("q8_0", "mmx", &kernel));
    assert_int_equal(kernel.size, 7);
}

static float weights[COLUMNS];

static void fill_weights(void)
{
    for (size_t i = 0; i < COLUMNS; i++)
        weights[i] = 1 + (float)(i % 7);
}

/* Blocks end where the header says: exactly that many bytes are written. */
static void rows_have_the_size_of_their_table(void **state)
{
    static float row[COLUMNS];
    static uint8_t zeros[COLUMNS * 8 + 8], ones[COLUMNS * 8 + 8];
    struct mf_env *own = mf_env_new(NULL);
    struct mf_kernel kernel;

    (void)state;
    for (size_t i = 0; i < COLUMNS; i++)
        row[i] = (float)i - 100;
    fill_weights();
    for (int type = 0; type < MF_TYPE_COUNT; type++) {
        size_t size, end = sizeof(zeros);

        if (!mf_kernel_find(mf_types[type].name, NULL, &kernel) ||
            !mf_kernel_encodes(&kernel, NULL))
            continue;
        size = kernel.prefix + COLUMNS / kernel.block * kernel.size;
        memset(zeros, 0, sizeof(zeros));
        memset(ones, 0xff, sizeof(ones));
        assert_int_equal(
            mf_env_encode(own, &kernel, row, weights, zeros, COLUMNS), MF_OK);
        assert_int_equal(
            mf_env_encode(own, &kernel, row, weights, ones, COLUMNS), MF_OK);
        while (end > 0 && zeros[end - 1] == 0 && ones[end - 1] == 0xff)
            end--;
        assert_int_equal(end, size);
    }
    mf_env_free(own);
}

/* ---- types on a grid ---- */

static struct mf_kernel on_grid;
static struct mf_env *grid_env;
static uint8_t grid_blocks[64][COLUMNS];

static void encode_on_grid(void *user, size_t index)
{
    atomic_uint *bad = user;

    if (mf_env_encode(grid_env, &on_grid, weights, weights, grid_blocks[index],
                      COLUMNS) != MF_OK)
        atomic_fetch_add(bad, 1);
}

/* Threads that encode at once wait for one table, which the env frees. */
static void tables_are_made_once(void **state)
{
    struct mf_options options = { .size = sizeof(options), .threads = 4 };
    struct mf_heap_stats before, after;
    atomic_uint bad = 0;

    (void)state;
    fill_weights();
    assert_true(mf_kernel_find("iq2_xs", NULL, &on_grid));
    grid_env = mf_env_new(&options);
    assert_int_equal(mf_env_share(grid_env, 64, encode_on_grid, &bad), MF_OK);
    assert_int_equal(atomic_load(&bad), 0);
    for (size_t i = 1; i < 64; i++)
        assert_memory_equal(grid_blocks[i], grid_blocks[0], COLUMNS);
    mf_env_heap(grid_env, &before);
    assert_in_range(before.live, 100000, 4000000);
    encode_on_grid(&bad, 1);
    mf_env_heap(grid_env, &after);
    assert_int_equal(after.allocations, before.allocations);
    mf_env_free(grid_env);
}

static void what_cannot_be_encoded_is_refused(void **state)
{
    struct mf_env *own = mf_env_new(NULL);
    float row[256];

    (void)state;
    for (size_t i = 0; i < 256; i++)
        row[i] = (float)i;
    fill_weights();
    assert_true(mf_kernel_find("iq2_xs", NULL, &on_grid));
    assert_int_equal(
        mf_env_encode(own, &on_grid, row, NULL, grid_blocks[0], 256),
        MF_ERR_ARGUMENT);
    assert_int_equal(
        mf_env_encode(own, &on_grid, row, weights, grid_blocks[0], 255),
        MF_ERR_ARGUMENT);
    row[7] = 1e30f;
    assert_int_equal(
        mf_env_encode(own, &on_grid, row, weights, grid_blocks[0], 256),
        MF_ERR_UNSUPPORTED);
    assert_non_null(strstr(mf_env_error(own)->message, "iq2_xs"));
    assert_true(mf_kernel_find("i8", NULL, &on_grid));
    assert_int_equal(
        mf_env_encode(own, &on_grid, row, NULL, grid_blocks[0], 256),
        MF_ERR_UNSUPPORTED);
    mf_env_free(own);
}

/* The struct is the caller's: blocks of another size than its type has would be
 * written past the end of the buffer. */
static void another_block_size_is_refused(void **state)
{
    static const uint32_t blocks[] = { 0, 1, 32, 255, 512 };
    static const char *const types[] = { "q4_k", "iq3_s", "q6_k" };
    struct mf_env *own = mf_env_new(NULL);
    struct mf_kernel kernel;
    float row[512] = { 1 };
    uint8_t out[512] = { 0 };

    (void)state;
    for (size_t t = 0; t < 3; t++) {
        assert_true(mf_kernel_find(types[t], NULL, &kernel));
        for (size_t i = 0; i < 5; i++) {
            kernel.block = blocks[i];
            assert_int_equal(mf_env_encode(own, &kernel, row, NULL, out, 512),
                             MF_ERR_ARGUMENT);
            assert_non_null(strstr(mf_env_error(own)->message, types[t]));
            for (size_t b = 0; b < sizeof(out); b++)
                assert_int_equal(out[b], 0);
        }
        kernel.block = 256;
        assert_int_equal(mf_env_encode(own, &kernel, row, NULL, out, 32),
                         MF_ERR_ARGUMENT);
    }
    mf_env_free(own);
}

/* Without the memory for a table there is an error, and no leak. */
static void tables_need_memory(void **state)
{
    struct mf_options options = { .size = sizeof(options),
                                  .heap_limit = 200000 };
    struct mf_env *own = mf_env_new(&options);

    (void)state;
    fill_weights();
    assert_true(mf_kernel_find("iq2_xs", NULL, &on_grid));
    assert_int_equal(
        mf_env_encode(own, &on_grid, weights, weights, grid_blocks[0], 256),
        MF_ERR_LIMIT);
    mf_env_free(own);
}

/* ---- threads ---- */

#define TASKS 500

static atomic_uint done[TASKS];

static void note(void *user, size_t index)
{
    atomic_uint *notes = user;

    atomic_fetch_add(&notes[index], 1);
}

static bool stop_at_100(void *user, const struct mf_progress *progress)
{
    (void)user;
    assert_int_equal(progress->total, TASKS);
    return progress->done < 100;
}

static struct mf_env *env_with(unsigned threads, bool stops)
{
    struct mf_options options = { .size = sizeof(struct mf_options),
                                  .threads = threads,
                                  .progress = stops ? stop_at_100 : NULL };
    struct mf_env *made = mf_env_new(&options);

    assert_non_null(made);
    return made;
}

static void tasks_are_shared(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 5; threads++) {
        struct mf_env *own = env_with(threads, false);
        struct mf_heap_stats before, after;

        mf_env_heap(own, &before);
        assert_in_range(mf_env_threads(own), 1, threads);
        for (size_t i = 0; i < TASKS; i++)
            atomic_store(&done[i], 0);
        assert_int_equal(mf_env_share(own, TASKS, note, done), MF_OK);
        for (size_t i = 0; i < TASKS; i++)
            assert_int_equal(atomic_load(&done[i]), 1);
        assert_int_equal(mf_env_share(own, 0, note, NULL), MF_OK);
        mf_env_heap(own, &after);
        assert_int_equal(after.live, before.live);
        mf_env_free(own);
    }
}

/* Two that wait for each other, for ten seconds at most. */
static void meet(void *user, size_t index)
{
    atomic_uint *here = user;
    time_t start = time(NULL);

    (void)index;
    atomic_fetch_add(here, 1);
    while (atomic_load(here) < 2 && time(NULL) - start < 10)
        ;
}

static void tasks_run_at_once(void **state)
{
    struct mf_env *own = env_with(2, false);
    atomic_uint here = 0;
    time_t start = time(NULL);

    (void)state;
    if (mf_env_threads(own) == 2) {
        assert_int_equal(mf_env_share(own, 2, meet, &here), MF_OK);
        assert_true(time(NULL) - start < 10);
    }
    mf_env_free(own);
}

static void progress_ends_it(void **state)
{
    struct mf_env *own = env_with(1, true);
    size_t count = 0;

    (void)state;
    for (size_t i = 0; i < TASKS; i++)
        atomic_store(&done[i], 0);
    assert_int_equal(mf_env_share(own, TASKS, note, done), MF_ERR_STOPPED);
    for (size_t i = 0; i < TASKS; i++)
        count += atomic_load(&done[i]);
    assert_int_equal(count, 100);
    assert_string_equal(mf_env_error(own)->message, "interrupted");
    mf_env_free(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plainest_set_comes_first),
        cmocka_unit_test(every_codec_is_found),
        cmocka_unit_test(without_a_name_the_best_set_is_found),
        cmocka_unit_test(what_is_not_there_is_not_found),
        cmocka_unit_test(rows_have_the_size_of_their_table),
        cmocka_unit_test(tables_are_made_once),
        cmocka_unit_test(what_cannot_be_encoded_is_refused),
        cmocka_unit_test(another_block_size_is_refused),
        cmocka_unit_test(tables_need_memory),
        cmocka_unit_test(tasks_are_shared),
        cmocka_unit_test(tasks_run_at_once),
        cmocka_unit_test(progress_ends_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
