/* SPDX-License-Identifier: MIT
 *
 * test_type_errors.c - the error of each tensor in each type
 *
 * What is expected is computed here, from all rows as mf_tensor_read gives
 * them.
 */
#include <math.h>

#include "tests/with_models.h"
#include "tests/with_scratch.h"

static const struct mf_quantize_options requantize = {
    .size = sizeof(struct mf_quantize_options), .allow_requantize = true
};
static const struct mf_convert_options gguf = {
    .size = sizeof(struct mf_convert_options), .format = "gguf", .lossy = true
};

static enum mf_status measure(struct mf_env *own, struct mf_model *model,
                              const char *types, bool all,
                              struct mf_type_errors **out)
{
    const struct mf_type_errors_options what = { .types = types, .all = all };

    (void)own;
    return mf_type_errors_new(model, "out.gguf", &requantize, &gguf, &what,
                              out);
}

/* ---- every row ---- */

static double error_of(const float *before, uint64_t rows, uint64_t columns,
                       const char *type)
{
    struct mf_kernel kernel;
    uint8_t *blocks;
    float *after;
    double error = 0;

    assert_true(mf_kernel_find(type, NULL, &kernel));
    blocks = malloc(rows * (columns / kernel.block * kernel.size) + 1);
    after = malloc(rows * columns * sizeof(*after) + 1);
    assert_int_equal(
        mf_env_encode_rows(env, &kernel, before, rows, columns, NULL, blocks),
        MF_OK);
    assert_int_equal(
        mf_env_decode_rows(env, &kernel, blocks, rows, columns, after), MF_OK);
    for (uint64_t i = 0; i < rows * columns; i++)
        error += pow((double)before[i] - (double)after[i], 2);
    free(blocks);
    free(after);
    return error;
}

static void compare(struct mf_model *model, const struct mf_type_errors *errors,
                    const struct mf_tensor_errors *is)
{
    float *before = malloc(is->elements * sizeof(*before) + 1);
    struct mf_tensor tensor;
    double squares = 0;
    size_t index;

    assert_true(
        mf_tensor_find(model, is->name.at, is->name.size, &tensor, &index));
    assert_int_equal(
        mf_tensor_read(model, index, 0, is->elements, MF_READ_F32, before),
        MF_OK);
    assert_int_equal(is->measured, is->rows);
    for (uint64_t i = 0; i < is->elements; i++)
        squares += pow((double)before[i], 2);
    assert_true(fabs(squares - is->squares) <= 1e-9 * squares);
    for (size_t t = 0; t < errors->types; t++) {
        double error;

        if (!(is->type[t].error < (double)INFINITY))
            continue;
        error = error_of(before, is->rows, is->row, errors->type_name[t]);
        if (fabs(error - is->type[t].error) > 1e-9 * error ||
            is->type[t].variance > 0)
            fail_msg("%s as %s: %.17g, not %.17g", is->name.at,
                     errors->type_name[t], is->type[t].error, error);
    }
    free(before);
}

static void test_all_rows(void **unused)
{
    struct mf_model *model = open_model("fixtures/llama/llama-wide.gguf");
    struct mf_type_errors *errors;

    (void)unused;
    assert_int_equal(measure(env, model, NULL, true, &errors), MF_OK);
    assert_true(errors->types > 20 && errors->count > 10);
    for (size_t i = 0; i < errors->count; i++)
        compare(model, errors, &errors->tensor[i]);
    mf_type_errors_free(errors);
    mf_model_close(model);
}

/* ---- a list of types, patterns ---- */

static void test_listed(void **unused)
{
    struct mf_model *model = open_model("fixtures/llama/llama-wide.gguf");
    struct mf_type_errors *errors;
    bool match[64];

    (void)unused;
    assert_int_equal(measure(env, model, "Q8_0,apr_q4,q4_k", false, &errors),
                     MF_ERR_ARGUMENT);
    assert_non_null(strstr(mf_env_error(env)->message, "'apr_q4'"));
    assert_int_equal(measure(env, model, "Q8_0,q4_k", false, &errors), MF_OK);
    assert_int_equal(errors->types, 2);
    assert_string_equal(errors->type_name[0], "q8_0");
    assert_string_equal(errors->type_name[1], "q4_k");
    assert_true(errors->count <= COUNT(match));
    assert_int_equal(mf_pattern_find(errors, "attn_q", match), MF_OK);
    for (size_t i = 0; i < errors->count; i++)
        assert_int_equal(match[i],
                         strstr(errors->tensor[i].name.at, "attn_q") != NULL);
    assert_int_equal(mf_pattern_find(errors, "(", match), MF_ERR_ARGUMENT);
    mf_type_errors_free(errors);
    mf_type_errors_free(NULL);
    mf_model_close(model);
}

/* ---- any model ---- */

static size_t measured;

static void measure_model(const char *path)
{
    struct mf_model *model;
    struct mf_type_errors *errors;

    if (mf_model_open(env, path, NULL, &model) != MF_OK)
        return;
    if (measure(env, model, "q8_0,q4_0,f16", false, &errors) == MF_OK) {
        measured += errors->count;
        mf_type_errors_free(errors);
    } else {
        assert_true(*mf_env_error(env)->message);
    }
    mf_model_close(model);
}

static void test_models(void **unused)
{
    (void)unused;
    each_good_model(measure_model);
    assert_true(measured > 10); /* more where folders can be converted */
}

/* ---- memory ---- */

typedef enum mf_status (*measure_function)(struct mf_env *own,
                                           struct mf_model *model,
                                           const char *types, bool all,
                                           struct mf_type_errors **out);

/* One allocation fails, or all from one on. */
static void fail_each(measure_function measuring)
{
    for (int after = 0; after < 2; after++)
        for (uint64_t call = 1;; call++) {
            struct test_heap heap = { 0 };
            struct mf_env *own = test_env(&heap);
            struct mf_model *model;
            struct mf_type_errors *errors = NULL;
            enum mf_status status;

            assert_int_equal(mf_model_open(own,
                                           "fixtures/llama/llama-wide.gguf",
                                           NULL, &model),
                             MF_OK);
            heap.calls = 0;
            heap.fail_at = call;
            heap.fail_after = after;
            status = measuring(own, model, "q8_0,iq4_nl", false, &errors);
            check_refused(&heap, status);
            heap.fail_at = 0;
            if (status == MF_OK)
                mf_type_errors_free(errors);
            mf_model_close(model);
            mf_env_free(own);
            assert_int_equal(heap.live, 0);
            if (heap.calls < call)
                break;
        }
}

static void test_memory(void **unused)
{
    (void)unused;
    fail_each(measure);
}

/* ---- errors that are kept ---- */

static enum mf_status measure_kept(struct mf_env *own, struct mf_model *model,
                                   const char *types, bool all,
                                   struct mf_type_errors **out)
{
    const struct mf_type_errors_options what = { .types = types, .all = all };
    struct mf_convert_options how = gguf;

    (void)own;
    how.resume = true;
    return mf_type_errors_new(model, scratch_path("out.gguf"), &requantize,
                              &how, &what, out);
}

static void assert_same(const struct mf_type_errors *a,
                        const struct mf_type_errors *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const struct mf_tensor_errors *x = &a->tensor[i], *y = &b->tensor[i];

        assert_int_equal(x->measured, y->measured);
        assert_int_equal(x->weighted, y->weighted);
        assert_memory_equal(&x->squares, &y->squares, sizeof(x->squares));
        assert_memory_equal(x->type, y->type, a->types * sizeof(*x->type));
    }
}

/* The same bits the second time; forgotten, or without one, no log stays. */
static void test_kept(void **unused)
{
    const char *log = scratch_path(".out.gguf.measured");
    struct mf_model *model = open_model("fixtures/llama/llama-wide.gguf");
    struct mf_type_errors *fresh, *first, *second;

    (void)unused;
    assert_int_equal(measure(env, model, NULL, false, &fresh), MF_OK);
    assert_false(mf_env_resumable(env));
    assert_int_equal(measure_kept(env, model, NULL, false, &first), MF_OK);
    assert_true(mf_env_resumable(env) && access(log, F_OK) == 0);
    assert_same(fresh, first);
    assert_int_equal(measure_kept(env, model, NULL, false, &second),
                     MF_ERR_OUTPUT); /* it is locked */
    mf_type_errors_free(first);
    assert_int_equal(measure_kept(env, model, "q8_0", false, &second),
                     MF_ERR_OUTPUT);
    assert_string_equal(mf_env_error(env)->rule, "NOT-RESUMABLE");
    assert_false(mf_env_resumable(env));
    assert_int_equal(measure_kept(env, model, NULL, false, &second), MF_OK);
    assert_same(fresh, second);
    mf_type_errors_forget(second);
    assert_true(access(log, F_OK) != 0);
    mf_type_errors_free(second);
    mf_type_errors_free(fresh);
    mf_model_close(model);
}

/* Each time from the beginning, or with what the time before has kept. */
static enum mf_status measure_from_nothing(struct mf_env *own,
                                           struct mf_model *model,
                                           const char *types, bool all,
                                           struct mf_type_errors **out)
{
    unlink(scratch_path(".out.gguf.measured"));
    return measure_kept(own, model, types, all, out);
}

static void test_kept_memory(void **unused)
{
    (void)unused;
    fail_each(measure_from_nothing);
    fail_each(measure_kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(test_all_rows), WITH_ENV(test_listed),
        WITH_ENV(test_models),   WITH_ENV(test_memory),
        WITH_ENV(test_kept),     WITH_ENV(test_kept_memory),
    };

    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
