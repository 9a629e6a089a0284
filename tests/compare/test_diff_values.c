/* SPDX-License-Identifier: MIT
 *
 * test_diff_values.c - how far apart numbers are, compared with a plain loop
 */
#include <math.h>

#include "lib/codec/codecs.h"
#include "lib/model/format.h"
#include "tests/scratch.h"
#include "tests/with_env.h"

static int empty(void **state)
{
    empty_scratch();
    return env_teardown(state);
}

#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, env_setup, empty)

/* ---- models ---- */

struct made {
    enum mf_type type;
    uint64_t dim[2];
    uint8_t *bytes;
};

static uint64_t elements(const struct made *made)
{
    return made->dim[0] * made->dim[1];
}

static size_t bytes_of(const struct made *made)
{
    return (size_t)elements(made) / mf_types[made->type].block *
           mf_types[made->type].bytes;
}

static enum mf_status produce(void *user, size_t tensor, uint64_t offset,
                              void *buffer, size_t size)
{
    const struct made *made = user;

    memcpy(buffer, made[tensor].bytes + offset, size);
    return MF_OK;
}

/* Writes a model of tensors "t0", "t1", ... and opens it. */
static struct mf_model *make_model(struct mf_env *own, const char *file,
                                   struct made *made, size_t count)
{
    struct mf_writer_options options = { .size =
                                             sizeof(struct mf_writer_options),
                                         .format = strrchr(file, '.') + 1,
                                         .replace = true };
    struct mf_writer *writer;
    struct mf_model *model = NULL;

    assert_int_equal(mf_writer_new(own, &options, &writer), MF_OK);
    for (size_t i = 0; i < count; i++) {
        char name[24];
        int size = snprintf(name, sizeof(name), "t%zu", i);
        struct mf_new_tensor tensor = { .name = { name, (size_t)size },
                                        .type = mf_types[made[i].type].name,
                                        .rank = 2,
                                        .dim = made[i].dim };

        assert_int_equal(mf_writer_add(writer, &tensor, NULL), MF_OK);
    }
    assert_int_equal(mf_writer_open(writer, scratch_path(file)), MF_OK);
    assert_int_equal(mf_writer_fill(writer, produce, made), MF_OK);
    assert_int_equal(mf_writer_commit(writer), MF_OK);
    mf_writer_free(writer);
    assert_int_equal(mf_model_open(own, scratch_path(file), NULL, &model),
                     MF_OK);
    return model;
}

/* ---- what was found ---- */

struct found {
    struct mf_value_errors errors;
    char why[320]; /* "": they were compared */
    unsigned what;
    bool asked; /* there are values, or a reason */
};

struct founds {
    struct found *at;
    size_t room, count;
};

static void keep_values(void *user, const struct mf_difference *difference)
{
    struct founds *founds = user;
    struct found *found = &founds->at[founds->count];

    if (!difference->is_tensor) {
        assert_null(difference->values);
        assert_null(difference->no_values);
        return;
    }
    assert_true(founds->count++ < founds->room);
    *found =
        (struct found){ .what = difference->what,
                        .asked = difference->values || difference->no_values };
    if (difference->values)
        found->errors = *difference->values;
    if (difference->no_values) {
        assert_null(difference->values);
        snprintf(found->why, sizeof(found->why), "%s", difference->no_values);
    }
}

static enum mf_status values(struct mf_model *a, struct mf_model *b,
                             struct found *at, size_t room, size_t *count)
{
    struct mf_diff_options options = { .size = sizeof(struct mf_diff_options),
                                       .values = true };
    struct founds founds = { .at = at, .room = room };
    enum mf_status status = mf_model_diff(a, b, &options, keep_values, &founds);

    *count = founds.count;
    return status;
}

/* The one difference between two tensors. */
static struct found one_pair(struct mf_env *own, const char *file_a,
                             struct made *a, const char *file_b, struct made *b)
{
    struct mf_model *one = make_model(own, file_a, a, 1);
    struct mf_model *two = make_model(own, file_b, b, 1);
    struct found found;
    size_t count;

    if (values(one, two, &found, 1, &count) != MF_OK)
        fail_msg("%s", mf_env_error(own)->message);
    assert_int_equal(count, 1);
    mf_model_close(two);
    mf_model_close(one);
    return found;
}

/* ---- the plain loop ---- */

static float *floats_of(const struct made *made)
{
    float *out = malloc((size_t)elements(made) * sizeof(*out));

    assert_non_null(out);
    mf_codec_of(mf_isas, made->type)
        ->decode(made->bytes, out, (size_t)elements(made));
    return out;
}

/* The numbers as they are in the file. */
static long double *numbers_of(const struct made *made)
{
    size_t count = (size_t)elements(made);
    long double *out = malloc(count * sizeof(*out));
    float *floats = floats_of(made);

    assert_non_null(out);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *at = made->bytes + i * mf_types[made->type].bytes;

        out[i] = floats[i];
        if (made->type == MF_TYPE_F64)
            out[i] = mf_little_double(at);
        else if (made->type == MF_TYPE_I64)
            out[i] = (long double)(int64_t)mf_little_64(at);
        else if (made->type == MF_TYPE_I32)
            out[i] = (int32_t)mf_little_32(at);
    }
    free(floats);
    return out;
}

/* A power of two near the largest difference of finite numbers, or near the
 * largest number where b is NULL: divided by it, squares stay in the range of a
 * long double that is no wider than a double. */
static long double scale_of(const long double *a, const long double *b,
                            size_t n)
{
    long double most = 0;

    for (size_t i = 0; i < n; i++)
        if (isfinite(a[i]) && (!b || isfinite(b[i])))
            most = fmaxl(most, fabsl(b ? a[i] - b[i] : a[i]));
    return most > 0 ? ldexpl(1, ilogbl(most)) : 1;
}

static struct mf_value_errors plain(const long double *a, const long double *b,
                                    size_t n)
{
    struct mf_value_errors out = { 0 };
    long double of_a = scale_of(a, NULL, n), of_b = scale_of(b, NULL, n);
    long double apart = scale_of(a, b, n), squares = 0, aa = 0, bb = 0, ab = 0;

    for (size_t i = 0; i < n; i++) {
        long double x = a[i], y = b[i];

        if (!isfinite(x) || !isfinite(y)) {
            out.nan_a += isnan(x) && !isnan(y);
            out.nan_b += isnan(y) && !isnan(x);
            out.inf_a += isinf(x) && !(isinf(y) && x * y > 0);
            out.inf_b += isinf(y) && !(isinf(x) && x * y > 0);
            continue;
        }
        out.count++;
        out.max_absolute = fmax(out.max_absolute, (double)fabsl(x - y));
        if (x != 0)
            out.max_relative =
                fmax(out.max_relative, (double)(fabsl(x - y) / fabsl(x)));
        out.from_zero += x == 0 && y != 0;
        squares += (x - y) / apart * ((x - y) / apart);
        aa += x / of_a * (x / of_a);
        bb += y / of_b * (y / of_b);
        ab += x / of_a * (y / of_b);
    }
    out.rmse =
        n ? (double)(apart * sqrtl(squares / (long double)out.count)) : 0;
    out.cosine = (double)(ab / sqrtl(aa * bb));
    return out;
}

static void check_near(const char *what, double got, double wanted)
{
    if (got != wanted && !(fabs(got - wanted) <= 1e-11 * fabs(wanted)))
        fail_msg("%s: %.17g instead of %.17g", what, got, wanted);
}

static void check_plain(const struct found *found, const struct made *a,
                        const struct made *b)
{
    const struct mf_value_errors *got = &found->errors;
    long double *x = numbers_of(a), *y = numbers_of(b);
    struct mf_value_errors want = plain(x, y, (size_t)elements(a));

    if (found->why[0])
        fail_msg("%s", found->why);
    assert_int_equal(got->count, want.count);
    assert_true(got->count > 0);
    check_near("max_absolute", got->max_absolute, want.max_absolute);
    check_near("max_relative", got->max_relative, want.max_relative);
    check_near("rmse", got->rmse, want.rmse);
    check_near("cosine", got->cosine, want.cosine);
    assert_int_equal(got->from_zero, want.from_zero);
    assert_int_equal(got->nan_a, want.nan_a);
    assert_int_equal(got->nan_b, want.nan_b);
    assert_int_equal(got->inf_a, want.inf_a);
    assert_int_equal(got->inf_b, want.inf_b);
    free(y);
    free(x);
}

/* ---- tensors of noise ---- */

static uint32_t noise_state;

static uint32_t noise(void)
{
    noise_state = noise_state * 1664525 + 1013904223;
    return noise_state >> 8;
}

static struct made noisy(enum mf_type type, uint64_t rows, uint64_t columns)
{
    struct made made = { .type = type, .dim = { rows, columns } };
    size_t size = bytes_of(&made);

    made.bytes = malloc(size + 1);
    assert_non_null(made.bytes);
    for (size_t i = 0; i < size; i++)
        made.bytes[i] = (uint8_t)noise();
    return made;
}

/* A row of numbers as the processor has them; they become a file's. */
static struct made made_of(enum mf_type type, void *numbers, uint64_t count)
{
    in_file_order(numbers, (size_t)count, mf_types[type].bytes);
    return (struct made){ type, { 1, count }, numbers };
}

/* The same numbers as f32, each a little off, and some of them odd. */
static struct made nearly(const struct made *like)
{
    static const float odd[] = { NAN, INFINITY, -INFINITY, 0 };
    struct made made = { .type = MF_TYPE_F32,
                         .dim = { like->dim[0], like->dim[1] } };
    float *at = floats_of(like);

    for (size_t i = 0; i < elements(like); i++) {
        at[i] *= 1 + ((float)(noise() % 2001) - 1000) / 100000;
        if (noise() % 50 == 0)
            at[i] = odd[noise() % COUNT(odd)];
    }
    in_file_order(at, (size_t)elements(like), sizeof(*at));
    made.bytes = (uint8_t *)at;
    return made;
}

/* Rows of 512 are whole blocks of every type, and blocks of different types
 * begin at different bytes. */
static void every_type_is_compared(void **state)
{
    size_t types = 0;

    (void)state;
    for (int type = 0; type < MF_TYPE_COUNT; type++) {
        struct made a, b, c;
        struct found found;

        if (!mf_codec_of(mf_isas, (enum mf_type)type) ||
            mf_format_gguf.type_id((enum mf_type)type) == MF_NO_TYPE_ID)
            continue;
        a = noisy((enum mf_type)type, 5, 512);
        b = nearly(&a);
        c = noisy(type == MF_TYPE_Q8_0 ? MF_TYPE_Q4_0 : MF_TYPE_Q8_0, 5, 512);
        found = one_pair(env, "a.gguf", &a, "b.gguf", &b);
        check_plain(&found, &a, &b);
        found = one_pair(env, "a.gguf", &a, "c.gguf", &c);
        assert_int_equal(found.what, MF_DIFFERS_TYPE);
        check_plain(&found, &a, &c);
        found = one_pair(env, "c.gguf", &c, "a.gguf", &a);
        check_plain(&found, &c, &a);
        free(c.bytes);
        free(b.bytes);
        free(a.bytes);
        types++;
    }
    assert_true(types > 25);
}

/* One has its contiguous dimension first, the other last. */
static void containers_are_compared(void **state)
{
    struct made a = noisy(MF_TYPE_BF16, 3, 64), b = nearly(&a);
    struct found found;

    (void)state;
    found = one_pair(env, "a.gguf", &a, "b.safetensors", &b);
    check_plain(&found, &a, &b);
    found = one_pair(env, "b.safetensors", &b, "a.apr", &a);
    check_plain(&found, &b, &a);
    free(b.bytes);
    free(a.bytes);
}

/* ---- numbers that are known ---- */

static struct mf_value_errors apart(const float *a, const float *b, size_t n)
{
    float x[8], y[8];
    struct made one = { MF_TYPE_F32, { 1, n }, (uint8_t *)x };
    struct made two = { MF_TYPE_F32, { 1, n }, (uint8_t *)y };
    struct found found;

    memcpy(x, a, n * sizeof(*x));
    memcpy(y, b, n * sizeof(*y));
    in_file_order(x, n, sizeof(*x));
    in_file_order(y, n, sizeof(*y));
    found = one_pair(env, "a.gguf", &one, "b.gguf", &two);
    assert_int_equal(found.what, MF_DIFFERS_DATA);
    assert_string_equal(found.why, "");
    return found.errors;
}

/* Each was the same float as the other. */
static void numbers_beyond_floats_differ(void **state)
{
    const double a_little_more = 3 + 1e-9;
    double three[] = { 3, -1e300 }, more[] = { a_little_more, -1e300 };
    double small[] = { -1, 3 };
    int64_t large[] = { -172064161, 3 }, next[] = { -172064160, 3 };
    int64_t one[] = { 1, 3 };
    struct made a = made_of(MF_TYPE_F64, three, 2);
    struct made b = made_of(MF_TYPE_F64, more, 2);
    struct mf_value_errors errors =
        one_pair(env, "a.gguf", &a, "b.gguf", &b).errors;

    (void)state;
    assert_int_equal(errors.count, 2);
    assert_int_equal(errors.inf_a + errors.inf_b, 0);
    assert_true(errors.max_absolute == a_little_more - 3);
    check_near("rmse", errors.rmse, (a_little_more - 3) / sqrt(2));
    assert_true(errors.cosine == 1);
    a = made_of(MF_TYPE_I64, large, 2);
    b = made_of(MF_TYPE_I64, next, 2);
    errors = one_pair(env, "a.gguf", &a, "b.gguf", &b).errors;
    assert_true(errors.max_absolute == 1);
    check_near("relative", errors.max_relative, 1 / 172064161.0);
    check_near("rmse", errors.rmse, 1 / sqrt(2));
    /* Small ones, and another type: 3 and 3 are equal, 1 is apart from -1. */
    a = made_of(MF_TYPE_I64, one, 2);
    b = made_of(MF_TYPE_F64, small, 2);
    errors = one_pair(env, "a.gguf", &a, "b.gguf", &b).errors;
    assert_true(errors.max_absolute == 2);
    check_near("cosine", errors.cosine, 0.8);
}

static void known_numbers(void **state)
{
    const float a[] = { 1, -2, 0, 4 }, b[] = { 1, -2.5F, 3, 3 };
    struct mf_value_errors errors = apart(a, b, 4);

    (void)state;
    assert_int_equal(errors.count, 4);
    assert_true(errors.max_absolute == 3);
    assert_true(errors.max_relative == 0.25);
    assert_int_equal(errors.from_zero, 1);
    check_near("rmse", errors.rmse, sqrt((0.25 + 9 + 1) / 4));
    check_near("cosine", errors.cosine, 18 / sqrt(21 * 25.25));
    /* The other way round, 0 is as far from 3 as 3 is from it. */
    errors = apart(b, a, 4);
    assert_true(errors.max_relative == 1);
    assert_int_equal(errors.from_zero, 0);
    check_near("cosine", errors.cosine, 18 / sqrt(21 * 25.25));
}

/* Rounding would make the cosine of these a little more than 1. */
static void no_cosine_is_above_1(void **state)
{
    const float a[] = { 0.0156259537F, 17.0000114F, 0.000976563431F };
    const float b[] = { 7 * a[0], 7 * a[1], 7 * a[2] };
    struct mf_value_errors errors = apart(a, b, 3);

    (void)state;
    assert_true(errors.cosine == 1);
    assert_true(errors.max_relative > 5.9 && errors.max_relative < 6.1);
}

static void nan_and_infinite_numbers(void **state)
{
    const float a[] = { NAN, 1, INFINITY, INFINITY, -INFINITY, 2, NAN, NAN };
    const float b[] = { NAN, NAN, INFINITY, -INFINITY, 5, 2, 0, INFINITY };
    struct mf_value_errors errors = apart(a, b, 8);

    (void)state;
    assert_int_equal(errors.count, 1);
    assert_true(errors.max_absolute == 0 && errors.cosine == 1);
    assert_int_equal(errors.nan_a, 2);
    assert_int_equal(errors.nan_b, 1);
    assert_int_equal(errors.inf_a, 2);
    assert_int_equal(errors.inf_b, 2);
    errors = apart(a, (const float[]){ 7 }, 1);
    assert_int_equal(errors.count, 0);
    assert_true(errors.rmse == 0 && errors.cosine == 1);
}

static void zeros_have_no_angle(void **state)
{
    const float zero[] = { 0, 0 }, minus[] = { -0.F, 0 }, some[] = { 0, 3 };

    (void)state;
    assert_true(apart(zero, some, 2).cosine == 0);
    assert_true(apart(some, zero, 2).cosine == 0);
    assert_true(apart(zero, minus, 2).cosine == 1);
    assert_true(apart(zero, minus, 2).rmse == 0);
    /* No difference of two floats is too large for a double. */
    assert_true(isfinite(
        apart((const float[]){ 3e38F }, (const float[]){ -3e38F }, 1).rmse));
}

/* ---- threads, memory ---- */

enum { SMALL = 300, ALL = SMALL + 2 };

/* More pieces than are handed out at once, and tensors of many pieces. */
static void make_large(struct made *a, struct made *b)
{
    for (size_t i = 0; i < ALL; i++) {
        bool large = i >= SMALL;

        a[i] = noisy(i % 2 ? MF_TYPE_Q8_0 : MF_TYPE_BF16, large ? 3000 : 2,
                     large ? 416 : 32);
        b[i] = nearly(&a[i]);
    }
}

static void no_number_of_threads_shows(void **state)
{
    static const unsigned threads[] = { 1, 2, 3, 7 };
    static struct made a[ALL], b[ALL];
    static struct found first[ALL], found[ALL];

    (void)state;
    make_large(a, b);
    for (size_t i = 0; i < COUNT(threads); i++) {
        struct mf_options options = { .size = sizeof(struct mf_options),
                                      .threads = threads[i] };
        struct mf_env *own = mf_env_new(&options);
        struct mf_model *one = make_model(own, "a.gguf", a, ALL);
        struct mf_model *two = make_model(own, "b.gguf", b, ALL);
        struct found *to = i == 0 ? first : found;
        struct mf_heap_stats heap;
        size_t count;

        assert_int_equal(values(one, two, to, ALL, &count), MF_OK);
        assert_int_equal(count, ALL);
        for (size_t k = 0; k < ALL; k++) {
            if (i == 0)
                check_plain(&first[k], &a[k], &b[k]);
            assert_memory_equal(&first[k].errors, &to[k].errors,
                                sizeof(first[k].errors));
        }
        mf_env_heap(own, &heap);
        assert_true(heap.peak < 4 * 1024 * 1024);
        mf_model_close(two);
        mf_model_close(one);
        mf_env_free(own);
    }
    for (size_t k = 0; k < ALL; k++) {
        free(b[k].bytes);
        free(a[k].bytes);
    }
}

static bool try_failing(uint64_t call, bool after)
{
    struct test_heap heap = { .fail_at = call, .fail_after = after };
    struct mf_env *own = test_env(&heap);
    struct mf_model *a = NULL, *b = NULL;
    enum mf_status status = MF_ERR_MEMORY;
    struct found found[2];
    size_t count = 0;

    if (own && mf_model_open(own, scratch_path("a.gguf"), NULL, &a) == MF_OK &&
        mf_model_open(own, scratch_path("b.gguf"), NULL, &b) == MF_OK)
        status = values(a, b, found, 2, &count);
    mf_model_close(b);
    mf_model_close(a);
    mf_env_free(own);
    assert_int_equal(heap.live, 0);
    check_refused(&heap, status);
    assert_int_equal(count, status == MF_OK ? 1 : 0);
    return heap.calls < call;
}

static void every_allocation_failed(void **state)
{
    struct made a = noisy(MF_TYPE_F16, 2, 32), b = nearly(&a);

    (void)state;
    one_pair(env, "a.gguf", &a, "b.gguf", &b);
    for (int after = 0; after < 2; after++) {
        uint64_t call = 1;

        while (!try_failing(call, after))
            call++;
        assert_true(call > 10);
    }
    free(b.bytes);
    free(a.bytes);
}

/* ---- what is not compared ---- */

static void only_what_differs_is_decoded(void **state)
{
    struct made a[] = { noisy(MF_TYPE_F32, 2, 32), noisy(MF_TYPE_F16, 4, 8),
                        noisy(MF_TYPE_F16, 4, 8) };
    struct made b[] = { a[0], { MF_TYPE_F16, { 8, 4 }, a[2].bytes } };
    struct mf_model *one = make_model(env, "a.gguf", a, 3);
    struct mf_model *two = make_model(env, "b.gguf", b, 2);
    struct found found[3];
    size_t count;

    (void)state;
    assert_int_equal(values(one, two, found, 3, &count), MF_OK);
    assert_int_equal(count, 2);
    assert_int_equal(found[0].what, MF_DIFFERS_SHAPE | MF_DIFFERS_DATA);
    assert_false(found[0].asked);
    assert_int_equal(found[1].what, MF_ONLY_A);
    assert_false(found[1].asked);
    mf_model_close(two);
    mf_model_close(one);
    for (size_t i = 0; i < 3; i++)
        free(a[i].bytes);
}

static void check_reason(const char *file_a, struct made *a, const char *file_b,
                         struct made *b, const char *reason)
{
    struct found found = one_pair(env, file_a, a, file_b, b);

    assert_true(found.asked);
    if (!strstr(found.why, reason))
        fail_msg("'%s' instead of '%s'", found.why, reason);
    assert_int_equal(found.errors.count, 0);
}

static void a_reason_is_given(void **state)
{
    struct made a = noisy(MF_TYPE_C64, 2, 32), b = noisy(MF_TYPE_F16, 2, 32);

    (void)state;
    check_reason("a.safetensors", &a, "b.gguf", &b,
                 "a.safetensors': tensor 't0': decoding c64 is not supported");
    check_reason("b.gguf", &b, "a.safetensors", &a,
                 "a.safetensors': tensor 't0': decoding c64 is not supported");
    free(b.bytes);
    free(a.bytes);
}

static void what_cannot_be_is_refused(void **state)
{
    struct made a = noisy(MF_TYPE_F32, 64, 32), b = noisy(MF_TYPE_F16, 64, 32);
    struct mf_diff_options both = { .size = sizeof(struct mf_diff_options),
                                    .values = true,
                                    .no_data = true };
    struct mf_model *one = make_model(env, "a.gguf", &a, 1);
    struct mf_model *two = make_model(env, "b.gguf", &b, 1);
    struct found found;
    size_t count;

    (void)state;
    assert_int_equal(mf_model_diff(one, two, &both, keep_values, NULL),
                     MF_ERR_ARGUMENT);
    /* It ends before its header says so, by now. */
    assert_int_equal(truncate(scratch_path("b.gguf"), 2048), 0);
    assert_int_equal(values(one, two, &found, 1, &count), MF_ERR_IO);
    assert_int_equal(count, 0);
    assert_non_null(strstr(mf_env_error(env)->message, "b.gguf': "));
    mf_model_close(two);
    assert_int_equal(mf_model_open(env, scratch_path("b.gguf"), NULL, &two),
                     MF_OK);
    assert_int_equal(values(one, two, &found, 1, &count), MF_ERR_CORRUPT);
    assert_int_equal(count, 0);
    assert_non_null(strstr(mf_env_error(env)->message, "b.gguf': "));
    mf_model_close(two);
    mf_model_close(one);
    free(b.bytes);
    free(a.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILES(every_type_is_compared),
        WITH_FILES(containers_are_compared),
        WITH_FILES(known_numbers),
        WITH_FILES(numbers_beyond_floats_differ),
        WITH_FILES(no_cosine_is_above_1),
        WITH_FILES(nan_and_infinite_numbers),
        WITH_FILES(zeros_have_no_angle),
        WITH_FILES(no_number_of_threads_shows),
        WITH_FILES(every_allocation_failed),
        WITH_FILES(only_what_differs_is_decoded),
        WITH_FILES(a_reason_is_given),
        WITH_FILES(what_cannot_be_is_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
