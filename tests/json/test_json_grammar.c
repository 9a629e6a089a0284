/* SPDX-License-Identifier: MIT
 *
 * test_json_grammar.c - every short text, against a second opinion
 *
 * Structure is compared with a reduction of brackets, numbers against a regular
 * expression and their values against strtod: none of them shares a line with
 * the tokenizer.
 */
#include <locale.h>
#include <math.h>
#include <regex.h>

#include "tests/json/json_trace.h"

static bool is_accepted(const char *text)
{
    static struct json_trace trace;

    trace_document(text, strlen(text), (struct json_way){ MF_JSON_LOOK, 0 },
                   &trace);
    return trace.status == MF_OK;
}

/* The next text over the alphabet, which is made of the numbers 0 to count - 1
 * in letter; false after the last one of its length. */
static bool next_text(size_t *letter, size_t length, size_t count)
{
    for (size_t i = 0; i < length; i++) {
        if (++letter[i] < count)
            return true;
        letter[i] = 0;
    }
    return false;
}

/* ---- structure ---- */

static regex_t array, object;

/* Puts v in place of brackets that hold a whole array or object, from within
 * outwards.  s is a string, v any other value. */
static bool reduces_to_a_value(char *text)
{
    regmatch_t at;

    while (regexec(&array, text, 1, &at, 0) == 0 ||
           regexec(&object, text, 1, &at, 0) == 0) {
        text[at.rm_so] = 'v';
        memmove(text + at.rm_so + 1, text + at.rm_eo,
                strlen(text + at.rm_eo) + 1);
    }
    return strcmp(text, "v") == 0 || strcmp(text, "s") == 0;
}

static void every_short_structure_is_judged_right(void **state)
{
    static const char *const piece[] = { "{", "}",     "[",  "]",   ",",
                                         ":", "\"k\"", "-1", "true" };
    static const char sketch[] = "{}[],:svv";
    size_t good = 0;

    (void)state;
    regcomp(&array, "\\[([sv](,[sv])*)?\\]", REG_EXTENDED);
    regcomp(&object, "\\{(s:[sv](,s:[sv])*)?\\}", REG_EXTENDED);
    for (size_t length = 1; length <= 6; length++) {
        size_t letter[6] = { 0 };

        do {
            char text[64] = "", model[8] = "";

            for (size_t i = 0; i < length; i++) {
                strcat(text, piece[letter[i]]);
                strncat(model, &sketch[letter[i]], 1);
            }
            if (is_accepted(text) != reduces_to_a_value(model))
                fail_msg("%s is judged wrong", text);
            good += is_accepted(text);
        } while (next_text(letter, length, 9));
    }
    assert_int_equal(good, 41);
    regfree(&array);
    regfree(&object);
}

/* ---- numbers ---- */

static void every_short_number_is_judged_right(void **state)
{
    static const char alphabet[] = "019+-.eE";
    regex_t number;
    size_t good = 0;

    (void)state;
    regcomp(&number, "^-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?$",
            REG_EXTENDED | REG_NOSUB);
    for (size_t length = 1; length <= 6; length++) {
        size_t letter[6] = { 0 };

        do {
            char text[8] = "";
            bool expected;

            for (size_t i = 0; i < length; i++)
                text[i] = alphabet[letter[i]];
            expected = regexec(&number, text, 0, NULL, 0) == 0;
            if (is_accepted(text) != expected)
                fail_msg("%s is judged wrong", text);
            good += expected;
        } while (next_text(letter, length, 8));
    }
    assert_true(good > 1000);
    regfree(&number);
}

static struct mf_json digits(const char *text)
{
    struct mf_json json = { .digits_size = strlen(text) };

    assert_true(json.digits_size < sizeof(json.digits));
    assert_null(mf_json_number_error(text));
    strcpy(json.digits, text);
    return json;
}

static void plain_integers_have_an_edge(void **state)
{
    static const struct {
        const char *text;
        bool plain;
        uint64_t value;
    } rows[] = {
        { "0", true, 0 },
        { "7", true, 7 },
        { "4294967296", true, UINT64_C(1) << 32 },
        { "9223372036854775808", true, UINT64_C(1) << 63 },
        { "18446744073709551609", true, UINT64_MAX - 6 },
        { "18446744073709551615", true, UINT64_MAX },
        { "18446744073709551616", false, 0 },
        { "18446744073709551620", false, 0 },
        { "184467440737095516150", false, 0 },
        { "36893488147419103232", false, 0 },
        { "340282366920938463463374607431768211456", false, 0 },
        { "-0", false, 0 },
        { "-1", false, 0 },
        { "1.0", false, 0 },
        { "1e0", false, 0 },
        { "1E2", false, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct mf_json json = digits(rows[i].text);
        uint64_t value = 0;

        assert_int_equal(mf_json_plain_u64(&json, &value), rows[i].plain);
        if (rows[i].plain)
            assert_int_equal(value, rows[i].value);
    }
}

static void numbers_have_the_type_that_holds_them(void **state)
{
    static const struct {
        const char *text;
        enum mf_value_type type;
        int64_t value; /* of an I64 */
    } rows[] = {
        { "0", MF_VALUE_U64, 0 },
        { "18446744073709551615", MF_VALUE_U64, 0 },
        { "18446744073709551616", MF_VALUE_F64, 0 },
        { "-1", MF_VALUE_I64, -1 },
        { "-9223372036854775807", MF_VALUE_I64, -INT64_MAX },
        { "-9223372036854775808", MF_VALUE_I64, INT64_MIN },
        { "-9223372036854775809", MF_VALUE_F64, 0 },
        { "-18446744073709551615", MF_VALUE_F64, 0 },
        { "-0", MF_VALUE_F64, 0 },
        { "1.0", MF_VALUE_F64, 0 },
        { "10e2", MF_VALUE_F64, 0 },
        { "-1e0", MF_VALUE_F64, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct mf_json json = digits(rows[i].text);
        union mf_number number;

        assert_int_equal(mf_json_number(&json, &number), rows[i].type);
        if (rows[i].type == MF_VALUE_I64)
            assert_int_equal(number.i64, rows[i].value);
        if (rows[i].type == MF_VALUE_U64)
            assert_int_equal(number.u64, strtoull(rows[i].text, NULL, 10));
    }
}

/* As in C's locale, wherever the test runs. */
static double expected_of(const char *text)
{
    char *name = strdup(setlocale(LC_NUMERIC, NULL));
    double value;

    assert_non_null(name);
    setlocale(LC_NUMERIC, "C");
    value = strtod(text, NULL);
    setlocale(LC_NUMERIC, name);
    free(name);
    return value;
}

static void check_double(const char *text)
{
    struct mf_json json = digits(text);
    double expected = expected_of(text);
    union mf_number number;

    assert_int_equal(mf_json_number(&json, &number), MF_VALUE_F64);
    if (memcmp(&number.f64, &expected, sizeof(expected)) != 0)
        fail_msg("%s is read as %.17g", text, number.f64);
}

static void doubles_are_as_in_strtod(void **state)
{
    static const char *const texts[] = {
        "-0",
        "0.0",
        "-0.0e5",
        "0.1",
        "1.7976931348623157e308",
        "1.7976931348623159e308", /* too large: infinite */
        "-1e309",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324", /* half of the smallest: zero */
        "2.4703282292062328e-324",
        "1e99999999999999999999999999999999999",
        "1e-9999999999999999999999999999999999",
        "0.00000000000000000000000000000001e+340",
        "10000000000000000000000000000000e-0340",
        "9007199254740993.0",
        "340282366920938463463374607431768211456",
        "0.1234567890123456789012345678901234567",
    };
    uint64_t bits = 1;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        check_double(texts[i]);
    for (int i = 0; i < 20000; i++) {
        char text[48];
        double value;

        /* Knuth's generator for 64 bits; its high bits are the good ones. */
        bits = bits * UINT64_C(6364136223846793005) +
               UINT64_C(1442695040888963407);
        memcpy(&value, &bits, sizeof(value));
        if (!isfinite(value))
            continue;
        snprintf(text, sizeof(text), "%.*e", 1 + i % 20, value);
        if (strchr(text, ','))
            *strchr(text, ',') = '.';
        check_double(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(every_short_structure_is_judged_right),
        WITH_ENV(every_short_number_is_judged_right),
        WITH_ENV(plain_integers_have_an_edge),
        WITH_ENV(numbers_have_the_type_that_holds_them),
        WITH_ENV(doubles_are_as_in_strtod),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
