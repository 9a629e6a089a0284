/* SPDX-License-Identifier: MIT
 *
 * test_apr_v1.c - APR files of version 1 made in memory: every head of
 * MessagePack, and what a header can get wrong
 */
#include <inttypes.h>

#include "lib/model/format.h"
#include "tests/with_env.h"

/* ---- files made in memory ---- */

enum {
    AT_MINOR = 5,
    AT_TYPE = 6,
    AT_METADATA_SIZE = 8,
    AT_PAYLOAD_SIZE = 12,
    AT_UNPACKED_SIZE = 16,
    AT_COMPRESSION = 20,
    AT_FLAGS = 21,
    AT_QUALITY = 22,
    AT_RESERVED = 23,
    HEADER = 32
};

static struct {
    uint8_t at[512 * 1024];
    size_t size;
} image;

static void set(size_t at, uint64_t value, size_t size)
{
    set_number(image.at + at, value, size);
}

static void seal(void)
{
    set(image.size - 4, mf_crc32(0, image.at, image.size - 4), 4);
}

/* A linear regression: those metadata, and a payload of zeros. */
static void make(const void *metadata, size_t size, size_t payload)
{
    image.size = HEADER + size + payload + 4;
    assert_true(image.size <= sizeof(image.at));
    memset(image.at, 0, image.size);
    memcpy(image.at, "APRN\1", 5);
    set(AT_TYPE, 1, 2);
    set(AT_METADATA_SIZE, size, 4);
    set(AT_PAYLOAD_SIZE, payload, 4);
    set(AT_UNPACKED_SIZE, payload, 4);
    memcpy(image.at + HEADER, metadata, size);
    seal();
}

/* A string literal's bytes, NULs among them. */
#define MAKE(literal, payload) make(literal, sizeof(literal) - 1, payload)

static struct mf_model *open_image(const char *what)
{
    struct mf_model *model;

    if (mf_model_open_memory(env, "made.apr", image.at, image.size, NULL,
                             &model) != MF_OK)
        fail_msg("%s: %s", what, mf_env_error(env)->message);
    return model;
}

/* The rules, the first of them at that offset (0: anywhere). */
static void expect_rules_at(const char *what, const char *expected,
                            uint64_t offset)
{
    struct mf_model *model = open_image(what);
    struct mf_finding finding;
    char rules[256] = "";

    for (size_t k = 0; mf_finding_at(model, k, &finding); k++) {
        if (k == 0 && offset > 0 && finding.offset != offset)
            fail_msg("%s: found at %" PRIu64, what, finding.offset);
        strcat(rules, finding.rule);
        strcat(rules, " ");
    }
    if (strcmp(rules, expected) != 0)
        fail_msg("%s: found %s", what, rules);
    walk_model(model);
    mf_model_close(model);
}

static void expect_rules(const char *what, const char *expected)
{
    expect_rules_at(what, expected, 0);
}

static void expect_refusal(const char *what, enum mf_status status,
                           uint64_t offset)
{
    struct mf_model *model;

    if (mf_model_open_memory(env, "made.apr", image.at, image.size, NULL,
                             &model) == MF_OK)
        fail_msg("%s: opens", what);
    if (mf_env_error(env)->status != status ||
        mf_env_error(env)->offset != offset)
        fail_msg("%s: %s at %" PRIu64, what, mf_env_error(env)->message,
                 mf_env_error(env)->offset);
}

/* ---- MessagePack: values ---- */

struct packed {
    const char *bytes; /* of a value, with its size: it may hold NULs */
    size_t size;
    const char *told; /* "type value", "type count", or "string text" */
};

#define PACKED(bytes, told)                                                    \
    {                                                                          \
        bytes, sizeof(bytes) - 1, told                                         \
    }

/* Heads as the specification lists them. */
static const struct packed values[] = {
    PACKED("\x00", "u64 0"),
    PACKED("\x7f", "u64 127"),
    PACKED("\xe0", "i64 -32"),
    PACKED("\xff", "i64 -1"),
    PACKED("\xc0", "null"),
    PACKED("\xc2", "bool 0"),
    PACKED("\xc3", "bool 1"),
    PACKED("\xcc\xff", "u64 255"),
    PACKED("\xcd\x01\x00", "u64 256"),
    PACKED("\xce\xff\xff\xff\xff", "u64 4294967295"),
    PACKED("\xcf\xff\xff\xff\xff\xff\xff\xff\xff", "u64 18446744073709551615"),
    PACKED("\xd0\x80", "i64 -128"),
    PACKED("\xd0\x7f", "i64 127"),
    PACKED("\xd1\x80\x00", "i64 -32768"),
    PACKED("\xd2\x80\x00\x00\x00", "i64 -2147483648"),
    PACKED("\xd3\x80\x00\x00\x00\x00\x00\x00\x00", "i64 -9223372036854775808"),
    PACKED("\xca\x3f\xc0\x00\x00", "f32 1.5"),
    PACKED("\xcb\xbf\xf8\x00\x00\x00\x00\x00\x00", "f64 -1.5"),
    PACKED("\xa0", "string "),
    PACKED("\xa2hi", "string hi"),
    PACKED("\xd9\x02hi", "string hi"),
    PACKED("\xda\x00\x02hi", "string hi"),
    PACKED("\xdb\x00\x00\x00\x02hi", "string hi"),
    /* Bytes, and types of an application's own with the byte that names them,
     * are shown as what they hold. */
    PACKED("\xc4\x02hi", "string hi"),
    PACKED("\xc5\x00\x02hi", "string hi"),
    PACKED("\xc6\x00\x00\x00\x02hi", "string hi"),
    PACKED("\xc7\x02thi", "string thi"),
    PACKED("\xc8\x00\x02thi", "string thi"),
    PACKED("\xc9\x00\x00\x00\x02thi", "string thi"),
    PACKED("\xd4th", "string th"),
    PACKED("\xd5thi", "string thi"),
    PACKED("\xd6thi h", "string thi h"),
    PACKED("\xd7thi hi hi", "string thi hi hi"),
    PACKED("\xd8thi hi hi hi hi h", "string thi hi hi hi hi h"),
    PACKED("\x90", "array 0"),
    PACKED("\x93\x01\xc0\xa1x", "array 3"),
    PACKED("\xdc\x00\x02\x01\x02", "array 2"),
    PACKED("\xdd\x00\x00\x00\x02\x01\x02", "array 2"),
    PACKED("\x80", "object 0"),
    PACKED("\x81\xa1k\x01", "object 1"),
    PACKED("\xde\x00\x01\xa1k\x91\xc0", "object 1"),
    PACKED("\xdf\x00\x00\x00\x01\xa1k\x81\xa1k\x90", "object 1"),
    PACKED("\x92\x92\x90\x90\x91\x80", "array 2"),
};

/* {"v": value, "w": 7}: what follows a value shows where it ended. */
static void make_value(const struct packed *value)
{
    char metadata[256] = "\x82\xa1v";
    size_t size = 3;

    memcpy(metadata + size, value->bytes, value->size);
    size += value->size;
    memcpy(metadata + size, "\xa1w\x07", 3);
    make(metadata, size + 3, 8);
}

static void describe(const struct mf_meta *meta, char *out, size_t size)
{
    int at = snprintf(out, size, "%s", mf_value_type_name(meta->type));

    out += at;
    size -= (size_t)at;
    switch (meta->type) {
    case MF_VALUE_U64:
        snprintf(out, size, " %" PRIu64, meta->number.u64);
        break;
    case MF_VALUE_I64:
        snprintf(out, size, " %" PRId64, meta->number.i64);
        break;
    case MF_VALUE_F32:
    case MF_VALUE_F64:
        snprintf(out, size, " %g", meta->number.f64);
        break;
    case MF_VALUE_BOOL:
        snprintf(out, size, " %d", meta->number.boolean);
        break;
    case MF_VALUE_STRING:
        snprintf(out, size, " %s", meta->text.at);
        break;
    case MF_VALUE_ARRAY:
    case MF_VALUE_OBJECT:
        snprintf(out, size, " %" PRIu64, meta->count);
        break;
    default:
        break;
    }
}

static void every_head(void **state)
{
    char told[64];

    (void)state;
    for (size_t i = 0; i < COUNT(values); i++) {
        struct mf_model *model;
        struct mf_meta meta;

        make_value(&values[i]);
        model = open_image(values[i].told);
        assert_int_equal(mf_model_info(model)->error_count, 0);
        assert_true(mf_meta_at(model, 0, &meta));
        assert_string_equal(meta.key.at, "v");
        assert_int_equal(meta.span.offset, HEADER + 3);
        assert_int_equal(meta.span.size, values[i].size);
        describe(&meta, told, sizeof(told));
        assert_string_equal(told, values[i].told);
        assert_true(walk_value(model, 0) > 0);
        assert_true(mf_meta_at(model, 1, &meta));
        assert_string_equal(meta.key.at, "w");
        assert_int_equal(meta.number.u64, 7);
        mf_model_close(model);
    }
}

/* Cut anywhere, and the metadata's size cut with it. */
static void every_head_cut_short(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(values); i++) {
        make_value(&values[i]);
        for (size_t size = 1; size < 3 + values[i].size + 3; size++) {
            struct mf_model *model;

            set(AT_METADATA_SIZE, size, 4);
            seal();
            assert_int_equal(mf_model_open_memory(env, "made.apr", image.at,
                                                  image.size, NULL, &model),
                             MF_ERR_CORRUPT);
            assert_true(mf_env_error(env)->offset >= HEADER &&
                        mf_env_error(env)->offset <= HEADER + size);
        }
    }
}

static void types_of_elements(void **state)
{
    static const struct {
        struct packed value;
        enum mf_value_type of;
    } rows[] = {
        { PACKED("\x90", ""), MF_VALUE_NULL },
        { PACKED("\x92\x01\x02", ""), MF_VALUE_U64 },
        { PACKED("\x92\xa1x\xa0", ""), MF_VALUE_STRING },
        { PACKED("\x92\x91\x01\x91\xc0", ""), MF_VALUE_ARRAY },
        { PACKED("\x93\x01\x02\xc0", ""), MF_VALUE_MIXED },
        { PACKED("\x92\x90\x01", ""), MF_VALUE_MIXED },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mf_values *told;
        struct mf_value event;
        struct mf_model *model;
        struct mf_meta meta;

        make_value(&rows[i].value);
        model = open_image("elements");
        assert_true(mf_meta_at(model, 0, &meta));
        assert_int_equal(meta.of, rows[i].of);
        assert_int_equal(mf_values_open(model, 0, &told), MF_OK);
        assert_int_equal(mf_values_next(told, &event), MF_OK);
        assert_int_equal(event.of, rows[i].of);
        assert_int_equal(event.count, meta.count);
        mf_values_close(told);
        mf_model_close(model);
    }
}

/* Longer than what is kept in memory, and than the reading window. */
static void a_long_string_is_read_in_pieces(void **state)
{
    enum { LENGTH = 60000 };
    static char metadata[LENGTH + 6] = "\x81\xa1v\xda\xea\x60";
    struct mf_values *told;
    struct mf_value event;
    struct mf_model *model;
    struct mf_meta meta;
    size_t size = 0;

    (void)state;
    memset(metadata + 6, 'x', LENGTH);
    make(metadata, sizeof(metadata), 0);
    model = open_image("a long string");
    assert_true(mf_meta_at(model, 0, &meta));
    assert_int_equal(meta.count, LENGTH);
    assert_null(meta.text.at);
    assert_int_equal(mf_values_open(model, 0, &told), MF_OK);
    do {
        assert_int_equal(mf_values_next(told, &event), MF_OK);
        assert_int_equal(event.event, MF_EVENT_ITEM);
        size += event.text.size;
    } while (event.more);
    assert_int_equal(size, LENGTH);
    assert_int_equal(mf_values_next(told, &event), MF_OK);
    assert_int_equal(event.event, MF_EVENT_DONE);
    mf_values_close(told);
    mf_model_close(model);
}

/* ---- MessagePack: what is wrong ---- */

static void metadata_that_is_refused(void **state)
{
    static const struct {
        struct packed metadata;
        uint64_t offset;
    } rows[] = {
        { PACKED("\xc0", "no map"), 32 },
        { PACKED("\x81\xa1v\xc1", "the byte that is never used"), 35 },
        { PACKED("\x81\x01\x01", "a key that is a number"), 33 },
        { PACKED("\x8f\xa1v\x01", "a map of more than there is"), 32 },
        { PACKED("\xdf\xff\xff\xff\xff\xa1v\x01", "2^32 - 1 members"), 32 },
        { PACKED("\x81\xa1v\xdd\xff\xff\xff\xff", "2^32 - 1 elements"), 35 },
        { PACKED("\x81\xa1v\xdb\xff\xff\xff\xff", "2^32 - 1 letters"), 35 },
        { PACKED("\x81\xa1v\xc9\xff\xff\xff\xff", "2^32 bytes"), 35 },
        /* The payload's bytes would do. */
        { PACKED("\x81\xa1v\xa4hi", "a string past the metadata"), 35 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        make(rows[i].metadata.bytes, rows[i].metadata.size, 64);
        expect_refusal(rows[i].metadata.told, MF_ERR_CORRUPT, rows[i].offset);
    }
}

static void nesting_has_a_limit(void **state)
{
    char metadata[256] = "\x81\xa1v";

    (void)state;
    memset(metadata + 3, 0x91, 100); /* arrays of one element each */
    metadata[3 + MF_NESTING_MAX] = 0x01;
    make(metadata, 3 + MF_NESTING_MAX + 1, 8);
    expect_rules("64 arrays", "");
    metadata[3 + MF_NESTING_MAX] = (char)0x91;
    metadata[3 + MF_NESTING_MAX + 1] = 0x01;
    make(metadata, 3 + MF_NESTING_MAX + 2, 8);
    expect_refusal("65 arrays", MF_ERR_LIMIT, HEADER + 3 + MF_NESTING_MAX + 1);
}

/* ---- the header ---- */

static void fields_of_the_header(void **state)
{
    static const struct {
        const char *what;
        size_t at;
        uint64_t value, size;
        const char *rules;
        uint64_t told_at; /* where that is not the field */
    } rows[] = {
        { "as it was", AT_TYPE, 1, 2, "", 0 },
        { "version 1.5", AT_MINOR, 5, 1, "APR-VERSION ", 4 },
        { "version 0.0", 4, 0, 1, "APR-VERSION ", 0 },
        { "type 0", AT_TYPE, 0, 2, "APR-V1-TYPE ", 0 },
        { "type 0x0b", AT_TYPE, 0x0b, 2, "APR-V1-TYPE ", 0 },
        { "type 0x0a", AT_TYPE, 0x0a, 2, "", 0 },
        { "type 0x0f", AT_TYPE, 0x0f, 2, "APR-V1-TYPE ", 0 },
        { "type 0x10", AT_TYPE, 0x10, 2, "", 0 },
        { "type 0x12", AT_TYPE, 0x12, 2, "", 0 },
        { "type 0x13", AT_TYPE, 0x13, 2, "APR-V1-TYPE ", 0 },
        { "type 0x1f", AT_TYPE, 0x1f, 2, "APR-V1-TYPE ", 0 },
        { "type 0x20", AT_TYPE, 0x20, 2, "", 0 },
        { "type 0x21", AT_TYPE, 0x21, 2, "", 0 },
        { "type 0x30", AT_TYPE, 0x30, 2, "", 0 },
        { "type 0x40", AT_TYPE, 0x40, 2, "", 0 },
        { "type 0xff", AT_TYPE, 0xff, 2, "", 0 },
        { "1 GiB when unpacked", AT_UNPACKED_SIZE, 1 << 30, 4, "", 0 },
        { "more than that", AT_UNPACKED_SIZE, (1 << 30) + 1, 4,
          "APR-V1-UNPACKED ", 0 },
        { "the last compression", AT_COMPRESSION, 3, 1, "", 0 },
        { "one after it", AT_COMPRESSION, 4, 1, "APR-V1-COMPRESSION ", 0 },
        { "a quality of 100", AT_QUALITY, 100, 1, "", 0 },
        { "a quality of 101", AT_QUALITY, 101, 1, "APR-V1-QUALITY ", 0 },
        { "all flags but 'signed'", AT_FLAGS, 0x7d, 1, "", 0 },
        { "'signed', and no signature", AT_FLAGS, 2, 1, "APR-V1-SIZE ", 8 },
        { "the flag without a meaning", AT_FLAGS, 0x80, 1, "APR-FLAGS ", 0 },
        { "a reserved byte", AT_RESERVED, 1, 1, "APR-RESERVED ", 0 },
        { "the last reserved byte", 31, 1, 1, "APR-RESERVED ", AT_RESERVED },
        { "a byte of payload less", AT_PAYLOAD_SIZE, 7, 4, "APR-V1-SIZE ", 8 },
        { "4 GiB of payload", AT_PAYLOAD_SIZE, UINT32_MAX, 4, "APR-V1-SIZE ",
          8 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        MAKE("\x81\xa1v\x01", 8);
        set((size_t)rows[i].at, rows[i].value, (size_t)rows[i].size);
        seal();
        expect_rules_at(rows[i].what, rows[i].rules,
                        rows[i].told_at ? rows[i].told_at : rows[i].at);
    }
}

static void sizes_of_the_metadata(void **state)
{
    (void)state;
    MAKE("", 8);
    expect_rules("no metadata", "APR-V1-METADATA ");
    MAKE("\x80", 8);
    expect_rules("an empty map", "");
    MAKE("\x81\xa1v\x01\x00", 8);
    expect_rules("a byte after the map", "APR-V1-METADATA ");
    MAKE("\x80", 0);
    expect_rules("no payload", "");
    MAKE("\x80", 0);
    set(AT_METADATA_SIZE, 1 + 4, 4); /* up to the file's end */
    seal();
    expect_rules("metadata over the checksum", "APR-V1-SIZE APR-V1-METADATA ");
    MAKE("\x80", 8);
    set(AT_METADATA_SIZE, image.size, 4);
    expect_refusal("metadata past the file", MF_ERR_CORRUPT, AT_METADATA_SIZE);
}

static void a_later_version_is_not_read(void **state)
{
    (void)state;
    MAKE("\x80", 8);
    set(4, 2, 1);
    seal();
    expect_refusal("version 2.0 under APRN", MF_ERR_UNSUPPORTED, 4);
}

/* Of a file longer than the window no byte of the payload is read, so its
 * checksum is not looked at; of a shorter one it is. */
static void the_checksum_of_small_files_is_checked(void **state)
{
    struct mf_io_stats before, after;
    struct mf_model *model;

    (void)state;
    MAKE("\x81\xa1v\x01", 400000);
    image.at[image.size - 1] ^= 1;
    mf_env_io(env, &before);
    model = open_image("a large file");
    mf_env_io(env, &after);
    assert_int_equal(mf_model_info(model)->error_count, 0);
    mf_model_close(model);
    assert_true(after.bytes_read - before.bytes_read < 100);
    MAKE("\x81\xa1v\x01", 100000);
    expect_rules("a small file", "");
    image.at[image.size - 5] ^= 1;
    expect_rules("its last byte flipped", "APR-V1-CRC ");
    MAKE("\x80", MF_WINDOW - HEADER - 1 - 4);
    assert_int_equal(image.size, MF_WINDOW);
    expect_rules("a file that just fits the window", "");
    image.at[image.size - 5] ^= 1;
    expect_rules("its last byte flipped", "APR-V1-CRC ");
    MAKE("\x80", MF_WINDOW - HEADER - 4);
    image.at[image.size - 5] ^= 1;
    model = open_image("a byte more than the window");
    assert_int_equal(mf_model_info(model)->error_count, 0);
    mf_model_close(model);
}

/* Larger ones only where the data is looked at. */
static void the_checksum_of_large_files_is_checked_with_the_data(void **state)
{
    struct mf_finding finding;
    struct mf_model *model;

    (void)state;
    MAKE("\x80", 300000);
    model = open_image("a large file");
    assert_int_equal(mf_model_validate_data(model), MF_OK);
    assert_int_equal(mf_model_info(model)->error_count, 0);
    mf_model_close(model);
    image.at[200000] ^= 1;
    model = open_image("a large file with a wrong byte");
    assert_int_equal(mf_model_info(model)->error_count, 0);
    assert_int_equal(mf_model_validate_data(model), MF_OK);
    assert_int_equal(mf_model_info(model)->error_count, 1);
    for (size_t i = 0; mf_finding_at(model, i, &finding); i++)
        if (finding.severity == MF_ERROR)
            assert_string_equal(finding.rule, "APR-V1-CRC");
    mf_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(every_head),
        WITH_ENV(every_head_cut_short),
        WITH_ENV(types_of_elements),
        WITH_ENV(a_long_string_is_read_in_pieces),
        WITH_ENV(metadata_that_is_refused),
        WITH_ENV(nesting_has_a_limit),
        WITH_ENV(fields_of_the_header),
        WITH_ENV(sizes_of_the_metadata),
        WITH_ENV(a_later_version_is_not_read),
        WITH_ENV(the_checksum_of_small_files_is_checked),
        WITH_ENV(the_checksum_of_large_files_is_checked_with_the_data),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
