/* SPDX-License-Identifier: MIT
 *
 * test_text.c - UTF-8, and which characters may go to a terminal
 */
#define _XOPEN_SOURCE 700 /* wcwidth */
#include <locale.h>
#include <wchar.h>

#include "lib/base/text.h"
#include "tests/support.h"

/* Table 3-7 of the Unicode standard: well-formed UTF-8 byte by byte. */
static const struct {
    uint8_t length;
    uint8_t range[4][2];
} well_formed[] = {
    { 1, { { 0x00, 0x7f } } },
    { 2, { { 0xc2, 0xdf }, { 0x80, 0xbf } } },
    { 3, { { 0xe0, 0xe0 }, { 0xa0, 0xbf }, { 0x80, 0xbf } } },
    { 3, { { 0xe1, 0xec }, { 0x80, 0xbf }, { 0x80, 0xbf } } },
    { 3, { { 0xed, 0xed }, { 0x80, 0x9f }, { 0x80, 0xbf } } },
    { 3, { { 0xee, 0xef }, { 0x80, 0xbf }, { 0x80, 0xbf } } },
    { 4, { { 0xf0, 0xf0 }, { 0x90, 0xbf }, { 0x80, 0xbf }, { 0x80, 0xbf } } },
    { 4, { { 0xf1, 0xf3 }, { 0x80, 0xbf }, { 0x80, 0xbf }, { 0x80, 0xbf } } },
    { 4, { { 0xf4, 0xf4 }, { 0x80, 0x8f }, { 0x80, 0xbf }, { 0x80, 0xbf } } },
};

/* The length of the character that size bytes start, in *cut 0; or 0, and in
 * *cut whether more bytes could make it one. */
static size_t by_the_table(const uint8_t *at, size_t size, bool *cut)
{
    *cut = false;
    for (size_t row = 0; row < sizeof(well_formed) / sizeof(*well_formed);
         row++) {
        size_t length = well_formed[row].length, i = 0;

        while (i < length && i < size &&
               at[i] >= well_formed[row].range[i][0] &&
               at[i] <= well_formed[row].range[i][1])
            i++;
        if (i == length)
            return length;
        if (i == size)
            *cut = true;
    }
    return 0;
}

/* Bytes around every border of the table. */
static const uint8_t borders[] = { 0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f,
                                   0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0,
                                   0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1,
                                   0xf3, 0xf4, 0xf5, 0xf7, 0xf8, 0xff };

/* The next text of such bytes; false after the last one. */
static bool next_text(size_t *border, size_t size, char *text)
{
    bool carry = true;

    for (size_t i = 0; i < size; i++) {
        if (carry)
            border[i]++;
        carry = border[i] == sizeof(borders);
        if (carry)
            border[i] = 0;
        text[i] = (char)borders[border[i]];
    }
    return !carry;
}

static void characters_are_as_in_the_standard(void **state)
{
    (void)state;
    for (size_t size = 1; size <= 4; size++) {
        size_t border[4] = { 0 };
        char *text = calloc(1, size); /* exact, so that reading past shows */

        do {
            uint32_t code = 0xabcdef;
            bool cut;
            size_t length = by_the_table((const uint8_t *)text, size, &cut);

            assert_int_equal(mf_utf8_next(text, size, &code), length);
            assert_true((length == 0) == (code == 0xabcdef));
            if (length == size)
                assert_true(mf_text_is_utf8(text, size));
            if (length == 0)
                assert_false(mf_text_is_utf8(text, size));
        } while (next_text(border, size, text));
        free(text);
    }
}

static void every_code_point_survives(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        bool surrogate = code >= 0xd800 && code <= 0xdfff;
        uint32_t again = 0xabcdef;
        char text[4];
        size_t size = mf_utf8_put(code, text);

        assert_int_equal(mf_utf8_next(text, size, &again),
                         surrogate ? 0 : size);
        assert_int_equal(again, surrogate ? 0xabcdef : code);
        assert_int_equal(mf_utf8_next(text, size - (size > 1), &again),
                         size > 1 ? 0 : 1);
    }
}

/* Only a character that the end cuts off is left for later. */
static void whole_text_ends_before_a_cut_character(void **state)
{
    (void)state;
    for (size_t size = 1; size <= 4; size++) {
        size_t border[4] = { 0 };
        char text[4] = { 0 };

        do {
            size_t expected = size;
            bool cut;

            for (size_t i = size; i-- > 0 && size - i <= 3;) {
                by_the_table((const uint8_t *)text + i, size - i, &cut);
                if (cut)
                    expected = i;
            }
            assert_int_equal(mf_utf8_whole(text, size), expected);
        } while (next_text(border, size, text));
    }
    assert_int_equal(mf_utf8_whole("", 0), 0);
}

/* ---- what may be shown ---- */

/* Of the Unicode standard: the property Default_Ignorable_Code_Point as
 * DerivedCoreProperties.txt lists it, the general categories Cc, Zl, Zp and
 * what is left of Cf, and the two that XML lacks. */
static bool is_ignorable(uint32_t code)
{
    return code == 0xad || code == 0x34f || code == 0x61c ||
           (code >= 0x115f && code <= 0x1160) ||
           (code >= 0x17b4 && code <= 0x17b5) ||
           (code >= 0x180b && code <= 0x180f) ||
           (code >= 0x200b && code <= 0x200f) ||
           (code >= 0x202a && code <= 0x202e) ||
           (code >= 0x2060 && code <= 0x206f) || code == 0x3164 ||
           (code >= 0xfe00 && code <= 0xfe0f) || code == 0xfeff ||
           code == 0xffa0 || (code >= 0xfff0 && code <= 0xfff8) ||
           (code >= 0x1bca0 && code <= 0x1bca3) ||
           (code >= 0x1d173 && code <= 0x1d17a) ||
           (code >= 0xe0000 && code <= 0xe0fff);
}

static bool is_refused(uint32_t code)
{
    static const uint32_t single[] = {
        0x600,   0x601,   0x602,  0x603,  0x604,  0x605,  0x6dd,
        0x70f,   0x890,   0x891,  0x8e2,  0xfff9, 0xfffa, 0xfffb,
        0x110bd, 0x110cd, 0x2028, 0x2029, 0xfffe, 0xffff
    };

    if (is_ignorable(code) || (code >= 0x13430 && code <= 0x1343f))
        return true;

    for (size_t i = 0; i < sizeof(single) / sizeof(*single); i++)
        if (code == single[i])
            return true;
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

static void every_code_point_is_clean_or_escaped(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        char text[4], escape[12], expected[12];
        size_t size = mf_utf8_put(code, text);

        if (code >= 0xd800 && code <= 0xdfff)
            continue;
        assert_int_equal(mf_text_clean(text, size),
                         is_refused(code) ? 0 : size);
        if (!is_refused(code))
            continue;
        snprintf(expected, sizeof(expected),
                 code < 0x80      ? "\\x%02x"
                 : code < 0x10000 ? "\\u%04x"
                                  : "\\U%08x",
                 (unsigned)code);
        if (code == '\n' || code == '\r' || code == '\t')
            snprintf(expected, sizeof(expected), "\\%c",
                     code == '\n'   ? 'n'
                     : code == '\r' ? 'r'
                                    : 't');
        assert_int_equal(mf_text_escape(text, size, escape), size);
        assert_string_equal(escape, expected);
    }
}

/* One byte that may not be shown, anywhere in text long enough for the words
 * in which it is looked over. */
static void text_is_clean_up_to_the_first_fault(void **state)
{
    static const struct {
        const char *at;
        size_t size;
        bool clean, utf8;
    } faults[] = {
        { "~", 1, true, true },
        { "\x1f", 1, false, true },
        { "\0", 1, false, true },
        { "\x7f", 1, false, true },
        { "\x80", 1, false, false },
        { "\xff", 1, false, false },
        { "\xc3\xa9", 2, true, true },
        { "\xc2\x9b", 2, false, true },
        { "\xe2\x80\xae", 3, false, true },
        { "\xe2\x82", 2, false, false },
        { "\xf0\x9f\x98\x80", 4, true, true },
        { "\xf4\x90\x80\x80", 4, false, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
        for (size_t size = faults[i].size; size < 40; size++)
            for (size_t at = 0; at <= size - faults[i].size; at++) {
                char *text = malloc(size); /* exact */

                memset(text, ' ' + (int)(size + at) % 95, size);
                memcpy(text + at, faults[i].at, faults[i].size);
                assert_int_equal(mf_text_clean(text, size),
                                 faults[i].clean ? size : at);
                assert_int_equal(mf_text_is_utf8(text, size), faults[i].utf8);
                free(text);
            }
    assert_int_equal(mf_text_clean("", 0), 0);
    assert_true(mf_text_is_utf8("", 0));
}

static void invalid_bytes_are_escaped_one_by_one(void **state)
{
    static const struct {
        const char *text, *escape;
    } rows[] = {
        { "\xff"
          "a",
          "\\xff" },
        { "\x80", "\\x80" },
        { "\xc3", "\\xc3" },
        { "\xe2\x82", "\\xe2" },
        { "\xed\xa0\x80", "\\xed" },
        { "\xc0\x80", "\\xc0" },
        { "\xf4\x90\x80\x80", "\\xf4" },
    };
    char escape[12];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        assert_int_equal(
            mf_text_escape(rows[i].text, strlen(rows[i].text), escape), 1);
        assert_string_equal(escape, rows[i].escape);
    }
    assert_int_equal(mf_text_escape("", 0, escape), 0);
    assert_string_equal(escape, "");
}

/* ---- whole texts ---- */

#define STR(text) ((struct mf_str){ text, sizeof(text) - 1 })

static void text_that_fits_is_escaped_and_no_more(void **state)
{
    const struct {
        struct mf_str text;
        const char *expected;
    } rows[] = {
        { STR(""), "" },
        { STR("plain \\ \"text\""), "plain \\ \"text\"" },
        { STR("a\nb\tc\rd"), "a\\nb\\tc\\rd" },
        { STR("\x1b[31mred\x1b[0m"), "\\x1b[31mred\\x1b[0m" },
        { STR("nul\0in"), "nul\\x00in" },
        { STR("\xc2\x9b"
              "31m"),
          "\\u009b31m" },
        { STR("a\xe2\x80\xae"
              "b"),
          "a\\u202eb" },
        { STR("\xef\xbb\xbf!"), "\\ufeff!" },
        { STR("\xc3\xa9\xff\xe2\x82"), "\xc3\xa9\\xff\\xe2\\x82" },
    };
    char out[64];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        size_t exact = strlen(rows[i].expected) + 1;

        mf_text_escape_all(rows[i].text, out, sizeof(out));
        assert_string_equal(out, rows[i].expected);
        if (exact < 16)
            continue;
        mf_text_escape_all(rows[i].text, out, exact);
        assert_string_equal(out, rows[i].expected);
    }
}

/* Text is cut between characters and escapes, as late as "..." allows. */
static void long_text_is_cut_where_it_fits(void **state)
{
    static const char text[] = "ab\x1b\xc3\xa9\xe2\x80\xae\xf0\x9f\x98\x80zz"
                               "\n\xff"
                               "123456789\xe2\x82\xac"
                               "end of it";
    static const char shown[] = "ab\\x1b\xc3\xa9\\u202e\xf0\x9f\x98\x80zz"
                                "\\n\\xff"
                                "123456789\xe2\x82\xac"
                                "end of it";
    /* Where pieces of shown begin, up to where the longest cut can be. */
    static const bool border[sizeof(shown)] = {
        [0] = true,  [1] = true,  [2] = true,  [6] = true,  [8] = true,
        [14] = true, [18] = true, [19] = true, [20] = true, [22] = true,
        [26] = true, [27] = true, [28] = true, [29] = true, [30] = true,
        [31] = true, [32] = true, [33] = true, [34] = true, [35] = true,
        [38] = true, [39] = true, [40] = true, [41] = true, [42] = true,
        [43] = true, [44] = true, [45] = true, [46] = true,
    };

    (void)state;
    for (size_t room = 16; room <= sizeof(shown); room++) {
        char *out = malloc(room), expected[sizeof(shown) + 4];
        size_t cut = room - sizeof("...");

        while (!border[cut])
            cut--;
        snprintf(expected, sizeof(expected), "%.*s...", (int)cut, shown);
        if (room == sizeof(shown))
            memcpy(expected, shown, sizeof(shown));
        mf_text_escape_all(STR(text), out, room);
        assert_string_equal(out, expected);
        free(out);
    }
}

/* Of what both know: another version of Unicode has other characters.  The C
 * library gives letters without a form of their own (Cf) no width; those are
 * escaped, or printed as they are as terminals show them. */
static void widths_are_as_in_the_c_library(void **state)
{
    size_t compared = 0, differ = 0;

    (void)state;
#if !defined(__GLIBC__)
    skip(); /* musl has widths of its own */
#endif
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        skip();
    for (uint32_t code = 0xa0; code <= 0x2fffd; code++) {
        int wanted = wcwidth((wchar_t)code);
        char text[4];
        size_t size;

        if (wanted < 0 || (code >= 0xd800 && code <= 0xf8ff))
            continue;
        size = mf_utf8_put(code, text);
        if (mf_text_clean(text, size) < size)
            continue;
        compared++;
        differ += mf_text_width(text, size) != (size_t)wanted;
    }
    setlocale(LC_CTYPE, "C");
    assert_true(compared > 100000);
    assert_true(differ < 100);
}

static void texts_have_the_sum_of_their_widths(void **state)
{
    static const struct {
        const char *text;
        size_t width;
    } texts[] = {
        { "", 0 },           { "abc", 3 },           { "\u00e9", 1 },
        { "e\u0301", 1 },    { "\u65e5\u672c", 4 },  { "a\uff21", 3 },
        { "\U0001f600", 2 }, { "\ud55c\uae00!", 5 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        assert_int_equal(mf_text_width(texts[i].text, strlen(texts[i].text)),
                         texts[i].width);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_are_as_in_the_standard),
        cmocka_unit_test(every_code_point_survives),
        cmocka_unit_test(whole_text_ends_before_a_cut_character),
        cmocka_unit_test(every_code_point_is_clean_or_escaped),
        cmocka_unit_test(text_is_clean_up_to_the_first_fault),
        cmocka_unit_test(invalid_bytes_are_escaped_one_by_one),
        cmocka_unit_test(text_that_fits_is_escaped_and_no_more),
        cmocka_unit_test(long_text_is_cut_where_it_fits),
        cmocka_unit_test(widths_are_as_in_the_c_library),
        cmocka_unit_test(texts_have_the_sum_of_their_widths),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
