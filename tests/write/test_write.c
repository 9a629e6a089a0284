/* SPDX-License-Identifier: MIT
 *
 * test_write.c - what a file is written with: numbers as other types, sinks,
 * drafts and their plans
 */
#include <math.h>

#include "lib/draft/draft.h"
#include "lib/full/full.h"
#include "tests/scratch.h"
#include "tests/with_env.h"

/* ---- numbers ---- */

static const struct conversion {
    enum mf_value_type from;
    int64_t integer; /* of an integer type */
    double real;     /* of a float */
    enum mf_value_type to;
    bool fits;
} conversions[] = {
    { MF_VALUE_U64, 255, 0, MF_VALUE_U8, true },
    { MF_VALUE_U64, 256, 0, MF_VALUE_U8, false },
    { MF_VALUE_I64, -1, 0, MF_VALUE_U8, false },
    { MF_VALUE_I64, -1, 0, MF_VALUE_U64, false },
    { MF_VALUE_U64, -1, 0, MF_VALUE_I64, false }, /* 2^64 - 1 */
    { MF_VALUE_U64, 127, 0, MF_VALUE_I8, true },
    { MF_VALUE_U64, 128, 0, MF_VALUE_I8, false },
    { MF_VALUE_I64, -128, 0, MF_VALUE_I8, true },
    { MF_VALUE_I64, -129, 0, MF_VALUE_I8, false },
    { MF_VALUE_I64, INT16_MIN, 0, MF_VALUE_I16, true },
    { MF_VALUE_I64, INT16_MIN - 1, 0, MF_VALUE_I16, false },
    { MF_VALUE_I64, INT16_MAX + 1, 0, MF_VALUE_I16, false },
    { MF_VALUE_I64, UINT16_MAX, 0, MF_VALUE_U16, true },
    { MF_VALUE_I64, UINT16_MAX + 1, 0, MF_VALUE_U16, false },
    { MF_VALUE_I64, INT32_MIN, 0, MF_VALUE_I32, true },
    { MF_VALUE_I64, (int64_t)INT32_MIN - 1, 0, MF_VALUE_I32, false },
    { MF_VALUE_U64, UINT32_MAX, 0, MF_VALUE_U32, true },
    { MF_VALUE_U64, (int64_t)UINT32_MAX + 1, 0, MF_VALUE_U32, false },
    { MF_VALUE_U64, INT64_MAX, 0, MF_VALUE_I64, true },
    { MF_VALUE_U64, INT64_MIN, 0, MF_VALUE_I64, false }, /* 2^63 */
    { MF_VALUE_I64, INT64_MIN, 0, MF_VALUE_I64, true },
    { MF_VALUE_F64, 0, 255, MF_VALUE_U8, true },
    { MF_VALUE_F64, 0, 255.5, MF_VALUE_U8, false },
    { MF_VALUE_F64, 0, 256, MF_VALUE_U8, false },
    { MF_VALUE_F64, 0, -0.0, MF_VALUE_U8, true },
    { MF_VALUE_F64, 0, -1, MF_VALUE_U64, false },
    { MF_VALUE_F64, 0, -0x1p63, MF_VALUE_I64, true },
    { MF_VALUE_F64, 0, 0x1p63, MF_VALUE_I64, false },
    { MF_VALUE_F64, 0, 0x1p63, MF_VALUE_U64, true },
    { MF_VALUE_F64, 0, 0x1p64, MF_VALUE_U64, false },
    { MF_VALUE_F64, 0, NAN, MF_VALUE_U64, false },
    { MF_VALUE_F64, 0, INFINITY, MF_VALUE_I64, false },
    { MF_VALUE_F64, 0, 1.5, MF_VALUE_F32, true },
    { MF_VALUE_F64, 0, NAN, MF_VALUE_F32, true },
    { MF_VALUE_F32, 0, -INFINITY, MF_VALUE_F64, true },
    { MF_VALUE_I64, -5, 0, MF_VALUE_F32, true },
    { MF_VALUE_BOOL, 1, 0, MF_VALUE_BOOL, true },
    { MF_VALUE_BOOL, 1, 0, MF_VALUE_U8, false },
    { MF_VALUE_U8, 1, 0, MF_VALUE_BOOL, false },
    { MF_VALUE_STRING, 0, 0, MF_VALUE_U8, false },
    { MF_VALUE_NULL, 0, 0, MF_VALUE_F64, false },
    { MF_VALUE_U8, 0, 0, MF_VALUE_STRING, false },
};

static bool is_float(enum mf_value_type type)
{
    return type == MF_VALUE_F32 || type == MF_VALUE_F64;
}

static void numbers_as_other_types(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(conversions); i++) {
        const struct conversion *row = &conversions[i];
        union mf_number number = { 0 }, out = { .u64 = 77 };

        if (is_float(row->from))
            number.f64 = row->real;
        else
            number.i64 = row->integer;
        if (mf_number_as(row->from, number, row->to, &out) != row->fits)
            fail_msg("row %zu", i);
        if (!row->fits)
            assert_int_equal(out.u64, 77);
        else if (!is_float(row->to) && is_float(row->from))
            assert_true((double)out.i64 == row->real ||
                        (double)out.u64 == row->real);
        else if (is_float(row->to) && !isnan(row->real))
            assert_true(
                out.f64 ==
                (is_float(row->from) ? row->real : (double)row->integer));
    }
}

static void words_as_numbers(void **state)
{
    static const struct {
        const char *word;
        enum mf_value_type to;
        bool fits;
    } rows[] = {
        { "nan", MF_VALUE_F32, true },   { "inf", MF_VALUE_F64, true },
        { "-inf", MF_VALUE_F64, true },  { "nan", MF_VALUE_U32, false },
        { "NaN", MF_VALUE_F32, false },  { "", MF_VALUE_F32, false },
        { "1", MF_VALUE_F32, false },    { "infinity", MF_VALUE_F64, false },
        { "inf", MF_VALUE_BOOL, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mf_value value = { .type = MF_VALUE_STRING,
                                  .text = { rows[i].word,
                                            strlen(rows[i].word) } };
        union mf_number number;

        if (mf_value_as(&value, rows[i].to, &number) != rows[i].fits)
            fail_msg("'%s' as %s", rows[i].word,
                     mf_value_type_name(rows[i].to));
    }
}

/* ---- sinks ---- */

struct written {
    uint8_t bytes[200000];
    uint64_t next;
    size_t calls;
};

static enum mf_status take(void *user, uint64_t offset, const void *bytes,
                           size_t size)
{
    struct written *written = user;

    assert_int_equal(offset, written->next);
    memcpy(written->bytes + offset, bytes, size);
    written->next += size;
    written->calls++;
    return MF_OK;
}

static enum mf_status refuse(void *user, uint64_t offset, const void *bytes,
                             size_t size)
{
    (void)offset, (void)bytes, (void)size;
    ++*(size_t *)user;
    return MF_ERR_OUTPUT;
}

/* Fields around the size of the buffer, so that some end in its middle. */
static void put_fields(struct mf_sink *sink)
{
    static uint8_t noise[70000];

    for (size_t i = 0; i < sizeof(noise); i++)
        noise[i] = (uint8_t)(i * 31 + 7);
    mf_put_u8(sink, 0x12);
    mf_put_u16(sink, 0x3456);
    mf_put_u32(sink, 0x789abcde);
    mf_put_u64(sink, 0x0123456789abcdef);
    mf_put(sink, noise, sizeof(sink->buffer) - 16);
    mf_put(sink, noise, 0);
    mf_put_u64(sink, 1);
    mf_put_zeros(sink, 5000);
    mf_put(sink, noise, sizeof(noise));
    mf_put_filler(sink, ' ', 30000);
    mf_put(sink, noise, 1);
}

static void sinks_write_what_they_count(void **state)
{
    static struct mf_sink counter, sink;
    static struct written written;
    const uint8_t start[] = { 0x12, 0x56, 0x34, 0xde, 0xbc, 0x9a, 0x78, 0xef,
                              0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01 };

    (void)state;
    mf_sink_init(&counter, env);
    put_fields(&counter);
    mf_sink_init(&sink, env);
    sink.write = take;
    sink.user = &written;
    put_fields(&sink);
    assert_int_equal(mf_sink_finish(&sink), MF_OK);
    assert_int_equal(sink.offset, counter.offset);
    assert_int_equal(written.next, counter.offset);
    assert_memory_equal(written.bytes, start, sizeof(start));
    assert_int_equal(written.bytes[counter.offset - 1], 7);
    assert_int_equal(written.bytes[counter.offset - 2], ' ');
    assert_true(written.calls <= counter.offset / sizeof(sink.buffer) + 1);
}

static void sinks_fail_once(void **state)
{
    static struct mf_sink sink;
    size_t calls = 0;

    (void)state;
    mf_sink_init(&sink, env);
    sink.write = refuse;
    sink.user = &calls;
    put_fields(&sink);
    assert_int_equal(mf_sink_finish(&sink), MF_ERR_OUTPUT);
    assert_int_equal(calls, 1);
}

static enum mf_status refuse_aloud(void *user, uint64_t offset,
                                   const void *bytes, size_t size)
{
    (void)bytes, (void)size;
    return mf_fail(user, MF_ERR_OUTPUT, MF_NO_OFFSET, "no room at %" PRIu64,
                   offset);
}

/* The code that puts values reads them, which begins without an error. */
static void sinks_keep_the_first_error(void **state)
{
    static struct mf_sink sink;

    (void)state;
    mf_sink_init(&sink, env);
    sink.write = refuse_aloud;
    sink.user = env;
    mf_put_zeros(&sink, sizeof(sink.buffer));
    mf_clear_error(env);
    mf_put_zeros(&sink, sizeof(sink.buffer));
    mf_fail(env, MF_ERR_IO, 7, "a later one");
    assert_int_equal(mf_sink_finish(&sink), MF_ERR_OUTPUT);
    assert_int_equal(mf_env_error(env)->status, MF_ERR_OUTPUT);
    assert_string_equal(mf_env_error(env)->message, "no room at 0");
}

static void big_endian_fields(void **state)
{
    static struct mf_sink sink;
    static struct written written;
    const uint8_t start[] = { 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0x01,
                              0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef };

    (void)state;
    mf_sink_init(&sink, env);
    sink.write = take;
    sink.user = &written;
    sink.big_endian = true;
    put_fields(&sink);
    assert_int_equal(mf_sink_finish(&sink), MF_OK);
    assert_memory_equal(written.bytes, start, sizeof(start));
}

/* ---- drafts ---- */

/* As many dimensions as names_and_ranks tries. */
static const uint64_t shape[] = { 32, 1ULL << 62, 1, 1, 1, 1, 1, 1, 1, 1 };

static void add(struct mf_draft *draft, const char *name, uint32_t rank,
                uint64_t size)
{
    struct mf_draft_tensor *tensor = mf_draft_add_tensor(draft);

    assert_non_null(tensor);
    tensor->name = (struct mf_str){ name, strlen(name) };
    tensor->dim = shape;
    tensor->rank = rank;
    tensor->type = MF_TYPE_F32;
    tensor->size = size;
}

static enum mf_status plan_one(const struct mf_format *format, const char *name,
                               uint32_t rank, uint64_t size)
{
    struct mf_draft draft;
    enum mf_status status;

    mf_draft_init(&draft, env, format);
    mf_clear_error(env);
    add(&draft, name, rank, size);
    status = mf_draft_plan(&draft);
    mf_draft_release(&draft);
    return status;
}

/* The limits that each row states, or names and ranks that need none. */
static void names_and_ranks(void **state)
{
    static char name[1002];

    (void)state;
    for (size_t i = 0; mf_formats[i]; i++) {
        const struct mf_format *format = mf_formats[i];
        const struct mf_format_out *out = mf_format_out(format);
        size_t longest = out && out->name_size_max ? out->name_size_max : 1000;
        uint32_t most = out && out->rank_max ? out->rank_max : 9;

        if (!out)
            continue;
        memset(name, 'n', sizeof(name));
        name[longest] = 0;
        assert_int_equal(plan_one(format, name, 1, 128), MF_OK);
        name[longest] = 'n';
        name[longest + 1] = 0;
        assert_int_equal(plan_one(format, name, 1, 128),
                         out->name_size_max ? MF_ERR_UNSUPPORTED : MF_OK);
        assert_int_equal(plan_one(format, "", 1, 128),
                         out->name_size_max ? MF_ERR_UNSUPPORTED : MF_OK);
        assert_int_equal(plan_one(format, "n", most, 0), MF_OK);
        assert_int_equal(plan_one(format, "n", most + 1, 0),
                         out->rank_max ? MF_ERR_UNSUPPORTED : MF_OK);
        assert_int_equal(plan_one(format, "\xff", 1, 128), MF_ERR_UNSUPPORTED);
    }
    assert_int_equal(
        plan_one(mf_format_to_write("safetensors"), "__metadata__", 1, 128),
        MF_ERR_UNSUPPORTED);
}

static void offsets_are_planned(void **state)
{
    struct mf_draft draft;

    (void)state;
    mf_draft_init(&draft, env, mf_format_to_write("gguf"));
    for (size_t i = 0; i < 40; i++) /* the table grows, twice */
        add(&draft, "t", 1, 33);
    draft.alignment = 64;
    assert_int_equal(mf_draft_plan(&draft), MF_OK);
    for (size_t i = 0; i < 40; i++)
        assert_int_equal(draft.tensor[i].offset, 64 * i);
    assert_int_equal(draft.data_size, 64 * 40);
    assert_int_equal(draft.data_offset % 64, 0);
    assert_int_equal(draft.file_size, draft.data_offset + draft.data_size);
    mf_draft_release(&draft);
}

/* Nearly 2^63 bytes, and more. */
static void sizes_that_overflow(void **state)
{
    static const uint64_t sizes[] = { INT64_MAX, UINT64_MAX, UINT64_MAX - 31 };

    (void)state;
    for (size_t i = 0; mf_formats[i]; i++) {
        if (!mf_formats[i]->written)
            continue;
        for (size_t k = 0; k < COUNT(sizes); k++)
            assert_int_equal(plan_one(mf_formats[i], "t", 1, sizes[k]),
                             MF_ERR_LIMIT);
        assert_int_equal(plan_one(mf_formats[i], "t", 1, 1ULL << 62), MF_OK);
    }
}

static void versions_of_gguf(void **state)
{
    static const struct {
        uint32_t version;
        bool big_endian, writable;
    } rows[] = { { 0, false, true }, { 1, false, true },  { 2, false, true },
                 { 3, false, true }, { 4, false, false }, { 3, true, true },
                 { 2, true, false }, { 1, true, false } };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mf_draft draft;

        mf_draft_init(&draft, env, mf_format_to_write("gguf"));
        draft.version = rows[i].version;
        draft.big_endian = rows[i].big_endian;
        mf_clear_error(env);
        assert_int_equal(mf_draft_plan(&draft),
                         rows[i].writable ? MF_OK : MF_ERR_UNSUPPORTED);
        mf_draft_release(&draft);
    }
}

/* Version 1 counts with 32 bits. */
static void dimensions_of_version_1(void **state)
{
    struct mf_draft draft;

    (void)state;
    mf_draft_init(&draft, env, mf_format_to_write("gguf"));
    draft.version = 1;
    add(&draft, "t", 2, 128);
    assert_int_equal(mf_draft_plan(&draft), MF_ERR_UNSUPPORTED);
    mf_draft_release(&draft);
}

/* ---- values as JSON ---- */

struct text {
    char at[512];
    size_t size;
};

static void append(void *user, const char *at, size_t size)
{
    struct text *text = user;

    assert_true(text->size + size < sizeof(text->at));
    memcpy(text->at + text->size, at, size);
    text->size += size;
    text->at[text->size] = 0;
}

static void is_json(const struct mf_entry *entry, const char *expected)
{
    struct text text = { .size = 0 };
    struct mf_json_out json = { .write = append, .user = &text };
    struct mf_draft draft;

    mf_draft_init(&draft, env, mf_format_to_write("apr"));
    assert_int_equal(mf_entry_json(&draft, entry, &json, NULL), MF_OK);
    assert_string_equal(text.at, expected);
    mf_draft_release(&draft);
}

static void doubles_are_known_again(void **state)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        { 1, "1.0" },
        { -5, "-5.0" },
        { 0.5, "0.5" },
        { -0.0, "-0.0" },
        { 1e300, "1e+300" },
        { 1e-6, "1e-06" },
        { 123456789012345, "123456789012345.0" },
        { NAN, "\"nan\"" },
        { -INFINITY, "\"-inf\"" },
        { -1.7976931348623157e308, "-1.7976931348623157e+308" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        is_json(&(struct mf_entry){ .type = MF_VALUE_F64,
                                    .number.f64 = rows[i].value },
                rows[i].text);
    is_json(&(struct mf_entry){ .type = MF_VALUE_F32, .number.f64 = 1 }, "1");
    is_json(&(struct mf_entry){ .type = MF_VALUE_I8, .number.i64 = -1 }, "-1");
    is_json(&(struct mf_entry){ .type = MF_VALUE_NULL }, "null");
}

static void elements_in_memory(void **state)
{
    const union mf_number numbers[] = { { .u64 = 1 }, { .u64 = UINT64_MAX } };
    const struct mf_str words[] = { { "a\"", 2 }, { "", 0 } };

    (void)state;
    is_json(&(struct mf_entry){ .type = MF_VALUE_ARRAY,
                                .of = MF_VALUE_U64,
                                .count = 2,
                                .elements = numbers },
            "[1,18446744073709551615]");
    is_json(&(struct mf_entry){ .type = MF_VALUE_ARRAY,
                                .of = MF_VALUE_STRING,
                                .count = 2,
                                .elements = words },
            "[\"a\\\"\",\"\"]");
    is_json(&(struct mf_entry){ .type = MF_VALUE_ARRAY, .of = MF_VALUE_U8 },
            "[]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(numbers_as_other_types),
        WITH_ENV(words_as_numbers),
        WITH_ENV(sinks_write_what_they_count),
        WITH_ENV(sinks_fail_once),
        WITH_ENV(sinks_keep_the_first_error),
        WITH_ENV(big_endian_fields),
        WITH_ENV(names_and_ranks),
        WITH_ENV(offsets_are_planned),
        WITH_ENV(sizes_that_overflow),
        WITH_ENV(versions_of_gguf),
        WITH_ENV(dimensions_of_version_1),
        WITH_ENV(doubles_are_known_again),
        WITH_ENV(elements_in_memory),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
