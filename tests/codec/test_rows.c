/* SPDX-License-Identifier: MIT
 *
 * test_rows.c - many rows in one call, as one row after the other
 */
#include "lib/codec/codecs.h"
#include "tests/support.h"

/* The first part of the work, a piece, and a few rows of another one. */
#define COLUMNS ((size_t)768)
#define ROWS    ((size_t)110)
#define TOTAL   (COLUMNS * ROWS)

static float numbers[TOTAL], weights[COLUMNS], decoded[TOTAL + 1],
    wanted_numbers[TOTAL];
static uint8_t encoded[TOTAL * 8 + 8], wanted[TOTAL * 8 + 8];

static void make_numbers(void)
{
    uint32_t noise = 1;

    for (size_t i = 0; i < TOTAL; i++) {
        noise = noise * 1664525 + 1013904223;
        numbers[i] = (float)(int32_t)noise * 0x1p-31f;
        if (i % 5000 < COLUMNS) /* rows differ in size, and some are zeros */
            numbers[i] *= (float)(i % 3);
    }
    for (size_t i = 0; i < COLUMNS; i++)
        weights[i] = 1 + (float)(i % 7);
}

/* ---- envs ---- */

/* How often the program was asked for threads, and for how many at once. */
static struct {
    size_t calls, most;
} asked;

static void run_in_turn(void *user, size_t count,
                        void (*work)(void *context, size_t index),
                        void *context)
{
    (void)user;
    asked.calls++;
    asked.most = count > asked.most ? count : asked.most;
    for (size_t i = count; i-- > 0;)
        work(context, i);
}

static struct mf_env *env_with(unsigned threads, bool own)
{
    struct mf_options options = { .size = sizeof(options),
                                  .threads = threads,
                                  .run = own ? run_in_turn : NULL };
    struct mf_env *made = mf_env_new(&options);

    assert_non_null(made);
    return made;
}

/* ---- every type ---- */

static size_t row_size(const struct mf_kernel *kernel, size_t columns)
{
    return columns / kernel->block * kernel->size;
}

/* By mf_env_encode: each row, or where there is one scale all of them. */
static void encode_each(struct mf_env *env, const struct mf_kernel *kernel,
                        const float *of)
{
    size_t rows = kernel->prefix > 0 ? 1 : ROWS, columns = TOTAL / rows;

    memset(wanted, 0x5a, sizeof(wanted));
    for (size_t i = 0; i < rows; i++)
        assert_int_equal(mf_env_encode(env, kernel, numbers + i * columns, of,
                                       wanted + i * row_size(kernel, columns),
                                       columns),
                         MF_OK);
}

/* With so many threads; nothing is written after the last block. */
static void check_encoded(const struct mf_kernel *kernel, const float *of,
                          unsigned threads)
{
    struct mf_env *env = env_with(threads, false);

    memset(encoded, 0x5a, sizeof(encoded));
    assert_int_equal(
        mf_env_encode_rows(env, kernel, numbers, ROWS, COLUMNS, of, encoded),
        MF_OK);
    if (memcmp(encoded, wanted, sizeof(wanted)) != 0)
        fail_msg("%s differs on %s with %u threads, %s weights", kernel->type,
                 kernel->isa, threads, of ? "with" : "without");
    mf_env_free(env);
}

static void check_decoded(const struct mf_kernel *kernel, unsigned threads)
{
    struct mf_env *env = env_with(threads, false);

    memset(decoded, 0x5a, sizeof(decoded));
    assert_int_equal(
        mf_env_decode_rows(env, kernel, wanted, ROWS, COLUMNS, decoded), MF_OK);
    if (memcmp(decoded, wanted_numbers, sizeof(wanted_numbers)) != 0)
        fail_msg("%s is decoded to others on %s with %u threads", kernel->type,
                 kernel->isa, threads);
    for (size_t i = 0; i < sizeof(*decoded); i++)
        assert_int_equal(((const uint8_t *)&decoded[TOTAL])[i], 0x5a);
    mf_env_free(env);
}

/* Each number of threads on the fastest set; the plainest one makes what is
 * wanted. */
static void check_type(const struct mf_kernel *plain, const float *of)
{
    struct mf_env *env = env_with(1, false);
    bool encodes = mf_kernel_encodes(plain, NULL);
    struct mf_kernel kernel;
    size_t sets = 0;

    while (mf_isa_at(sets))
        sets++;
    if (encodes)
        encode_each(env, plain, of);
    else
        memcpy(wanted, numbers, sizeof(numbers));
    plain->decode(wanted, wanted_numbers, TOTAL);
    for (size_t i = 0; i < sets; i++)
        for (unsigned threads = i + 1 == sets ? 1 : 4; threads <= 4;
             threads++) {
            assert_true(mf_kernel_find(plain->type, mf_isa_at(i), &kernel));
            if (encodes)
                check_encoded(&kernel, of, threads);
            check_decoded(&kernel, threads);
        }
    mf_env_free(env);
}

static void every_type_is_as_row_by_row(void **state)
{
    size_t count = 0;

    (void)state;
    for (int type = 0; type < MF_TYPE_COUNT; type++) {
        struct mf_kernel kernel;
        bool needed;

        if (!mf_kernel_find(mf_types[type].name, "portable", &kernel))
            continue;
        mf_kernel_encodes(&kernel, &needed);
        if (!test_is_quick() || needed)
            check_type(&kernel, weights);
        if (!needed)
            check_type(&kernel, NULL);
        count++;
    }
    assert_true(count > 30);
}

/* A row that is longer than a piece; numbers by themselves are cut anywhere. */
static void one_long_row_is_a_row(void **state)
{
    static const char *const types[] = { "f16", "q8_0", "q4_k", "tq1_0",
                                         "apr_q8" };
    struct mf_env *env = env_with(3, false);
    struct mf_kernel kernel;

    (void)state;
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        assert_true(mf_kernel_find(types[i], NULL, &kernel));
        memset(wanted, 0x5a, sizeof(wanted));
        memset(encoded, 0x5a, sizeof(encoded));
        assert_int_equal(
            mf_env_encode(env, &kernel, numbers, NULL, wanted, TOTAL), MF_OK);
        assert_int_equal(
            mf_env_encode_rows(env, &kernel, numbers, 1, TOTAL, NULL, encoded),
            MF_OK);
        assert_memory_equal(encoded, wanted, sizeof(wanted));
    }
    mf_env_free(env);
}

/* ---- threads ---- */

static void only_long_work_is_shared(void **state)
{
    struct mf_kernel slow, quick;
    struct mf_env *env = env_with(4, true), *alone = env_with(1, true);
    struct mf_heap_stats before, after;

    (void)state;
    assert_true(mf_kernel_find("iq2_xs", "portable", &slow));
    assert_true(mf_kernel_find("q8_0", NULL, &quick));
    encode_each(env, &slow, weights);
    memset(&asked, 0, sizeof(asked));
    assert_int_equal(mf_env_encode_rows(env, &slow, numbers, ROWS, COLUMNS,
                                        weights, encoded),
                     MF_OK);
    assert_int_equal(asked.calls, 1);
    assert_in_range(asked.most, 2, 4);
    assert_memory_equal(encoded, wanted, TOTAL / slow.block * slow.size);
    assert_int_equal(mf_env_encode_rows(alone, &slow, numbers, ROWS, COLUMNS,
                                        weights, encoded),
                     MF_OK);
    mf_env_heap(env, &before);
    assert_int_equal(
        mf_env_encode_rows(env, &quick, numbers, 20, COLUMNS, NULL, encoded),
        MF_OK);
    assert_int_equal(
        mf_env_decode_rows(env, &quick, encoded, 20, COLUMNS, decoded), MF_OK);
    mf_env_heap(env, &after);
    assert_int_equal(after.allocations, before.allocations);
    assert_int_equal(asked.calls, 1);
    mf_env_free(alone);
    mf_env_free(env);
}

/* Of a quick type, too, unless the thread was interrupted while it measured. */
static void quick_work_is_not_shared(void **state)
{
    struct mf_env *env = env_with(4, true);
    struct mf_kernel kernel;
    unsigned shared = 0;

    (void)state;
    assert_true(mf_kernel_find("f32", NULL, &kernel));
    for (int i = 0; i < 20; i++) {
        asked.calls = 0;
        assert_int_equal(mf_env_encode_rows(env, &kernel, numbers, ROWS,
                                            COLUMNS, NULL, encoded),
                         MF_OK);
        shared += asked.calls > 0;
    }
    assert_in_range(shared, 0, 19);
    mf_env_free(env);
}

/* ---- progress ---- */

static struct {
    uint64_t done, total, stop;
} seen;

static bool look(void *user, const struct mf_progress *progress)
{
    (void)user;
    assert_true(progress->done >= seen.done);
    assert_int_equal(progress->total, seen.total);
    seen.done = progress->done;
    return progress->done < seen.stop;
}

static void progress_ends_it(void **state)
{
    struct mf_options options = { .size = sizeof(options), .progress = look };
    struct mf_kernel kernel;

    (void)state;
    assert_true(mf_kernel_find("q8_0", NULL, &kernel));
    for (options.threads = 1; options.threads <= 3; options.threads++)
        for (int stops = 0; stops < 2; stops++) {
            struct mf_env *env = mf_env_new(&options);
            enum mf_status status = stops ? MF_ERR_STOPPED : MF_OK;

            seen.done = 0;
            seen.total = TOTAL * sizeof(float);
            seen.stop = stops ? 1 : UINT64_MAX;
            assert_int_equal(mf_env_encode_rows(env, &kernel, numbers, ROWS,
                                                COLUMNS, NULL, encoded),
                             status);
            assert_int_equal(mf_env_error(env)->status, status);
            assert_true(stops || seen.done == seen.total);
            seen.done = 0;
            assert_int_equal(mf_env_decode_rows(env, &kernel, encoded, ROWS,
                                                COLUMNS, decoded),
                             status);
            mf_env_free(env);
        }
}

/* ---- what is refused ---- */

static void refused(struct mf_env *env, const struct mf_kernel *kernel,
                    size_t count, size_t columns, const char *says)
{
    memset(encoded, 0x5a, 64);
    memset(decoded, 0x5a, 64);
    assert_int_equal(
        mf_env_encode_rows(env, kernel, numbers, count, columns, NULL, encoded),
        MF_ERR_ARGUMENT);
    assert_non_null(strstr(mf_env_error(env)->message, says));
    assert_int_equal(
        mf_env_decode_rows(env, kernel, wanted, count, columns, decoded),
        MF_ERR_ARGUMENT);
    assert_non_null(strstr(mf_env_error(env)->message, says));
    for (size_t i = 0; i < 64; i++)
        assert_true(encoded[i] == 0x5a && ((uint8_t *)decoded)[i] == 0x5a);
}

static void hostile_sizes_are_refused(void **state)
{
    static const char *const types[] = { "f32", "q8_0", "q4_k", "apr_q8" };
    const size_t most = (size_t)PTRDIFF_MAX / sizeof(double);
    struct mf_env *env = env_with(2, false);
    struct mf_kernel kernel;

    (void)state;
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        assert_true(mf_kernel_find(types[i], NULL, &kernel));
        refused(env, &kernel, SIZE_MAX, 256, "more than");
        refused(env, &kernel, most / 256 + 1, 256, "more than");
        refused(env, &kernel, SIZE_MAX / 256 + 2, 256, "more than"); /* 256 */
        refused(env, &kernel, 256, SIZE_MAX / 256 * 256, "more than");
        refused(env, &kernel, 1, SIZE_MAX / 512 * 512 - 256, "more than");
        /* Nothing is nothing, whatever it is a multiple of. */
        assert_int_equal(mf_env_encode_rows(env, &kernel, numbers, SIZE_MAX, 0,
                                            NULL, encoded),
                         MF_OK);
        assert_int_equal(
            mf_env_decode_rows(env, &kernel, wanted, 0, 256, decoded), MF_OK);
        assert_int_equal(encoded[0], 0x5a);
        kernel.block = 3;
        refused(env, &kernel, 2, 768, "block size");
    }
    assert_true(mf_kernel_find("q4_k", NULL, &kernel));
    refused(env, &kernel, 2, 255, "whole blocks of q4_k");
    refused(env, &kernel, 256, 1, "whole blocks of q4_k");
    mf_env_free(env);
}

/* The first of them is named, whichever thread came to it. */
static void a_row_without_codes_is_named(void **state)
{
    struct mf_kernel kernel;

    (void)state;
    assert_true(mf_kernel_find("iq3_s", NULL, &kernel));
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct mf_env *env = env_with(threads, false);

        for (size_t row = 3; row < ROWS; row += 53) {
            numbers[row * COLUMNS + 7] = 1e30f;
            numbers[(ROWS - 1) * COLUMNS] = 1e30f;
            assert_int_equal(mf_env_encode_rows(env, &kernel, numbers, ROWS,
                                                COLUMNS, weights, encoded),
                             MF_ERR_UNSUPPORTED);
            snprintf((char *)wanted, sizeof(wanted),
                     "row %zu cannot be encoded as iq3_s", row);
            assert_non_null(
                strstr(mf_env_error(env)->message, (const char *)wanted));
            make_numbers();
        }
        mf_env_free(env);
    }
}

static void what_cannot_be_encoded_is_refused(void **state)
{
    struct mf_env *env = env_with(2, false);
    struct mf_kernel kernel;

    (void)state;
    assert_true(mf_kernel_find("iq2_xs", NULL, &kernel));
    assert_int_equal(
        mf_env_encode_rows(env, &kernel, numbers, ROWS, COLUMNS, NULL, encoded),
        MF_ERR_ARGUMENT);
    assert_non_null(strstr(mf_env_error(env)->message, "without weights"));
    assert_true(mf_kernel_find("i8", NULL, &kernel));
    assert_int_equal(
        mf_env_encode_rows(env, &kernel, numbers, ROWS, COLUMNS, NULL, encoded),
        MF_ERR_UNSUPPORTED);
    assert_int_equal(
        mf_env_decode_rows(env, &kernel, wanted, ROWS, COLUMNS, decoded),
        MF_OK);
    kernel.type = "i9";
    assert_int_equal(
        mf_env_decode_rows(env, &kernel, wanted, ROWS, COLUMNS, decoded),
        MF_ERR_UNSUPPORTED);
    mf_env_free(env);
}

/* Each allocation: of the tables, and of the threads. */
static void memory_may_be_refused(void **state)
{
    struct test_heap heap = { 0 };
    bool ended = false;
    struct mf_kernel kernel;
    size_t failures = 0;

    (void)state;
    assert_true(mf_kernel_find("iq3_xxs", NULL, &kernel));
    while (!ended) {
        enum mf_status status;
        struct mf_env *env;

        heap.fail_at++;
        heap.calls = 0;
        env = test_env(&heap);
        if (!env)
            continue;
        status = mf_env_encode_rows(env, &kernel, numbers, ROWS, COLUMNS,
                                    weights, encoded);
        if (status != MF_OK)
            assert_int_equal(status, MF_ERR_MEMORY);
        failures += status != MF_OK;
        ended = heap.calls < heap.fail_at;
        mf_env_free(env);
        assert_int_equal(heap.live, 0);
    }
    assert_true(failures >= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_as_row_by_row),
        cmocka_unit_test(one_long_row_is_a_row),
        cmocka_unit_test(only_long_work_is_shared),
        cmocka_unit_test(quick_work_is_not_shared),
        cmocka_unit_test(progress_ends_it),
        cmocka_unit_test(hostile_sizes_are_refused),
        cmocka_unit_test(a_row_without_codes_is_named),
        cmocka_unit_test(what_cannot_be_encoded_is_refused),
        cmocka_unit_test(memory_may_be_refused),
    };

    make_numbers();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
