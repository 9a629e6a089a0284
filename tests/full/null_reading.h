/* SPDX-License-Identifier: MIT
 *
 * null_reading.h - the part of test_null.c that is about reading tensors and
 * arrays, and about bytes of the program
 */
#ifndef TESTS_NULL_READING_H
#define TESTS_NULL_READING_H

static struct mf_model *unopened;
static float floats[8];

static struct mf_tensor_reader *new_reader(void)
{
    struct mf_tensor_reader *reader;

    assert_int_equal(mf_tensor_reader_open(model, &reader), MF_OK);
    return reader;
}

static void null_mf_array_free(void)
{
    mf_array_free(NULL);
}

static void null_mf_bytes_detect(void)
{
    refused(mf_bytes_detect(NULL, bytes, 1, 1, &detection));
    named("bytes", mf_bytes_detect(env, NULL, 1, 1, &detection));
    named("out", mf_bytes_detect(env, bytes, 1, 1, NULL));
    refused(mf_bytes_detect(env, bytes, 2, 1, &detection));
}

static void null_mf_type_find(void)
{
    struct mf_type_info info;

    assert_false(mf_type_find(NULL, &info));
    assert_false(mf_type_find("q8_0", NULL));
    assert_false(mf_type_find("q8", &info));
}

static void null_mf_model_open_fd(void)
{
    refused(mf_model_open_fd(NULL, "a", 0, NULL, &unopened));
    named("name", mf_model_open_fd(env, NULL, 0, NULL, &unopened));
    named("out", mf_model_open_fd(env, "a", 0, NULL, NULL));
    refused(mf_model_open_fd(env, "a", -1, NULL, &unopened));
}

static void null_mf_model_open_source(void)
{
    const struct mf_byte_source none = { .size = sizeof(none) };

    refused(mf_model_open_source(NULL, &none, NULL, &unopened));
    named("source", mf_model_open_source(env, NULL, NULL, &unopened));
    named("out", mf_model_open_source(env, &none, NULL, NULL));
    refused(mf_model_open_source(env, &none, NULL, &unopened));
}

static void null_mf_model_unchanged(void)
{
    refused(mf_model_unchanged(NULL));
}

static void null_mf_tensor_bytes(void)
{
    refused(mf_tensor_bytes(NULL, 0, 0, 1, bytes));
    named("out", mf_tensor_bytes(model, 0, 0, 1, NULL));
    assert_int_equal(mf_tensor_bytes(model, 0, 0, 0, NULL), MF_OK);
}

static void null_mf_tensor_place(void)
{
    struct mf_file_span place;

    assert_false(mf_tensor_place(NULL, 0, &place));
    assert_false(mf_tensor_place(model, 0, NULL));
    assert_false(mf_tensor_place(model, SIZE_MAX, &place));
}

static void null_mf_tensor_read(void)
{
    refused(mf_tensor_read(NULL, 0, 0, 1, MF_READ_F32, floats));
    named("out", mf_tensor_read(model, 0, 0, 1, MF_READ_F32, NULL));
    assert_int_equal(mf_tensor_read(model, 0, 0, 0, MF_READ_F32, NULL), MF_OK);
}

static void null_mf_tensor_reader_bytes(void)
{
    struct mf_tensor_reader *reader = new_reader();

    refused(mf_tensor_reader_bytes(NULL, 0, 0, 1, bytes));
    refused(mf_tensor_reader_bytes(reader, 0, 0, 1, NULL));
    assert_string_equal(mf_tensor_reader_error(reader)->message,
                        "'out' is NULL");
    mf_tensor_reader_close(reader);
}

static void null_mf_tensor_reader_close(void)
{
    mf_tensor_reader_close(NULL);
}

static void null_mf_tensor_reader_error(void)
{
    assert_int_equal(mf_tensor_reader_error(NULL)->status, MF_ERR_ARGUMENT);
}

static void null_mf_tensor_reader_open(void)
{
    struct mf_tensor_reader *reader;

    refused(mf_tensor_reader_open(NULL, &reader));
    named("out", mf_tensor_reader_open(model, NULL));
}

static void null_mf_tensor_reader_read(void)
{
    struct mf_tensor_reader *reader = new_reader();

    refused(mf_tensor_reader_read(NULL, 0, 0, 1, MF_READ_F32, floats));
    refused(mf_tensor_reader_read(reader, 0, 0, 1, MF_READ_F32, NULL));
    assert_string_equal(mf_tensor_reader_error(reader)->message,
                        "'out' is NULL");
    mf_tensor_reader_close(reader);
}

static void null_mf_tensor_shape(void)
{
    uint64_t shape[MF_RANK_MAX];

    assert_true(mf_tensor_at(model, 0, &tensor));
    assert_int_equal(mf_tensor_shape(NULL, &tensor, shape), 0);
    assert_int_equal(mf_tensor_shape(model, NULL, shape), 0);
    assert_int_equal(mf_tensor_shape(model, &tensor, NULL), 0);
}

static void null_mf_values_read(void)
{
    const struct mf_array *array;

    refused(mf_values_read(NULL, 0, &array));
    named("out", mf_values_read(model, 0, NULL));
    refused(mf_values_read(model, SIZE_MAX, &array));
}

/* ---- the part of test_null.c that is about watches ---- */

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
