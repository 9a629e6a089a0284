/* SPDX-License-Identifier: MIT
 *
 * test_diff_meta.c - metadata of one value against those of another
 */
#include "tests/compare/differences.h"

/* A GGUF file with a key "k" of that type, a number of so many bytes. */
static void put_gguf(struct bytes *bytes, enum mf_value_type type,
                     uint64_t number, size_t size)
{
    begin_gguf(bytes, 0, 1);
    add_string(bytes, "k");
    add_number(bytes, type, 4);
    add_number(bytes, number, size);
}

/* The same in APR, whose metadata are JSON. */
static void put_json(const char *value)
{
    static char text[65536];

    snprintf(text, sizeof(text), "{\"k\":%s}", value);
    begin(ROW_MAJOR, 0, text);
    end(0);
}

static void numbers_compare_by_value_between_formats(void **state)
{
    static const struct {
        enum mf_value_type type;
        uint64_t bits;
        size_t size;
        const char *json;
        bool equal;
    } rows[] = {
        { MF_VALUE_U8, 200, 1, "200", true },
        { MF_VALUE_U8, 200, 1, "201", false },
        { MF_VALUE_I8, 0xff, 1, "-1", true },
        { MF_VALUE_U8, 0xff, 1, "-1", false },
        { MF_VALUE_U64, UINT64_MAX, 8, "18446744073709551615", true },
        { MF_VALUE_U64, UINT64_MAX, 8, "-1", false },
        { MF_VALUE_I64, UINT64_MAX, 8, "18446744073709551615", false },
        { MF_VALUE_I64, 7, 8, "7", true },
        { MF_VALUE_F32, 0x3dcccccd, 4, "0.1", true },
        { MF_VALUE_F32, 0x3dcccccd, 4, "0.1000001", false },
        { MF_VALUE_F32, 0x40000000, 4, "2", true },
        { MF_VALUE_U32, 2, 4, "2.0", true },
        { MF_VALUE_U32, 2, 4, "2.5", false },
        { MF_VALUE_F64, 0x3fb999999999999a, 8, "0.1", true },
        { MF_VALUE_BOOL, 1, 1, "true", true },
        { MF_VALUE_BOOL, 1, 1, "false", false },
        { MF_VALUE_BOOL, 1, 1, "1", false },
        { MF_VALUE_U32, 1, 4, "\"1\"", false },
        { MF_VALUE_U32, 0, 4, "null", false },
        { MF_VALUE_U32, 1, 4, "[1]", false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct list list;

        put_gguf(&gguf, rows[i].type, rows[i].bits, rows[i].size);
        put_json(rows[i].json);
        diff_gguf(&list, true);
        if (list.count != !rows[i].equal)
            fail_msg("row %zu: %s", i, rows[i].json);
        if (!rows[i].equal)
            expect(&list, 0, MF_DIFFERS_DATA, 0, 0, 0);
    }
}

static void width_counts_within_a_format(void **state)
{
    struct list list;

    (void)state;
    put_gguf(&gguf, MF_VALUE_U32, 5, 4);
    put_gguf(&other, MF_VALUE_U32, 5, 4);
    diff_gguf(&list, false);
    assert_int_equal(list.count, 0);
    put_gguf(&other, MF_VALUE_U64, 5, 8);
    diff_gguf(&list, false);
    assert_int_equal(list.count, 1);
    put_gguf(&gguf, MF_VALUE_F32, 0x7fc00000, 4); /* no number equals itself */
    put_gguf(&other, MF_VALUE_F32, 0x7fc00000, 4);
    diff_gguf(&list, false);
    assert_int_equal(list.count, 0);
    put_gguf(&gguf, MF_VALUE_F32, 0, 4);
    put_gguf(&other, MF_VALUE_F32, 0x80000000, 4);
    diff_gguf(&list, false);
    assert_int_equal(list.count, 1);
}

/* "k" as an array of three numbers of 32 bits, each one more than the last. */
static void put_three(enum mf_value_type type, int32_t first)
{
    begin_gguf(&gguf, 0, 1);
    add_string(&gguf, "k");
    add_number(&gguf, MF_VALUE_ARRAY, 4);
    add_number(&gguf, type, 4);
    add_number(&gguf, 3, 8);
    for (int32_t i = first; i < first + 3; i++)
        add_number(&gguf, (uint32_t)i, 4);
}

/* Longer than what is kept in memory; each format reads other pieces. */
static void long_texts_are_compared_whole(void **state)
{
    enum { CHARACTERS = 9000 };
    static char text[2 * CHARACTERS + 1], json[6 * CHARACTERS + 3];
    struct list list;

    (void)state;
    for (size_t i = 0; i < CHARACTERS; i++) {
        memcpy(text + 2 * i, "\xc3\xa9", 3);
        memcpy(json + 1 + 6 * i, "\\u00e9", 6);
    }
    json[0] = json[6 * CHARACTERS + 1] = '"';
    for (int turn = 0; turn < 3; turn++) {
        begin_gguf(&gguf, 0, 1);
        add_string(&gguf, "k");
        add_number(&gguf, MF_VALUE_STRING, 4);
        add_string(&gguf, text);
        if (turn == 1)
            gguf.at[gguf.size - 1] ^= 1;
        put_json(json);
        if (turn == 2) { /* one character less */
            json[6 * CHARACTERS - 5] = '"';
            json[6 * CHARACTERS - 4] = 0;
            put_json(json);
        }
        diff_gguf(&list, true);
        assert_int_equal(list.count, turn > 0);
    }
}

static void first_element_is_reported(void **state)
{
    static const struct {
        const char *json;
        uint64_t first;
    } rows[] = {
        { "[1,2,3]", UINT64_MAX },
        { "[2,2,3]", 0 },
        { "[1,2,4]", 2 },
        { "[1,2]", 2 },
        { "[]", 0 },
        { "[1,2,3,4]", 3 },
        { "[1,\"2\",3]", 1 },
        { "[1,[2],3]", 1 },
    };
    struct list list;

    (void)state;
    put_three(MF_VALUE_U32, 1);
    for (size_t i = 0; i < COUNT(rows); i++) {
        put_json(rows[i].json);
        diff_gguf(&list, true);
        assert_int_equal(list.count, rows[i].first != UINT64_MAX);
        if (list.count > 0)
            expect(&list, 0, MF_DIFFERS_DATA, 0, 0, rows[i].first);
    }
}

/* Two numbers with and without a sign: 0 is the last that may be equal. */
static void first_element_with_a_sign_is_reported(void **state)
{
    struct list list;

    (void)state;
    put_three(MF_VALUE_I32, -1);
    put_json("[-1,0,2]");
    diff_gguf(&list, true);
    assert_int_equal(list.count, 1);
    expect(&list, 0, MF_DIFFERS_DATA, 0, 0, 2);
    put_json("[18446744073709551615,0,2]");
    diff_gguf(&list, true);
    expect(&list, 0, MF_DIFFERS_DATA, 0, 0, 0);
}

static void keys_of_one_side_are_reported(void **state)
{
    struct list list;

    (void)state;
    put_gguf(&gguf, MF_VALUE_U32, 5, 4);
    begin(ROW_MAJOR, 0, "{\"l\":1,\"k\":5,\"m\":2}");
    end(0);
    diff_gguf(&list, true);
    assert_int_equal(list.count, 2);
    expect(&list, 0, MF_ONLY_B, SIZE_MAX, 0, 0);
    expect(&list, 1, MF_ONLY_B, SIZE_MAX, 2, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(numbers_compare_by_value_between_formats),
        WITH_ENV(width_counts_within_a_format),
        WITH_ENV(long_texts_are_compared_whole),
        WITH_ENV(first_element_is_reported),
        WITH_ENV(first_element_with_a_sign_is_reported),
        WITH_ENV(keys_of_one_side_are_reported),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
