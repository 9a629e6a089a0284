/* SPDX-License-Identifier: MIT
 *
 * test_gguf_values.c - GGUF metadata of every type, value by value
 *
 * fixtures/make_gguf_values.c says what each file is made of.
 */
#include <inttypes.h>
#include <math.h>

#include "lib/model/index.h"
#include "tests/scratch.h"
#include "tests/with_env.h"

/* ---- a value as a line ---- */

struct line {
    char text[256];
    size_t size;
};

static void add(struct line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct line *line, const char *format, ...)
{
    size_t room = sizeof(line->text) - line->size;
    va_list list;
    int size;

    va_start(list, format);
    size = vsnprintf(line->text + line->size, room, format, list);
    va_end(list);
    assert_true(size >= 0 && (size_t)size < room);
    line->size += (size_t)size;
}

/* With all digits that a float has. */
static void add_number(struct line *line, enum mf_value_type type,
                       union mf_number number)
{
    switch (type) {
    case MF_VALUE_U8:
    case MF_VALUE_U16:
    case MF_VALUE_U32:
    case MF_VALUE_U64:
        add(line, "%" PRIu64, number.u64);
        break;
    case MF_VALUE_I8:
    case MF_VALUE_I16:
    case MF_VALUE_I32:
    case MF_VALUE_I64:
        add(line, "%" PRId64, number.i64);
        break;
    case MF_VALUE_F32:
        add(line, "%.9g", number.f64);
        break;
    case MF_VALUE_F64:
        add(line, "%.17g", number.f64);
        break;
    case MF_VALUE_BOOL:
        add(line, "%s", number.boolean ? "true" : "false");
        break;
    default:
        fail_msg("%s is not a number", mf_value_type_name(type));
    }
}

static void add_event(struct line *line, const struct mf_value *value)
{
    if (value->event == MF_EVENT_BEGIN) {
        assert_int_equal(value->type, MF_VALUE_ARRAY);
        add(line, "[%s*%" PRIu64 ":", mf_value_type_name(value->of),
            value->count);
    } else if (value->event == MF_EVENT_END) {
        assert_int_equal(value->type, MF_VALUE_ARRAY);
        add(line, "]");
    } else if (value->type == MF_VALUE_STRING) {
        assert_false(value->more);
        add(line, " '%.*s'", (int)value->text.size, value->text.at);
    } else {
        add(line, " ");
        add_number(line, value->type, value->number);
    }
}

/* Value number `at` as text made from its events: "[i32*2: 1 -1]". */
static void add_events(struct line *line, struct mf_model *model, size_t at)
{
    struct mf_values *values;
    struct mf_value value;

    assert_int_equal(mf_values_open(model, at, &values), MF_OK);
    for (;;) {
        assert_int_equal(mf_values_next(values, &value), MF_OK);
        if (value.event == MF_EVENT_DONE)
            break;
        add_event(line, &value);
    }
    mf_values_close(values);
}

/* Numbers from memory, arrays event by event; both must agree on the type and
 * the value. */
static void check_meta(struct mf_model *model, size_t at, const char *expected)
{
    struct line line = { .size = 0 }, events = { .size = 0 };
    struct mf_meta meta;

    assert_true(mf_meta_at(model, at, &meta));
    add(&line, "%s %s ", meta.key.at, mf_value_type_name(meta.type));
    if (meta.type == MF_VALUE_ARRAY) {
        add(&events, "[%s*%" PRIu64 ":", mf_value_type_name(meta.of),
            meta.count);
        add_events(&line, model, at);
        assert_non_null(strstr(line.text, events.text));
    } else {
        add_events(&events, model, at);
        add_number(&line, meta.type, meta.number);
        assert_string_equal(strrchr(events.text, ' '), strrchr(line.text, ' '));
    }
    assert_string_equal(line.text, expected);
}

/* ---- numbers ---- */

static void numbers_at_their_limits(void **state)
{
    static const char *const lines[] = {
        "u8.least u8 0",
        "u8.most u8 255",
        "i8.least i8 -128",
        "i8.most i8 127",
        "u16.least u16 0",
        "u16.most u16 65535",
        "i16.least i16 -32768",
        "i16.most i16 32767",
        "u32.least u32 0",
        "u32.most u32 4294967295",
        "i32.least i32 -2147483648",
        "i32.most i32 2147483647",
        "f32.least f32 1.40129846e-45",
        "f32.most f32 3.40282347e+38",
        "bool.least bool false",
        "bool.most bool true",
        "u64.least u64 0",
        "u64.most u64 18446744073709551615",
        "i64.least i64 -9223372036854775808",
        "i64.most i64 9223372036854775807",
        "f64.least f64 4.9406564584124654e-324",
        "f64.most f64 1.7976931348623157e+308",
        "f32.minus_zero f32 -0",
        "f32.tenth f32 0.100000001",
        "f64.tenth f64 0.10000000000000001",
    };
    struct mf_model *model = open_fixture("good-scalars.gguf");

    (void)state;
    assert_int_equal(mf_model_info(model)->metadata_count, 1 + COUNT(lines));
    for (size_t i = 0; i < COUNT(lines); i++)
        check_meta(model, 1 + i, lines[i]); /* after the architecture */
    mf_model_close(model);
}

static void numbers_that_are_not_finite(void **state)
{
    struct mf_model *model = open_fixture("bad-value-not-finite.gguf");
    size_t infinite = 0, nan = 0;
    struct mf_meta meta;

    (void)state;
    for (size_t i = 0; mf_meta_at(model, i, &meta); i++) {
        infinite += meta.type == MF_VALUE_F32 && isinf(meta.number.f64);
        nan += meta.type == MF_VALUE_F64 && isnan(meta.number.f64);
    }
    assert_int_equal(infinite, 1);
    assert_int_equal(nan, 1);
    mf_model_close(model);
}

/* ---- arrays ---- */

struct expected {
    const char *name, *lines[15];
};

/* The metadata after the architecture are these lines, and no more. */
static void check_lines(const struct expected *row)
{
    struct mf_model *model = open_fixture(row->name);
    size_t count = 0;

    for (; row->lines[count]; count++)
        check_meta(model, 1 + count, row->lines[count]);
    assert_int_equal(mf_model_info(model)->metadata_count, 1 + count);
    mf_model_close(model);
}

static void arrays_of_every_type(void **state)
{
    (void)state;
    check_lines(&(struct expected){
        "good-arrays.gguf",
        { "array.u8 array [u8*3: 0 255 0]", "array.i8 array [i8*3: -128 127 0]",
          "array.u16 array [u16*3: 0 65535 0]",
          "array.i16 array [i16*3: -32768 32767 0]",
          "array.u32 array [u32*3: 0 4294967295 0]",
          "array.i32 array [i32*3: -2147483648 2147483647 0]",
          "array.f32 array [f32*3: 1.40129846e-45 3.40282347e+38 0]",
          "array.bool array [bool*3: false true false]",
          "array.u64 array [u64*3: 0 18446744073709551615 0]",
          ("array.i64 array [i64*3: -9223372036854775808 "
           "9223372036854775807 0]"),
          ("array.f64 array [f64*3: 4.9406564584124654e-324 "
           "1.7976931348623157e+308 0]"),
          "array.string array [string*3: 'one' '' '\u4e09']",
          "empty.string array [string*0:]", "empty.u8 array [u8*0:]" } });
}

static void arrays_of_arrays(void **state)
{
    (void)state;
    check_lines(&(struct expected){
        "bad-array-nested.gguf",
        { "nested.i32 array [array*3:[i32*2: 1 2][i32*1: 3][i32*0:]]",
          "nested.mixed array [array*2:[string*2: 'a' 'b'][bool*1: true]]",
          "nested.empty array [array*0:]" } });
}

/* A file with so many arrays, each within the one before, around 13 bytes of
 * zeros; returns the offset of the type of the innermost one's elements. */
static size_t put_nested(struct image *image, size_t arrays)
{
    gguf_start(image);
    gguf_key(image, "nested", MF_VALUE_ARRAY);
    for (size_t i = 1; i < arrays; i++) {
        image_int(image, MF_VALUE_ARRAY, 4);
        image_int(image, 1, 8);
    }
    image_int(image, MF_VALUE_U8, 4);
    image_int(image, 13, 8);
    image_int(image, 0, 13);
    gguf_save(image, scratch_path("nested.gguf"));
    return 24 + (8 + strlen("nested")) + 4 + 12 * (arrays - 1);
}

static void nesting_has_a_limit(void **state)
{
    static struct image image;
    struct mf_model *model;
    struct mf_values *values;
    struct mf_value value;
    enum mf_status status;
    size_t innermost;

    (void)state;
    put_nested(&image, MF_NESTING_MAX + 1);
    assert_int_equal(mf_model_open_memory(env, "made.gguf", image.bytes,
                                          image.size, NULL, &model),
                     MF_ERR_LIMIT);
    innermost = put_nested(&image, MF_NESTING_MAX);
    assert_int_equal(mf_model_open_memory(env, "made.gguf", image.bytes,
                                          image.size, NULL, &model),
                     MF_OK);
    assert_int_equal(mf_model_validate_data(model), MF_OK);
    assert_int_equal(walk_value(model, 0), 2 * MF_NESTING_MAX + 13);
    /* Changed meanwhile, it is nested too deeply: reading it ends there. */
    image.bytes[innermost] = MF_VALUE_ARRAY;
    assert_int_equal(mf_values_open(model, 0, &values), MF_OK);
    for (size_t i = 0; i < MF_NESTING_MAX; i++) {
        assert_int_equal(mf_values_next(values, &value), MF_OK);
        assert_int_equal(value.event, MF_EVENT_BEGIN);
    }
    status = mf_values_next(values, &value);
    assert_int_equal(status, MF_ERR_IO);
    mf_values_close(values);
    mf_model_close(model);
}

/* Lengths of strings and arrays have 32 bits in version 1. */
static void values_of_every_version(void **state)
{
    const char *words = "tiny.words array [string*2: 'one' 'two']";

    (void)state;
    check_lines(&(struct expected){ "bad-v1.gguf", { words } });
    check_lines(&(struct expected){ "good-v2.gguf", { words } });
    check_lines(&(struct expected){ "good-big-endian.gguf",
                                    { "general.quantization_version u32 2",
                                      words, "tiny.u16 u16 4660",
                                      "tiny.f64 f64 0.10000000000000001",
                                      "tiny.numbers array [i32*2: 258 -1]" } });
}

/* ---- strings ---- */

/* The string put together from its pieces; free it. */
static char *whole_text(struct mf_model *model, size_t at, size_t *size)
{
    struct mf_values *values;
    struct mf_value value;
    char *text = NULL;

    *size = 0;
    assert_int_equal(mf_values_open(model, at, &values), MF_OK);
    do {
        assert_int_equal(mf_values_next(values, &value), MF_OK);
        assert_int_equal(value.event, MF_EVENT_ITEM);
        assert_int_equal(value.type, MF_VALUE_STRING);
        assert_true(mf_text_is_utf8(value.text.at, value.text.size));
        text = realloc(text, *size + value.text.size + 1);
        assert_non_null(text);
        memcpy(text + *size, value.text.at, value.text.size);
        *size += value.text.size;
    } while (value.more);
    assert_int_equal(mf_values_next(values, &value), MF_OK);
    assert_int_equal(value.event, MF_EVENT_DONE);
    mf_values_close(values);
    return text;
}

/* `piece` again and again, `times` times, is the string under `key`. */
static void check_text(struct mf_model *model, const char *key,
                       const char *piece, size_t times, bool kept)
{
    size_t length = strlen(piece), size, at;
    struct mf_meta meta;
    char *text;

    assert_true(mf_meta_find(model, key, strlen(key), &meta, &at));
    assert_int_equal(meta.type, MF_VALUE_STRING);
    assert_int_equal(meta.count, length * times);
    assert_int_equal(meta.span.size, length * times);
    text = whole_text(model, at, &size);
    assert_int_equal(size, length * times);
    for (size_t i = 0; i < times; i++)
        assert_memory_equal(text + i * length, piece, length);
    assert_int_equal(meta.text.at != NULL, kept);
    if (kept) {
        assert_int_equal(meta.text.size, size);
        assert_memory_equal(meta.text.at, text, size);
        assert_int_equal(meta.text.at[size], 0);
    }
    free(text);
}

/* Strings up to 1024 bytes are kept in memory; all of them can be read. */
static void strings_of_every_length(void **state)
{
    struct mf_model *model = open_fixture("good-strings.gguf");

    (void)state;
    assert_int_equal(mf_model_info(model)->metadata_count, 7);
    check_text(model, "general.architecture", "tiny", 1, true);
    check_text(model, "string.empty", "", 1, true);
    check_text(model, "string.utf8",
               "na\u00efve \u2192 \u6a21\u578b \U0001f600", 1, true);
    check_text(model, "string.quotes", "\"a\\b\"\n\t'c'", 1, true);
    check_text(model, "string.1024", "a", 1024, true);
    check_text(model, "string.1025", "b", 1025, false);
    check_text(model, "string.long", "\u00e4\u20ac\U0001f600x", 300, false);
    mf_model_close(model);
    model = open_fixture("good-string-escape.gguf");
    check_text(model, "general.name", "\x1b[31mred\x1b[0m\x1b]0;title\a", 1,
               true);
    mf_model_close(model);
}

/* ---- where values lie ---- */

/* A string's span is its bytes, without the length before them. */
static void spans_are_the_values_bytes(void **state)
{
    struct mf_model *model = open_fixture("good-strings.gguf");
    struct mf_meta meta;
    uint8_t *bytes;
    size_t size;

    (void)state;
    bytes = load(fixture_path("good-strings.gguf"), &size);
    for (size_t i = 0; mf_meta_at(model, i, &meta); i++) {
        assert_true(meta.span.size <= size - meta.span.offset);
        if (meta.text.at)
            assert_memory_equal(bytes + meta.span.offset, meta.text.at,
                                meta.text.size);
    }
    free(bytes);
    mf_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(numbers_at_their_limits),
        WITH_ENV(numbers_that_are_not_finite),
        WITH_ENV(arrays_of_every_type),
        WITH_ENV(arrays_of_arrays),
        WITH_ENV(nesting_has_a_limit),
        WITH_ENV(values_of_every_version),
        WITH_ENV(strings_of_every_length),
        WITH_ENV(spans_are_the_values_bytes),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
