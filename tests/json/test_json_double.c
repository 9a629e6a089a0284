/* SPDX-License-Identifier: MIT
 *
 * test_json_double.c - doubles in JSON: as few digits as give them back
 */
#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>

#include "tests/json/json_page.h"
#include "tests/scratch.h"

static double from_bits(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* The mantissa of written digits as a whole number, without trailing zeros, and
 * how many digits it has. */
static size_t mantissa(const char *text)
{
    char digits[32];
    size_t size = 0;

    for (; *text && *text != 'e'; text++)
        if (*text >= '0' && *text <= '9' && (size > 0 || *text != '0'))
            digits[size++] = *text;
    while (size > 0 && digits[size - 1] == '0')
        size--;
    return size;
}

/* True where a number of that many digits is read as value: if any is, it is
 * one of the two around value. */
static bool fits_in(double value, size_t count)
{
    char text[64], around[64];
    uint64_t digits = 0;
    int exponent;

    snprintf(text, sizeof(text), "%.40e", fabs(value));
    for (size_t i = 0; i < count; i++)
        digits = 10 * digits + (uint64_t)(text[i + (i > 0)] - '0');
    exponent = atoi(strchr(text, 'e') + 1) - (int)count + 1;
    for (uint64_t up = 0; up < 2; up++) {
        snprintf(around, sizeof(around), "%" PRIu64 "e%d", digits + up,
                 exponent);
        if (strtod(around, NULL) == fabs(value))
            return true;
    }
    return false;
}

static void check_double(double value)
{
    struct mf_json_out json = new_page();
    double again;
    size_t count;

    mf_json_f64(&json, value);
    again = strtod(page.text, NULL);
    if (memcmp(&again, &value, sizeof(value)) != 0)
        fail_msg("%.17g is written as %s", value, page.text);
    count = mantissa(page.text);
    if (count > 1 && fits_in(value, count - 1))
        fail_msg("%.17g is written with %zu digits, %s", value, count,
                 page.text);
    assert_true(read_page()->size == page.size + 2); /* " ." */
}

static void doubles_come_back_from_their_fewest_digits(void **state)
{
    static const double values[] = {
        0.0,         1.0,
        0.1,         1.0 / 3,
        100.0,       1e15,
        1e16,        1e17,
        1e21,        1e22,
        1e23,        5e-324,
        DBL_MIN,     DBL_MAX,
        123456.,     1e-5,
        0.0001,      2e-323,
        1e100,       0.3,
        9.95,        1.5e300,
        DBL_EPSILON, 9007199254740993.,
        4.35,        2.2250738585072011e-308,
    };
    uint64_t bits = 1;

    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        check_double(values[i]);
        check_double(-values[i]);
    }
    /* Powers of two, and their neighbours: from all bits below the exponent
     * to the exponent alone. */
    for (uint64_t power = 0; power < 52; power++)
        check_double(from_bits((uint64_t)1 << power));
    for (uint64_t exponent = 1; exponent < 2047; exponent++)
        for (uint64_t near = 0; near < 3; near++)
            check_double(from_bits((exponent << 52) + near - 1));
    for (int i = 0; i < 20000; i++) {
        double value = from_bits(bits);

        bits = bits * UINT64_C(6364136223846793005) +
               UINT64_C(1442695040888963407);
        if (isfinite(value))
            check_double(value);
        check_double((double)(bits >> 40) / 1000); /* few digits */
        check_double((double)(float)(bits >> 20) * 1e-9);
    }
}

static void doubles_that_json_lacks_are_strings(void **state)
{
    struct mf_json_out json = new_page();

    (void)state;
    mf_json_begin(&json, '[');
    mf_json_f64(&json, NAN);
    mf_json_f64(&json, -NAN);
    mf_json_f64(&json, INFINITY);
    mf_json_f64(&json, -INFINITY);
    mf_json_end(&json, ']');
    assert_string_equal(page.text, "[\"nan\",\"nan\",\"inf\",\"-inf\"]");
}

/* A locale with a decimal comma in the scratch folder; false without localedef.
 * It is given the list of characters, too: few systems have it. */
static bool make_locale(void)
{
    char command[2048];
    FILE *file = fopen(scratch_path("comma.txt"), "w");

    assert_non_null(file);
    fputs("comment_char %\nescape_char /\nLC_NUMERIC\ndecimal_point \",\"\n"
          "thousands_sep \".\"\ngrouping 3;3\nEND LC_NUMERIC\n",
          file);
    assert_int_equal(fclose(file), 0);
    file = fopen(scratch_path("ascii.txt"), "w");
    assert_non_null(file);
    fputs("<code_set_name> ANSI_X3.4-1968\n<comment_char> %\n"
          "<escape_char> /\n<mb_cur_min> 1\n<mb_cur_max> 1\nCHARMAP\n",
          file);
    for (int i = 0; i < 128; i++)
        fprintf(file, "<U%04X> /x%02x X\n", (unsigned)i, (unsigned)i);
    fputs("END CHARMAP\n", file);
    assert_int_equal(fclose(file), 0);
    /* It warns of each category that is not there, and ends with 1. */
    snprintf(command, sizeof(command),
             "localedef -c -f %s -i %s %s >/dev/null 2>&1",
             scratch_path("ascii.txt"), scratch_path("comma.txt"),
             scratch_path("comma"));
    if (system(command) == -1)
        return false;
    return setenv("LOCPATH", scratch_folder, 1) == 0 &&
           setlocale(LC_NUMERIC, "comma");
}

static void remove_locale(void)
{
    char command[600];

    snprintf(command, sizeof(command), "rm -rf %s", scratch_path("comma"));
    assert_int_equal(system(command), 0);
}

static void a_locale_changes_no_number(void **state)
{
    struct mf_json_out json = new_page();
    struct mf_json number = { .digits = "-12.5e1", .digits_size = 7 };
    union mf_number value;
    char comma[8];

    (void)state;
#if !defined(__GLIBC__)
    skip(); /* musl has no locale with a comma */
#endif
    if (!make_locale()) {
        remove_locale();
        skip(); /* there is no localedef here */
    }
    snprintf(comma, sizeof(comma), "%.1f", 0.5);
    mf_json_f64(&json, -1.25e-7);
    mf_json_number(&number, &value);
    setlocale(LC_NUMERIC, "C");
    remove_locale();
    assert_string_equal(comma, "0,5");
    assert_string_equal(page.text, "-1.25e-07");
    assert_true(value.f64 == -125);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(doubles_come_back_from_their_fewest_digits),
        WITH_ENV(doubles_that_json_lacks_are_strings),
        WITH_ENV(a_locale_changes_no_number),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
