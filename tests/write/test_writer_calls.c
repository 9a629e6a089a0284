/* SPDX-License-Identifier: MIT
 *
 * test_writer_calls.c - a writer that is called as it should not be
 */

#include "tests/same_model.h"

#define SIZE 60 /* bytes of the only tensor */

static enum mf_status add(struct mf_writer *writer, const char *name)
{
    return mf_writer_add(
        writer,
        &(struct mf_new_tensor){ .name = { name, strlen(name) },
                                 .type = "i8",
                                 .rank = 1,
                                 .dim = (const uint64_t[]){ SIZE } },
        NULL);
}

static enum mf_status set(struct mf_writer *writer, const char *key)
{
    return mf_writer_set(writer, &(struct mf_edit){ .key = key,
                                                    .type = MF_VALUE_STRING,
                                                    .text = { "x", 1 } });
}

/* Open at scratch_path("o"), nothing given. */
static struct mf_writer *open_writer(const char *format)
{
    struct mf_writer *writer = start_writer(env, format);

    assert_int_equal(add(writer, "t"), MF_OK);
    assert_int_equal(mf_writer_open(writer, scratch_path("o")), MF_OK);
    return writer;
}

static void expect_message(const char *words)
{
    if (!strstr(mf_env_error(env)->message, words))
        fail_msg("no '%s' in: %s", words, mf_env_error(env)->message);
}

/* ---- each byte once ---- */

struct piece {
    uint64_t from, to;
};

/* All pieces, and what commit says then. */
static enum mf_status give(const struct piece *piece, size_t count)
{
    static const uint8_t bytes[SIZE];
    struct mf_writer *writer = open_writer("gguf");
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < count && status == MF_OK; i++)
        status = mf_writer_write_at(writer, env, 0, piece[i].from, bytes,
                                    (size_t)(piece[i].to - piece[i].from));
    assert_int_equal(status, MF_OK);
    status = mf_writer_commit(writer);
    mf_writer_free(writer);
    assert_int_equal(empty_scratch(), status == MF_OK);
    return status;
}

#define GIVE(...)                                                              \
    give((const struct piece[]){ __VA_ARGS__ },                                \
         sizeof((const struct piece[]){ __VA_ARGS__ }) / sizeof(struct piece))

static void bytes_given_twice_or_never(void **state)
{
    (void)state;
    assert_int_equal(GIVE({ 0, 60 }), MF_OK);
    assert_int_equal(GIVE({ 40, 60 }, { 0, 40 }), MF_OK);
    assert_int_equal(GIVE({ 0, 0 }, { 20, 40 }, { 0, 20 }, { 40, 60 }), MF_OK);
    /* As many bytes as there are, and yet not all of them. */
    assert_int_equal(GIVE({ 0, 40 }, { 20, 40 }), MF_ERR_ARGUMENT);
    expect_message("some were written twice and some never");
    assert_int_equal(GIVE({ 0, 30 }, { 0, 30 }), MF_ERR_ARGUMENT);
    assert_int_equal(GIVE({ 0, 20 }, { 20, 40 }, { 20, 40 }), MF_ERR_ARGUMENT);
    assert_int_equal(GIVE({ 1, 60 }, { 30, 31 }), MF_ERR_ARGUMENT);
    assert_int_equal(GIVE({ 0, 59 }), MF_ERR_ARGUMENT);
    expect_message("59 bytes of tensor");
    assert_int_equal(GIVE({ 0, 60 }, { 59, 60 }), MF_ERR_ARGUMENT);
}

/* Every way to give one byte after the other a second time instead of another
 * one. */
static void one_byte_instead_of_another(void **state)
{
    struct piece piece[SIZE];

    (void)state;
    for (uint64_t missing = 0; missing < SIZE; missing++)
        for (uint64_t twice = 0; twice < SIZE; twice += 7) {
            for (uint64_t i = 0; i < SIZE; i++)
                piece[i] = (struct piece){ i, i + 1 };
            piece[missing] = piece[twice];
            assert_int_equal(give(piece, SIZE),
                             missing == twice ? MF_OK : MF_ERR_ARGUMENT);
        }
}

static void what_is_missing_may_follow(void **state)
{
    static const uint8_t bytes[SIZE];
    struct mf_writer *writer = open_writer("gguf");

    (void)state;
    assert_int_equal(mf_writer_push(writer, bytes, 10), MF_OK);
    assert_int_equal(mf_writer_commit(writer), MF_ERR_ARGUMENT);
    assert_int_equal(mf_writer_push(writer, bytes, SIZE - 10), MF_OK);
    assert_int_equal(mf_writer_commit(writer), MF_OK);
    mf_writer_free(writer);
    assert_int_equal(empty_scratch(), 1);
}

/* ---- names that are there twice ---- */

static void two_of_one_name(void **state)
{
    struct mf_model *model = open_model(fixture_path("good-base.gguf"));

    (void)state;
    for (size_t i = 0; i < COUNT(formats); i++) {
        struct mf_writer *writer = start_writer(env, formats[i]);

        assert_int_equal(add(writer, "a"), MF_OK);
        assert_int_equal(add(writer, "t"), MF_OK);
        assert_int_equal(add(writer, "a"), MF_OK);
        assert_int_equal(mf_writer_open(writer, scratch_path("o")),
                         MF_ERR_ARGUMENT);
        expect_message("duplicate tensor 'a'");
        assert_int_equal(mf_writer_open(writer, scratch_path("o")),
                         MF_ERR_ARGUMENT);
        expect_message("failed");
        mf_writer_free(writer);
        writer = start_writer(env, formats[i]);
        assert_int_equal(mf_writer_copy_metadata(writer, model), MF_OK);
        assert_int_equal(set(writer, "general.name"), MF_OK); /* instead */
        assert_int_equal(mf_writer_copy_metadata(writer, model), MF_OK);
        assert_int_equal(mf_writer_open(writer, scratch_path("o")),
                         MF_ERR_ARGUMENT);
        expect_message("duplicate metadata key '");
        mf_writer_free(writer);
    }
    mf_model_close(model);
    assert_int_equal(empty_scratch(), 0);
}

/* ---- at the wrong time ---- */

static void before_and_after(void **state)
{
    static const uint8_t bytes[SIZE];
    struct mf_writer *writer = start_writer(env, "gguf");

    (void)state;
    assert_int_equal(add(writer, "t"), MF_OK);
    assert_int_equal(mf_writer_push(writer, bytes, 1), MF_ERR_ARGUMENT);
    expect_message("not open yet");
    assert_int_equal(mf_writer_write_at(writer, env, 0, 0, bytes, 1),
                     MF_ERR_ARGUMENT);
    expect_message("not open yet");
    assert_int_equal(mf_writer_commit(writer), MF_ERR_ARGUMENT);
    expect_message("not open yet");
    assert_int_equal(mf_writer_open(writer, scratch_path("o")), MF_OK);
    assert_int_equal(mf_writer_open(writer, scratch_path("p")),
                     MF_ERR_ARGUMENT);
    expect_message("header of this file has been written");
    assert_int_equal(mf_writer_push(writer, bytes, SIZE), MF_OK);
    assert_int_equal(mf_writer_push(writer, bytes, 1), MF_ERR_ARGUMENT);
    expect_message("more bytes than the tensors have");
    assert_int_equal(mf_writer_commit(writer), MF_OK);
    assert_int_equal(mf_writer_push(writer, bytes, 1), MF_ERR_ARGUMENT);
    expect_message("has been committed");
    assert_int_equal(mf_writer_fill(writer, NULL, NULL), MF_ERR_ARGUMENT);
    expect_message("has been committed");
    assert_int_equal(mf_writer_commit(writer), MF_ERR_ARGUMENT);
    expect_message("has been committed");
    mf_writer_free(writer);
    assert_int_equal(empty_scratch(), 1);
}

static void another_path(void **state)
{
    static const uint8_t bytes[SIZE];

    (void)state;
    for (size_t i = 0; i < COUNT(formats); i++) {
        struct mf_writer *writer = start_writer(env, formats[i]);

        save(scratch_path("old"), "old", 3);
        assert_int_equal(add(writer, "t"), MF_OK);
        assert_int_equal(mf_writer_open(writer, NULL), MF_ERR_ARGUMENT);
        assert_int_equal(mf_writer_open(writer, scratch_path("old")),
                         MF_ERR_OUTPUT);
        assert_int_equal(mf_writer_open(writer, "/nothing/here"),
                         MF_ERR_OUTPUT);
        assert_int_equal(mf_writer_open(writer, "/dev/full"), MF_ERR_OUTPUT);
        assert_int_equal(add(writer, "u"), MF_ERR_ARGUMENT);
        expect_message("can no longer be added");
        assert_int_equal(mf_writer_open(writer, scratch_path("o")), MF_OK);
        assert_int_equal(mf_writer_push(writer, bytes, SIZE), MF_OK);
        assert_int_equal(mf_writer_commit(writer), MF_OK);
        mf_writer_free(writer);
        mf_model_close(open_model(scratch_path("o")));
        assert_int_equal(empty_scratch(), 2);
    }
}

/* ---- what cannot be meant ---- */

static void a_device_takes_bytes_in_order(void **state)
{
    struct mf_writer *writer = start_writer(env, "gguf");

    (void)state;
    assert_int_equal(add(writer, "t"), MF_OK);
    assert_int_equal(mf_writer_open(writer, "/dev/null"), MF_OK);
    assert_int_equal(mf_writer_write_at(writer, env, 0, 0, "x", 1),
                     MF_ERR_ARGUMENT);
    expect_message("by push or fill");
    mf_writer_free(writer);
}

static void versions(void **state)
{
    static const struct {
        const char *format;
        uint32_t version;
        enum mf_status status;
    } rows[] = {
        { "gguf", 1, MF_ERR_UNSUPPORTED },
        { "gguf", 2, MF_OK },
        { "gguf", 3, MF_OK },
        { "gguf", 4, MF_ERR_UNSUPPORTED },
        { "apr", 1, MF_ERR_UNSUPPORTED },
        { "apr", 2, MF_OK },
        { "apr", 3, MF_ERR_UNSUPPORTED },
        { "safetensors", 1, MF_ERR_UNSUPPORTED },
        { "safetensors", 5, MF_ERR_UNSUPPORTED },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mf_writer *writer = NULL;
        struct mf_writer_options options = { .size = sizeof(
                                                 struct mf_writer_options),
                                             .format = rows[i].format,
                                             .version = rows[i].version };

        assert_int_equal(mf_writer_new(env, &options, &writer), rows[i].status);
        mf_writer_free(writer);
    }
}

static void nothing_where_something_must_be(void **state)
{
    struct mf_writer *writer = start_writer(env, "gguf");
    struct mf_new_tensor tensor = { .name = { "t", 1 }, .rank = 1 };
    uint64_t dim = 4;

    (void)state;
    tensor.dim = &dim;
    assert_int_equal(mf_writer_add(writer, &tensor, NULL), MF_ERR_ARGUMENT);
    tensor.dim = NULL;
    tensor.type = "f32";
    assert_int_equal(mf_writer_add(writer, &tensor, NULL), MF_ERR_ARGUMENT);
    assert_int_equal(set(writer, NULL), MF_ERR_ARGUMENT);
    mf_writer_free(writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_given_twice_or_never),
        cmocka_unit_test(one_byte_instead_of_another),
        cmocka_unit_test(what_is_missing_may_follow),
        cmocka_unit_test(two_of_one_name),
        cmocka_unit_test(before_and_after),
        cmocka_unit_test(another_path),
        cmocka_unit_test(a_device_takes_bytes_in_order),
        cmocka_unit_test(versions),
        cmocka_unit_test(nothing_where_something_must_be),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return RUN_WITH_SCRATCH(tests);
}
