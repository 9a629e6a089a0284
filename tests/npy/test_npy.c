/* SPDX-License-Identifier: MIT
 *
 * test_npy.c - elements of every type that NumPy writes
 *
 * Sizes are those that numpy.dtype(descr).itemsize has.
 */
#include "tests/image.h"
#include "tests/with_env.h"

static const struct row {
    const char *descr, *type;
    size_t size;
} rows[] = {
    { "'|b1'", "bool", 1 },
    { "'|i1'", "i8", 1 },
    { "'<i2'", "i16", 2 },
    { "'>i4'", "i32", 4 },
    { "'<i8'", "i64", 8 },
    { "'|u1'", "u8", 1 },
    { "'>u2'", "u16", 2 },
    { "'<u4'", "u32", 4 },
    { "'>u8'", "u64", 8 },
    { "'<f2'", "f16", 2 },
    { "'>f4'", "f32", 4 },
    { "'<f8'", "f64", 8 },
    { "'>c8'", "c64", 8 },
    { "'<f16'", "f128", 16 },
    { "'<c16'", "c128", 16 },
    { "'<c32'", "c256", 32 },
    { "'|S3'", "bytes", 3 },
    { "'|a5'", "bytes", 5 },
    { "'<U3'", "text", 12 },
    { "'|V7'", "void", 7 },
    { "'<M8[ns]'", "datetime64", 8 },
    { "'<m8[D]'", "timedelta64", 8 },
    { "[('a', '<f4'), ('b', '|u1')]", "record", 5 },
    { "[('a', '<f4', (2, 3)), (('t', 'b'), '<U2', 2)]", "record", 40 },
    { "[('a', [('b', '<i2'), ('c', '|S1')])]", "record", 3 },
};

/* Three elements, and so many bytes. */
static struct mf_model *open_array(const char *descr, size_t bytes)
{
    char dict[200];
    int size = snprintf(dict, sizeof(dict),
                        "{'descr': %s, 'fortran_order': False, "
                        "'shape': (3,), }\n",
                        descr);
    struct mf_model *model;

    assert_true(size > 0 && (size_t)size < sizeof(dict));
    image.size = 0;
    put("\x93NUMPY\1\0", 8);
    put_number((uint64_t)size, 2);
    put(dict, (size_t)size);
    for (size_t i = 0; i < bytes; i++)
        put_number(1, 1);
    if (mf_model_open_memory(env, "a.npy", image.at, image.size, NULL,
                             &model) != MF_OK)
        fail_msg("%s: %s", descr, mf_env_error(env)->message);
    return model;
}

/* The array ends where the file does. */
static void check_array(const struct mf_model *model, const char *descr,
                        const char *type, size_t size)
{
    struct mf_tensor tensor;

    assert_true(mf_tensor_at(model, 0, &tensor));
    if (strcmp(tensor.type, type) != 0 || tensor.data.size != size)
        fail_msg("%s: %zu bytes of %s, not %zu of %s", descr,
                 (size_t)tensor.data.size, tensor.type, size, type);
    assert_int_equal(tensor.rank, 1);
    assert_int_equal(tensor.dim[0], 3);
    assert_int_equal(mf_model_info(model)->error_count, 0);
}

static void elements_of_every_type(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct row *row = &rows[i];
        struct mf_model *model = open_array(row->descr, 3 * row->size);
        struct mf_finding finding;

        check_array(model, row->descr, row->type, 3 * row->size);
        mf_model_close(model);
        model = open_array(row->descr, 3 * row->size - 1);
        if (!find_rule(model, "NPY-SIZE", &finding))
            fail_msg("%s: a byte is missing", row->descr);
        mf_model_close(model);
    }
}

/* Of nothing there are as many as one likes: all bytes are the array's. */
static void elements_without_a_size(void **state)
{
    static const char *const descr[] = { "'|S0'", "'<U0'", "'|V0'", "[]" };
    static const char *const type[] = { "bytes", "text", "void", "record" };

    (void)state;
    for (size_t i = 0; i < COUNT(descr); i++)
        for (size_t bytes = 0; bytes < 9; bytes += 8) {
            struct mf_model *model = open_array(descr[i], bytes);
            struct mf_tensor tensor;

            check_array(model, descr[i], type[i], bytes);
            assert_true(mf_tensor_at(model, 0, &tensor));
            assert_int_equal(tensor.data.offset, image.size - bytes);
            mf_model_close(model);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(elements_of_every_type),
        WITH_ENV(elements_without_a_size),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
