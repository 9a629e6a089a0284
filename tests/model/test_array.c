/* SPDX-License-Identifier: MIT
 *
 * test_array.c - whole arrays of metadata, for programs
 */
#include "tests/apr/apr_image.h"

/* ---- GGUF: each type ---- */

static const uint8_t u8s[] = { 0, 255 };
static const int16_t i16s[] = { INT16_MIN, -1 };
static const uint32_t u32s[] = { 0, UINT32_MAX, 7 };
static const int64_t i64s[] = { INT64_MIN, INT64_MAX };
static const float f32s[] = { 0.1f, -3.5f };
static const double f64s[] = { 0.1, 1e300 };
static const bool bools[] = { true, false, true };

static void set_array(struct mf_writer *writer, const char *key,
                      enum mf_value_type of, const void *elements, size_t count)
{
    struct mf_edit edit = { .key = key,
                            .type = MF_VALUE_ARRAY,
                            .of = of,
                            .count = count,
                            .elements = elements };

    assert_int_equal(mf_writer_set(writer, &edit), MF_OK);
}

#define SET_NUMBERS(writer, key, type, field, from)                            \
    do {                                                                       \
        union mf_number numbers[COUNT(from)];                                  \
        for (size_t i = 0; i < COUNT(from); i++)                               \
            numbers[i].field = (from)[i];                                      \
        set_array(writer, key, type, numbers, COUNT(from));                    \
    } while (0)

/* The file that is made. */
static uint8_t made[1 << 15];
static size_t made_size;

static int take_bytes(void *user, void *file, uint64_t offset,
                      const void *bytes, size_t count)
{
    (void)user, (void)file;
    assert_true(offset + count <= sizeof(made));
    memcpy(made + offset, bytes, count);
    made_size = (size_t)offset + count;
    return 0;
}

static void write_arrays(void)
{
    const struct mf_str texts[] = { { "a", 1 }, { "", 0 }, { "b\0c", 3 } };
    const struct mf_output_ops output = { .size = sizeof(output),
                                          .write = take_bytes };
    struct mf_writer_options options = { .size = sizeof(options),
                                         .format = "gguf",
                                         .output = &output };
    struct mf_writer *writer;
    static char large[9000];
    struct mf_str large_texts[] = { { large, sizeof(large) }, { "z", 1 } };

    memset(large, 'x', sizeof(large));
    assert_int_equal(mf_writer_new(env, &options, &writer), MF_OK);
    SET_NUMBERS(writer, "u8", MF_VALUE_U8, u64, u8s);
    SET_NUMBERS(writer, "i16", MF_VALUE_I16, i64, i16s);
    SET_NUMBERS(writer, "u32", MF_VALUE_U32, u64, u32s);
    SET_NUMBERS(writer, "i64", MF_VALUE_I64, i64, i64s);
    SET_NUMBERS(writer, "f32", MF_VALUE_F32, f64, f32s);
    SET_NUMBERS(writer, "f64", MF_VALUE_F64, f64, f64s);
    SET_NUMBERS(writer, "bool", MF_VALUE_BOOL, boolean, bools);
    set_array(writer, "texts", MF_VALUE_STRING, texts, COUNT(texts));
    set_array(writer, "large", MF_VALUE_STRING, large_texts, 2);
    set_array(writer, "none", MF_VALUE_F32, NULL, 0);
    assert_int_equal(mf_writer_open(writer, "arrays.gguf"), MF_OK);
    assert_int_equal(mf_writer_commit(writer), MF_OK);
    mf_writer_free(writer);
}

/* The texts lie one after the other, with one NUL after each. */
static size_t check_piece(const struct mf_array *array)
{
    const struct mf_str *text = array->elements;

    for (size_t i = 0; i < array->count; i++) {
        assert_int_equal(text[i].at[text[i].size], 0);
        if (i > 0)
            assert_ptr_equal(text[i].at, text[i - 1].at + text[i - 1].size + 1);
    }
    return array->count;
}

static const struct mf_array *array_of(struct mf_model *model, const char *key)
{
    const struct mf_array *array = NULL;
    struct mf_meta meta;
    size_t at;

    assert_true(mf_meta_find(model, key, strlen(key), &meta, &at));
    if (mf_values_read(model, at, &array) != MF_OK)
        fail_msg("%s: %s", key, mf_env_error(env)->message);
    if (array->of == MF_VALUE_STRING)
        check_piece(array);
    return array;
}

static void check_array(struct mf_model *model, const char *key,
                        enum mf_value_type of, const void *elements,
                        size_t count, size_t size)
{
    const struct mf_array *array = array_of(model, key);

    assert_int_equal(array->of, of);
    assert_int_equal(array->count, count);
    if (count > 0)
        assert_memory_equal(array->elements, elements, count * size);
    mf_array_free(array);
}

#define CHECK(key, type, from)                                                 \
    check_array(model, key, type, from, COUNT(from), sizeof(*(from)))

static void test_every_type(void **state)
{
    struct mf_model *model;
    const struct mf_array *array;
    const struct mf_str *text;

    (void)state;
    write_arrays();
    assert_int_equal(
        mf_model_open_memory(env, "made", made, made_size, NULL, &model),
        MF_OK);
    CHECK("u8", MF_VALUE_U8, u8s);
    CHECK("i16", MF_VALUE_I16, i16s);
    CHECK("u32", MF_VALUE_U32, u32s);
    CHECK("i64", MF_VALUE_I64, i64s);
    CHECK("f32", MF_VALUE_F32, f32s);
    CHECK("f64", MF_VALUE_F64, f64s);
    CHECK("bool", MF_VALUE_BOOL, bools);
    check_array(model, "none", MF_VALUE_F32, NULL, 0, 4);
    array = array_of(model, "texts");
    text = array->elements;
    assert_int_equal(array->count, 3);
    assert_string_equal(text[0].at, "a");
    assert_int_equal(text[1].size, 0);
    assert_string_equal(text[1].at, "");
    assert_int_equal(text[2].size, 3);
    assert_memory_equal(text[2].at, "b\0c", 4);
    assert_memory_equal(text[0].at, "a\0\0b\0c", 7);
    mf_array_free(array);
    array = array_of(model, "large"); /* it comes in pieces */
    text = array->elements;
    assert_int_equal(text[0].size, 9000);
    assert_int_equal(strspn(text[0].at, "x"), 9000);
    assert_string_equal(text[1].at, "z");
    mf_array_free(array);
    mf_model_close(model);
}

/* ---- JSON: one type for all ---- */

#define JSON                                                                   \
    "{\"a\":[1,2,3],\"b\":[1,-2],\"c\":[1,18446744073709551615],"              \
    "\"d\":[1,2.5,-3],\"e\":[9007199254740993,0.5],\"f\":[\"x\",\"\\u0000\"]," \
    "\"g\":[1,\"x\"],\"h\":[[1]],\"i\":[],\"j\":[true,false],"                 \
    "\"k\":[-1,18446744073709551615],\"l\":1,\"m\":[null],"                    \
    "\"n\":[1,18446744073709551617],\"o\":[1e999,1],\"p\":[1e308]}"

static void refuses(struct mf_model *model, const char *key,
                    enum mf_status wanted, const char *says)
{
    const struct mf_array *array;
    struct mf_meta meta;
    size_t at;

    assert_true(mf_meta_find(model, key, strlen(key), &meta, &at));
    assert_int_equal(mf_values_read(model, at, &array), wanted);
    if (!strstr(mf_env_error(env)->message, says))
        fail_msg("no '%s' in '%s'", says, mf_env_error(env)->message);
}

static void test_json(void **state)
{
    const uint64_t a[] = { 1, 2, 3 }, c[] = { 1, UINT64_MAX };
    const int64_t b[] = { 1, -2 };
    const double d[] = { 1, 2.5, -3 };
    const bool j[] = { true, false };
    const struct mf_array *array;
    struct mf_model *model;

    (void)state;
    begin(ROW_MAJOR, 0, JSON);
    end(0);
    model = open_image("json");
    CHECK("a", MF_VALUE_U64, a);
    CHECK("b", MF_VALUE_I64, b);
    CHECK("c", MF_VALUE_U64, c);
    CHECK("d", MF_VALUE_F64, d);
    CHECK("j", MF_VALUE_BOOL, j);
    check_array(model, "i", MF_VALUE_NULL, NULL, 0, 0);
    array = array_of(model, "f");
    assert_string_equal(((const struct mf_str *)array->elements)[0].at, "x");
    assert_int_equal(((const struct mf_str *)array->elements)[1].size, 1);
    mf_array_free(array);
    CHECK("p", MF_VALUE_F64, ((const double[]){ 1e308 }));
    refuses(model, "n", MF_ERR_UNSUPPORTED, "no common type");
    refuses(model, "o", MF_ERR_UNSUPPORTED, "no common type");
    refuses(model, "e", MF_ERR_UNSUPPORTED, "no common type");
    refuses(model, "k", MF_ERR_UNSUPPORTED, "no common type");
    refuses(model, "g", MF_ERR_UNSUPPORTED, "are mixed");
    refuses(model, "h", MF_ERR_UNSUPPORTED, "are array");
    refuses(model, "m", MF_ERR_UNSUPPORTED, "are null");
    refuses(model, "l", MF_ERR_ARGUMENT, "is not an array");
    mf_model_close(model);
}

/* ---- every array of texts ---- */

static size_t texts_seen;

static void check_fixture(const char *name, const uint8_t *bytes, size_t size)
{
    struct mf_model *model;
    struct mf_meta meta;

    (void)bytes, (void)size;
    if (mf_model_open(env, fixture_path(name), NULL, &model) != MF_OK)
        return;
    for (size_t i = 0; mf_meta_at(model, i, &meta); i++) {
        const struct mf_array *array;

        if (meta.of != MF_VALUE_STRING ||
            mf_values_read(model, i, &array) != MF_OK)
            continue;
        texts_seen += check_piece(array);
        mf_array_free(array);
    }
    mf_model_close(model);
}

static void test_one_piece(void **state)
{
    (void)state;
    each_fixture("", check_fixture);
    assert_true(texts_seen > 1000);
}

/* ---- whatever is refused ---- */

static void test_no_memory(void **state)
{
    struct test_heap heap = { 0 };
    bool ended = false;

    (void)state;
    write_arrays();
    while (!ended) {
        const struct mf_array *array = NULL;
        struct mf_model *model = NULL;
        struct mf_env *own;
        enum mf_status status = MF_OK;

        heap.fail_at++;
        heap.calls = 0;
        own = test_env(&heap);
        if (!own)
            continue;
        if (mf_model_open_memory(own, "made", made, made_size, NULL, &model) ==
            MF_OK)
            for (size_t i = 0; i < mf_model_info(model)->metadata_count; i++) {
                struct mf_meta meta;

                assert_true(mf_meta_at(model, i, &meta));
                if (meta.type != MF_VALUE_ARRAY || status != MF_OK)
                    continue;
                status = mf_values_read(model, i, &array);
                if (status == MF_OK)
                    mf_array_free(array);
                else
                    assert_int_equal(status, MF_ERR_MEMORY);
            }
        ended = model && status == MF_OK && heap.calls < heap.fail_at;
        mf_model_close(model);
        mf_env_free(own);
        assert_int_equal(heap.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(test_every_type),
        WITH_ENV(test_json),
        WITH_ENV(test_one_piece),
        WITH_ENV(test_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
