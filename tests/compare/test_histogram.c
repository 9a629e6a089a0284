/* SPDX-License-Identifier: MIT
 *
 * test_histogram.c - numbers by sign and exponent, rows that are all the same
 *
 * What is expected is counted here, number by number, with frexp: over what
 * mf_tensor_read gives, and over integers that this file made itself.
 */
#include <math.h>

#include "tests/read/one_tensor.h"

/* Exponents from -1100 on. */
enum { LOWEST = -1100, EXPONENTS = 2200 };

struct counts {
    uint64_t negative[EXPONENTS], positive[EXPONENTS];
    uint64_t rows, zero_rows, constant_rows, outliers;
    struct mf_tensor_histogram is;
};

/* ---- a model of one tensor ---- */

static uint8_t file[8 << 20];

/* Of GGUF, with `columns` numbers in a row. */
static struct mf_model *gguf_of(int type, uint64_t columns, uint64_t rows,
                                const void *bytes, size_t size)
{
    struct {
        uint64_t value;
        size_t size;
    } fields[] = {
        { 0x46554747, 4 }, { 3, 4 },
        { 1, 8 },          { 0, 8 },
        { 1, 8 },          { 't', 1 },
        { 2, 4 },          { columns, 8 },
        { rows, 8 },       { (uint64_t)type, 4 },
        { 0, 8 },
    };
    struct mf_model *model = NULL;
    uint8_t *at = file;

    for (size_t i = 0; i < COUNT(fields); i++) {
        set_number(at, fields[i].value, fields[i].size);
        at += fields[i].size;
    }
    while ((at - file) % 32 != 0)
        *at++ = 0;
    assert_true((size_t)(at - file) + size <= sizeof(file));
    memcpy(at, bytes, size);
    if (mf_model_open_memory(env, "memory", file, (size_t)(at - file) + size,
                             NULL, &model) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    return model;
}

/* ---- what is expected ---- */

static void count_row(struct counts *counts, const double *row, size_t size)
{
    bool same = true;

    for (size_t i = 0; i < size; i++) {
        int exponent;

        same = same && row[i] == row[0];
        if (row[i] == 0 || !isfinite(row[i]))
            continue;
        frexp(row[i], &exponent);
        (row[i] < 0 ? counts->negative
                    : counts->positive)[exponent - 1 - LOWEST]++;
    }
    counts->rows++;
    counts->zero_rows += same && row[0] == 0;
    counts->constant_rows += same && row[0] != 0;
}

static double power_beyond(double std)
{
    int exponent;
    double part = frexp(std, &exponent), power = 1;

    while (power < 6 * part)
        power *= 2;
    return std > 0 ? ldexp(power, exponent) : 0;
}

static void check_bins(const struct counts *counts,
                       const struct mf_tensor_histogram *got)
{
    uint64_t outliers = 0, sum = 0;

    for (int i = 0; i < EXPONENTS; i++) {
        int at = i + LOWEST - got->first;
        bool within = at >= 0 && (size_t)at < got->bins;

        assert_int_equal(within ? got->negative[at] : 0, counts->negative[i]);
        assert_int_equal(within ? got->positive[at] : 0, counts->positive[i]);
        sum += counts->negative[i] + counts->positive[i];
        if (got->stats.std > 0 && ldexp(1, i + LOWEST) >= got->beyond)
            outliers += counts->negative[i] + counts->positive[i];
    }
    assert_int_equal(sum + got->stats.zeros, got->stats.count);
    assert_int_equal(got->outliers, outliers);
    if (got->bins > 0) {
        assert_true(got->negative[0] + got->positive[0] > 0);
        assert_true(
            got->negative[got->bins - 1] + got->positive[got->bins - 1] > 0);
    }
}

static void check_histogram(const struct counts *counts,
                            const struct mf_tensor_histogram *got)
{
    check_bins(counts, got);
    assert_true(got->beyond == power_beyond(got->stats.std));
    assert_int_equal(got->rows, counts->rows);
    assert_int_equal(got->zero_rows, counts->zero_rows);
    assert_int_equal(got->constant_rows, counts->constant_rows);
}

/* ---- one call ---- */

struct call {
    const struct counts *counts;
    struct mf_tensor_stats stats;
    size_t calls;
};

static void check_one(void *user, size_t number,
                      const struct mf_tensor_histogram *histogram)
{
    struct call *call = user;

    assert_int_equal(number, call->calls++);
    check_histogram(call->counts, histogram);
    call->stats = histogram->stats;
}

static void check_same_stats(const struct mf_tensor_stats *a,
                             const struct mf_tensor_stats *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->zeros, b->zeros);
    assert_int_equal(a->nans, b->nans);
    assert_int_equal(a->infinities, b->infinities);
    assert_int_equal(a->kind, b->kind);
    assert_memory_equal(&a->min, &b->min, 5 * sizeof(double));
    assert_memory_equal(&a->least, &b->least, sizeof(a->least));
    assert_memory_equal(&a->greatest, &b->greatest, sizeof(a->greatest));
}

/* Of the first tensor; closes the model. */
static struct mf_tensor_stats check_model(struct mf_model *model,
                                          const struct counts *counts)
{
    struct call call = { .counts = counts };
    struct mf_tensor_stats alone;
    size_t first = 0;

    if (mf_tensor_histograms(model, &first, 1, check_one, &call) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    assert_int_equal(call.calls, 1);
    assert_int_equal(mf_tensor_stats(model, &first, 1, &alone), MF_OK);
    check_same_stats(&call.stats, &alone);
    mf_model_close(model);
    return alone;
}

static struct counts counts;

/* Counts a tensor as it is read. */
static void count_tensor(struct mf_model *model, size_t columns)
{
    static double numbers[1 << 20];
    struct mf_tensor tensor;

    assert_true(mf_tensor_at(model, 0, &tensor));
    assert_true(tensor.parameters <= COUNT(numbers));
    if (mf_tensor_read(model, 0, 0, tensor.parameters, MF_READ_F64, numbers) !=
        MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    memset(&counts, 0, sizeof(counts));
    for (size_t i = 0; i < tensor.parameters; i += columns)
        count_row(&counts, numbers + i, columns);
}

static void check_gguf(int type, size_t columns, size_t rows, const void *bytes,
                       size_t size)
{
    struct mf_model *model = gguf_of(type, columns, rows, bytes, size);

    count_tensor(model, columns);
    check_model(model, &counts);
}

/* ---- tests ---- */

static uint32_t noise = 1;

static uint8_t noisy_byte(void)
{
    noise = noise * 1664525 + 1013904223;
    return (uint8_t)(noise >> 24);
}

/* Random bytes have all exponents, and scales that are NaN. */
static void types_of_any_kind(void **state)
{
    static uint8_t bytes[1 << 20];
    struct mf_type_info type;
    struct mf_kernel kernel;
    size_t tried = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = i % 4096 < 512 ? 0 : noisy_byte();
    for (size_t i = 0; mf_type_at(i, &type); i++) {
        const size_t shapes[][2] = { { 1, 1 }, { 1, 7 }, { 3, 5 }, { 2, 999 } };

        if (type.ggml < 0 || type.ggml == 26 || type.ggml == 27 ||
            !mf_kernel_find(type.name, NULL, &kernel))
            continue; /* 32 bits and 64 are for other tests */
        for (size_t k = 0; k < COUNT(shapes); k++)
            check_gguf(type.ggml, shapes[k][0] * type.block, shapes[k][1],
                       bytes, shapes[k][0] * shapes[k][1] * type.size);
        tried++;
    }
    print_message("%zu types\n", tried);
    assert_true(tried >= 30);
}

/* Rows of which many are in a piece, none ends in one, or one ends with it. */
static void rows_of_any_length(void **state)
{
    enum { MANY = 1 << 20 };
    const size_t lengths[] = { 1,      2,      3,      1000,   131071,
                               131072, 131073, 262144, 399999, (1 << 19) + 1,
                               MANY };
    static float numbers[MANY];

    (void)state;
    for (size_t k = 0; k < COUNT(lengths); k++) {
        size_t columns = lengths[k], rows = MANY / columns;

        for (size_t i = 0; i < rows * columns; i++)
            numbers[i] = i / columns % 3 == 0   ? (i % 2 ? 0.0F : -0.0F)
                         : i / columns % 3 == 1 ? -1.5F
                                                : (float)(i % 77);
        if (rows > 5) /* the last number, and the first, of two rows */
            numbers[5 * columns - 1] = numbers[3 * columns] = 9;
        in_file_order(numbers, MANY, sizeof(*numbers));
        check_gguf(0, columns, rows, numbers,
                   rows * columns * sizeof(*numbers));
    }
}

static void edges_of_floats(void **state)
{
    const float numbers[] = { 0.0F,       -0.0F,           0x1p-149F,
                              -0x1p-149F, 0x3p-149F,       0x1p-127F,
                              0x1p-126F,  -0x1p-126F,      1,
                              -1,         0x1.fffffep127F, -0x1p127F,
                              INFINITY,   -INFINITY,       NAN,
                              -NAN,       1.9999999F };
    const float nans[] = { NAN, NAN, NAN, INFINITY, INFINITY, INFINITY };
    const float none[] = { NAN };

    (void)state;
    check_gguf(0, COUNT(numbers), 1, numbers, sizeof(numbers));
    check_gguf(0, 1, COUNT(numbers), numbers, sizeof(numbers));
    check_gguf(0, 3, 2, nans, sizeof(nans));
    assert_int_equal(counts.constant_rows, 1);
    check_gguf(0, 1, 1, none, sizeof(none));
}

static void edges_of_doubles(void **state)
{
    const double numbers[] = { 0.0,       -0.0,      0x1p-1074, -0x1p-1074,
                               0x7p-1074, 0x1p-1023, 0x1p-1022, -0x1p-1022,
                               3,         -4,        0x1p1023,  -0x1.8p1023,
                               INFINITY,  NAN,       -NAN };
    const double huge[] = { 1e308, -1e308 }, tiny[] = { 0x1p-1074, 0 };

    (void)state;
    check_gguf(28, COUNT(numbers), 1, numbers, sizeof(numbers));
    check_gguf(28, 5, 3, numbers, sizeof(numbers));
    check_gguf(28, 2, 1, huge, sizeof(huge));
    check_gguf(28, 2, 1, tiny, sizeof(tiny));
}

/* ---- integers, which doubles do not hold ---- */

static void count_integer(uint64_t size, bool negative)
{
    int exponent = -1;

    for (; size > 0; size /= 2)
        exponent++;
    if (exponent >= 0)
        (negative ? counts.negative : counts.positive)[exponent - LOWEST]++;
}

static void edges_of_integers(void **state)
{
    const int64_t numbers[] = { INT64_MIN, INT64_MAX,     -1, 0, 1, -2, 3,
                                -4,        INT64_MIN + 1, 5 };
    const uint64_t naturals[] = { UINT64_MAX, UINT64_MAX, UINT64_MAX };
    const uint64_t near[] = { UINT64_MAX, UINT64_MAX, UINT64_MAX - 1 };
    const uint8_t bools[] = { 0, 1, 255, 2 };

    (void)state;
    memset(&counts, 0, sizeof(counts));
    for (size_t i = 0; i < COUNT(numbers); i++)
        count_integer(numbers[i] < 0 ? 0 - (uint64_t)numbers[i]
                                     : (uint64_t)numbers[i],
                      numbers[i] < 0);
    counts.rows = 1;
    check_model(tensor_in_memory("I64", numbers, COUNT(numbers), 8), &counts);
    memset(&counts, 0, sizeof(counts));
    counts.positive[63 - LOWEST] = 3;
    counts.rows = 1;
    check_model(tensor_in_memory("U64", near, 3, 8), &counts);
    counts.constant_rows = 1;
    check_model(tensor_in_memory("U64", naturals, 3, 8), &counts);
    memset(&counts, 0, sizeof(counts));
    counts.positive[0 - LOWEST] = 3;
    counts.rows = 1;
    check_model(tensor_in_memory("BOOL", bools, 4, 1), &counts);
    counts.constant_rows = 1;
    check_model(tensor_in_memory("BOOL", bools + 1, 3, 1), &counts);
}

/* Powers of two are where outliers begin. */
static void outliers_are_exact(void **state)
{
    enum { MANY = 4096 };
    static float numbers[MANY];

    (void)state;
    for (size_t i = 0; i < MANY; i++)
        numbers[i] = i % 2 ? 1 : -1;
    numbers[7] = 7.9999995F; /* std is about 1: beyond is 8 */
    check_gguf(0, MANY, 1, numbers, sizeof(numbers));
    numbers[9] = 8;
    numbers[11] = -8;
    check_gguf(0, MANY, 1, numbers, sizeof(numbers));
}

/* ---- many tensors ---- */

struct all {
    uint64_t digest;
    size_t calls;
    bool asks; /* calls the env from within */
    struct mf_model *model;
};

static void mix(struct all *all, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        all->digest = (all->digest ^ ((const uint8_t *)bytes)[i]) *
                      UINT64_C(0x100000001b3);
}

static void mix_one(void *user, size_t number,
                    const struct mf_tensor_histogram *histogram)
{
    struct all *all = user;

    assert_int_equal(number, all->calls++);
    mix(all, &histogram->stats.count, 6 * sizeof(uint64_t));
    mix(all, &histogram->first, sizeof(histogram->first));
    mix(all, histogram->negative, histogram->bins * sizeof(uint64_t));
    mix(all, histogram->positive, histogram->bins * sizeof(uint64_t));
    mix(all, &histogram->rows, 4 * sizeof(uint64_t));
    mix(all, &histogram->outliers, sizeof(uint64_t));
}

static struct mf_env *env_with(unsigned threads, size_t limit)
{
    struct mf_options options = { .size = sizeof(options),
                                  .threads = threads,
                                  .heap_limit = limit };

    return mf_env_new(&options);
}

/* Nor does the size of buffers: of f64, of which few pieces have counters. */
static void no_number_of_threads_shows(void **state)
{
    enum { MANY = 1000003 };
    const unsigned threads[] = { 1, 2, 5 };
    static double numbers[MANY];
    struct all first = { 0 };

    (void)state;
    for (size_t i = 0; i < MANY; i++)
        numbers[i] = ldexp((double)noisy_byte() - 128, (int)(i % 2000) - 1000);
    for (size_t i = 0; i < COUNT(threads); i++)
        for (size_t limit = 0; limit < 2; limit++) {
            struct all all = { 0 };
            struct mf_model *model;

            mf_env_free(env);
            env = env_with(threads[i], limit * 160 * 1024);
            assert_non_null(env);
            model = gguf_of(28, MANY, 1, numbers, sizeof(numbers));
            if (mf_tensor_histograms(model, (size_t[]){ 0, 0, 0 }, 3, mix_one,
                                     &all) != MF_OK)
                fail_msg("%s", mf_env_error(env)->message);
            assert_int_equal(all.calls, 3);
            if (first.calls == 0)
                first = all;
            assert_true(all.digest == first.digest);
            mf_model_close(model);
        }
}

/* In any order, more than once; a fixture has many types. */
static void tensors_of_a_model(void **state)
{
    struct mf_model *model = open_fixture("good-llama.gguf");
    size_t count = mf_model_info(model)->tensor_count, index[600];
    struct all all = { 0 };

    (void)state;
    for (size_t i = 0; i < COUNT(index); i++)
        index[i] = (count - 1 - i % count);
    assert_int_equal(
        mf_tensor_histograms(model, index, COUNT(index), mix_one, &all), MF_OK);
    assert_int_equal(all.calls, COUNT(index));
    assert_int_equal(mf_tensor_histograms(model, NULL, 0, mix_one, &all),
                     MF_OK);
    index[1] = count;
    assert_int_equal(mf_tensor_histograms(model, index, 2, mix_one, &all),
                     MF_ERR_ARGUMENT);
    assert_int_equal(all.calls, COUNT(index));
    mf_model_close(model);
}

/* No numbers, no row; a scalar is a row. */
static void tensors_without_dimensions(void **state)
{
    struct mf_model *model;
    const float one = 2;

    (void)state;
    memset(&counts, 0, sizeof(counts));
    check_model(gguf_of(0, 0, 3, &one, 0), &counts);
    check_model(gguf_of(0, 3, 0, &one, 0), &counts);
    model = open_fixture("good-scalar.npy");
    count_tensor(model, 1);
    assert_int_equal(counts.rows, 1);
    check_model(model, &counts);
}

static void fail_of_env(void *user, size_t number,
                        const struct mf_tensor_histogram *histogram)
{
    struct all *all = user;
    float out;

    mix_one(user, number, histogram);
    assert_int_equal(
        mf_tensor_read(all->model, 0, UINT64_MAX, 1, MF_READ_F32, &out),
        MF_ERR_ARGUMENT);
}

/* A call that fails within `each` ends the work. */
static void errors_within_are_kept(void **state)
{
    struct mf_model *model = open_fixture("good-llama.gguf");
    struct all all = { .model = model };

    (void)state;
    assert_int_equal(mf_tensor_histograms(model, (size_t[]){ 0, 1, 2 }, 3,
                                          fail_of_env, &all),
                     MF_ERR_ARGUMENT);
    assert_int_equal(all.calls, 1);
    mf_model_close(model);
}

/* Each allocation refused, and all after it. */
static void memory_is_refused(void **state)
{
    struct all right = { 0 };
    bool refused = true;

    (void)state;
    for (uint64_t k = 0; refused; k++)
        for (int after = 0; after < 2; after++) {
            struct mf_model *model = open_fixture("good-llama.gguf");
            struct all all = { 0 };
            enum mf_status status;

            env_heap.calls = 0;
            env_heap.fail_at = k;
            env_heap.fail_after = after > 0;
            status = mf_tensor_histograms(model, (size_t[]){ 0, 1, 2, 3 }, 4,
                                          mix_one, &all);
            check_refused(&env_heap, status);
            refused = k == 0 || env_heap.calls >= k;
            env_heap.fail_at = 0;
            if (k == 0)
                right = all;
            if (status == MF_OK) {
                assert_int_equal(all.calls, 4);
                assert_true(all.digest == right.digest);
            }
            mf_model_close(model);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(types_of_any_kind),
        WITH_ENV(rows_of_any_length),
        WITH_ENV(edges_of_floats),
        WITH_ENV(edges_of_doubles),
        WITH_ENV(edges_of_integers),
        WITH_ENV(outliers_are_exact),
        WITH_ENV(no_number_of_threads_shows),
        WITH_ENV(tensors_of_a_model),
        WITH_ENV(tensors_without_dimensions),
        WITH_ENV(errors_within_are_kept),
        WITH_ENV(memory_is_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
