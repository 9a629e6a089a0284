/* SPDX-License-Identifier: MIT
 *
 * test_safetensors_read.c - safetensors headers made in memory: every form,
 * every size
 */
#include "lib/model/format.h"
#include "tests/safetensors/tensor_line.h"
#include "tests/with_env.h"

/* ---- headers made in memory ---- */

struct file {
    char *bytes;
    size_t size;
};

/* How tensor i is written; all of them mean the same. */
static const char *const forms[] = {
    "%s\"t%zu\":{\"dtype\":\"BF16\",\"shape\":[%zu,4],"
    "\"data_offsets\":[%zu,%zu]}",
    "%s\n\"t%zu\": {\"dtype\": \"BF16\", \"shape\": [%zu, 4], "
    "\"data_offsets\": [%zu, %zu]}",
    "%s\"\\u0074%zu\":{\"\\u0064type\":\"B\\u004616\",\"shape\":[%zu,4],"
    "\"data_offsets\":[%zu,%zu]}",
};

/* count tensors, one after the other; form 3: all forms in turn. */
static struct file make_file(size_t count, size_t form)
{
    struct file file = { .bytes = malloc(200 * count + 100) };
    size_t at = 8, begin = 0;
    uint64_t size;

    assert_non_null(file.bytes);
    at += (size_t)sprintf(file.bytes + at, "{");
    for (size_t i = 0; i < count; i++) {
        size_t rows = i % 3, end = begin + rows * 8;

        at +=
            (size_t)sprintf(file.bytes + at, forms[form < 3 ? form : i / 7 % 3],
                            i > 0 ? "," : "", i, rows, begin, end);
        begin = end;
    }
    at += (size_t)sprintf(file.bytes + at, "}");
    size = at - 8;
    set_number(file.bytes, size, 8);
    file.bytes = realloc(file.bytes, at + begin);
    assert_non_null(file.bytes);
    memset(file.bytes + at, 0, begin);
    file.size = at + begin;
    return file;
}

static void check_made(struct file file, size_t count)
{
    struct mf_model *model;
    size_t begin = 0;

    assert_int_equal(
        mf_model_open_memory(env, "m", file.bytes, file.size, NULL, &model),
        MF_OK);
    assert_int_equal(mf_model_info(model)->tensor_count, count);
    assert_int_equal(mf_model_info(model)->error_count, 0);
    assert_int_equal(mf_model_info(model)->warning_count, 0);
    for (size_t i = 0; i < count; i++) {
        char line[128];

        snprintf(line, sizeof(line), "t%zu bf16 [%zu,4] %zu %zu", i, i % 3,
                 begin, i % 3 * 8);
        check_tensor(model, i, line);
        begin += i % 3 * 8;
    }
    mf_model_close(model);
    free(file.bytes);
}

/* However a description is written, and wherever the window cuts it. */
static void every_form_means_the_same(void **state)
{
    (void)state;
    for (size_t form = 0; form <= 3; form++) {
        check_made(make_file(1, form), 1);
        check_made(make_file(10, form), 10);
        check_made(make_file(5000, form), 5000);
    }
}

/* One description after a first tensor, where it is read the quick way; the
 * status of opening such a file, and its first finding's rule. */
static const char *rule;

static enum mf_status second_tensor(const char *description)
{
    struct mf_finding finding;
    char bytes[1024];
    struct mf_model *model;
    uint64_t size = (uint64_t)sprintf(
        bytes + 8,
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
        "\"b\":%s}",
        description);
    enum mf_status status;

    set_number(bytes, size, 8);
    status =
        mf_model_open_memory(env, "m", bytes, 8 + (size_t)size, NULL, &model);
    if (status != MF_OK)
        return status;
    rule = mf_finding_at(model, 0, &finding) ? finding.rule : "";
    mf_model_close(model);
    return MF_OK;
}

#define SECOND(dtype, shape, offsets)                                          \
    second_tensor("{\"dtype\":\"" dtype "\",\"shape\":[" shape                 \
                  "],\"data_offsets\":[" offsets "]}")

static void the_quick_way_is_as_strict(void **state)
{
    (void)state;
    assert_int_equal(SECOND("U8", "0", "0,0"), MF_OK);
    assert_string_equal(rule, "");
    assert_int_equal(SECOND("U8", "", "0,1"), MF_OK);
    assert_string_equal(rule, "TENSOR-BOUNDS");
    assert_int_equal(SECOND("U8", "18446744073709551615,0", "0,0"), MF_OK);
    assert_string_equal(rule, "");
    assert_int_equal(SECOND("U8", "0", "1,0"), MF_OK);
    assert_string_equal(rule, "ST-OFFSETS");
    assert_int_equal(SECOND("U8", "18446744073709551616", "0,0"),
                     MF_ERR_CORRUPT);
    assert_int_equal(SECOND("U8", "00", "0,0"), MF_ERR_CORRUPT);
    assert_int_equal(SECOND("U8", "0,", "0,0"), MF_ERR_CORRUPT);
    assert_int_equal(SECOND("U8", ",0", "0,0"), MF_ERR_CORRUPT);
    assert_int_equal(SECOND("U8", "-0", "0,0"), MF_ERR_CORRUPT);
    assert_int_equal(SECOND("U8", "0", "0"), MF_ERR_CORRUPT);
    assert_int_equal(SECOND("U8", "0", "0,0,0"), MF_ERR_CORRUPT);
    assert_int_equal(SECOND("U8", "0", "0,00"), MF_ERR_CORRUPT);
    assert_int_equal(SECOND("U9", "0", "0,0"), MF_ERR_CORRUPT);
    assert_int_equal(SECOND("", "0", "0,0"), MF_ERR_CORRUPT);
    assert_int_equal(SECOND("U8\\u0000", "0", "0,0"), MF_ERR_CORRUPT);
    assert_int_equal(second_tensor("{}"), MF_ERR_CORRUPT);
    assert_int_equal(second_tensor("[]"), MF_ERR_CORRUPT);
    assert_int_equal(second_tensor("{\"dtype\":\"U8\",\"shape\":[0],"
                                   "\"data_offsets\":[0,0]"),
                     MF_ERR_CORRUPT);
}

/* ---- what it costs ---- */

static uint64_t bytes_read_by(struct file file)
{
    struct mf_model *model;
    struct mf_io_stats before, after;

    mf_env_io(env, &before);
    assert_int_equal(
        mf_model_open_memory(env, "m", file.bytes, file.size, NULL, &model),
        MF_OK);
    mf_env_io(env, &after);
    mf_model_close(model);
    free(file.bytes);
    return after.bytes_read - before.bytes_read;
}

static uint64_t header_of(struct file file)
{
    return 8 + get_number(file.bytes, 8);
}

static void a_header_is_read_twice_at_most(void **state)
{
    struct file small = make_file(100, 0), large = make_file(20000, 0);
    uint64_t small_header = header_of(small), large_header = header_of(large);

    (void)state;
    /* What fits the window is not even read twice. */
    assert_int_equal(bytes_read_by(small), small_header);
    assert_true(bytes_read_by(large) <= 2 * large_header + 256 * 1024);
}

/* ---- a file that changes between the two walks ---- */

static const struct file *versions;
static bool is_second_walk;

static int64_t changing_read(const struct mf_source *source, uint64_t offset,
                             void *buffer, size_t size, struct mf_io_stats *io)
{
    (void)source, (void)io;
    /* The first walk begins with bytes that came with the length. */
    is_second_walk |= offset == 8;
    memcpy(buffer, versions[is_second_walk].bytes + offset, size);
    return (int64_t)size;
}

static const struct mf_source_ops changing_ops = { .read = changing_read };

/* Parses a header that is first[] on the first walk and second[] from then
 * on, both of one size. */
static enum mf_status parse_changing(const struct file both[2])
{
    struct mf_source source = { .ops = &changing_ops, .size = both[0].size };
    struct mf_part part = { 0 };
    struct mf_index index;
    struct mf_reader reader;
    enum mf_status status;

    versions = both;
    is_second_walk = false;
    mf_clear_error(env);
    mf_index_init(&index, env);
    assert_int_equal(mf_reader_init(&reader, env, &source, NULL, 0), MF_OK);
    status = mf_format_safetensors.parse(&reader, &index, &part);
    mf_reader_release(&reader);
    mf_index_release(&index);
    return status;
}

/* A header of 200,000 bytes: item again and again, then spaces. */
static struct file repeat(const char *item)
{
    struct file file = { malloc(200008), 200008 };
    uint64_t size = 200000;
    size_t at = 9, length = strlen(item);

    assert_non_null(file.bytes);
    memset(file.bytes, ' ', file.size);
    set_number(file.bytes, size, 8);
    file.bytes[8] = '{';
    for (; at + length + 100 < file.size; at += length)
        memcpy(file.bytes + at, item, length);
    file.bytes[at - 1] = '}'; /* in the place of the last comma */
    return file;
}

static void a_change_between_the_walks_is_an_error(void **state)
{
    static const char *const items[] = {
        "\"a\":{\"dtype\":\"U8\",\"shape\":[1,2],\"data_offsets\":[0,0]},",
        "\"\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,0]},",
        "\"a\":{\"dtype\":\"U8\",\"shape\":[1,2,3,4,5,6,7,8,9,0,1,2,3],"
        "\"data_offsets\":[0,0]},",
        "\"a name of some length, longer than all the others\":"
        "{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,0]},",
    };
    /* Whether the room that [first] counts is enough for [second]. */
    static const bool fits[4][4] = {
        { true, true, false, false },
        { false, true, false, false },
        { false, true, true, false },
        { false, false, false, true },
    };
    struct file both[2];

    (void)state;
    for (size_t i = 0; i < 16; i++) {
        both[0] = repeat(items[i / 4]);
        both[1] = repeat(items[i % 4]);
        assert_int_equal(parse_changing(both),
                         fits[i / 4][i % 4] ? MF_OK : MF_ERR_IO);
        assert_true(is_second_walk);
        free(both[0].bytes);
        free(both[1].bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(every_form_means_the_same),
        WITH_ENV(the_quick_way_is_as_strict),
        WITH_ENV(a_header_is_read_twice_at_most),
        WITH_ENV(a_change_between_the_walks_is_an_error),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
