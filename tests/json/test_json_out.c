/* SPDX-License-Identifier: MIT
 *
 * test_json_out.c - the JSON writer, read again by the tokenizer
 */
#include <time.h>

#include "lib/base/text.h"
#include "tests/json/json_page.h"

/* ---- structure ---- */

static void commas_are_between_and_nowhere_else(void **state)
{
    struct mf_json_out json = new_page();

    (void)state;
    mf_json_begin(&json, '{');
    mf_json_key(&json, "a");
    mf_json_begin(&json, '[');
    mf_json_end(&json, ']');
    mf_json_key(&json, "b");
    mf_json_begin(&json, '[');
    mf_json_u64(&json, 1);
    mf_json_i64(&json, -2);
    mf_json_f64(&json, 0.5);
    mf_json_bool(&json, true);
    mf_json_bool(&json, false);
    mf_json_null(&json);
    mf_json_digits(&json, "1.50e+0", 7);
    mf_json_string(&json, "s", 1);
    mf_json_begin(&json, '{');
    mf_json_end(&json, '}');
    mf_json_begin(&json, '[');
    mf_json_begin(&json, '[');
    mf_json_end(&json, ']');
    mf_json_end(&json, ']');
    mf_json_u64(&json, 3);
    mf_json_end(&json, ']');
    mf_json_key(&json, "c");
    mf_json_null(&json);
    mf_json_key(&json, "");
    mf_json_string(&json, "", 0);
    mf_json_end(&json, '}');
    assert_string_equal(page.text,
                        "{\"a\":[],\"b\":[1,-2,0.5,true,false,null,1.50e+0,"
                        "\"s\",{},[[]],3],\"c\":null,\"\":\"\"}");
    assert_string_equal(read_page()->text,
                        "{ a: [ ] b: [ 1 -2 0.5 true false null 1.50e+0 's' "
                        "{ } [ [ ] ] 3 ] c: null : '' } .");
}

static void a_key_without_a_value_has_null(void **state)
{
    struct mf_json_out json = new_page();

    (void)state;
    mf_json_begin(&json, '{');
    mf_json_key(&json, "a");
    mf_json_begin(&json, '{');
    mf_json_key(&json, "b");
    mf_json_end(&json, '}');
    mf_json_key(&json, "c");
    mf_json_end(&json, '}');
    assert_string_equal(page.text, "{\"a\":{\"b\":null},\"c\":null}");
}

static void integers_are_written_whole(void **state)
{
    struct mf_json_out json = new_page();

    (void)state;
    mf_json_begin(&json, '[');
    mf_json_u64(&json, 0);
    mf_json_u64(&json, 10);
    mf_json_u64(&json, UINT64_MAX);
    mf_json_i64(&json, 0);
    mf_json_i64(&json, INT64_MAX);
    mf_json_i64(&json, INT64_MIN);
    mf_json_end(&json, ']');
    assert_string_equal(page.text,
                        "[0,10,18446744073709551615,0,9223372036854775807,"
                        "-9223372036854775808]");
}

/* ---- text ---- */

/* Text that means itself when it is read again; with what it looks like. */
#define STR(text) ((struct mf_str){ text, sizeof(text) - 1 })

static void what_a_terminal_minds_is_escaped(void **state)
{
    const struct {
        struct mf_str text;
        const char *written;
    } rows[] = {
        { STR(""), "\"\"" },
        { STR("a/b 'c'"), "\"a/b 'c'\"" },
        { STR("\"\\\b\f\n\r\t"), "\"\\\"\\\\\\b\\f\\n\\r\\t\"" },
        { STR("\"\"a\\\\"), "\"\\\"\\\"a\\\\\\\\\"" },
        { STR("\0\x01\x1b\x1f\x7f"),
          "\"\\u0000\\u0001\\u001b\\u001f\\u007f\"" },
        { STR("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
          "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"" },
        { STR("\xc2\x9b\xe2\x80\xae\xe2\x81\xa9\xef\xbb\xbf"),
          "\"\\u009b\\u202e\\u2069\\ufeff\"" },
        { STR("\xc2\xad\xe2\x80\x8b\xef\xb8\x8f\xf3\xa0\x81\x81"),
          "\"\\u00ad\\u200b\\ufe0f\\udb40\\udc41\"" },
        /* no UTF-8: each byte as four characters */
        { STR("a\xff\xc3"), "\"a\\\\xff\\\\xc3\"" },
        { STR("\xed\xa0\x80\xe2\x82"),
          "\"\\\\xed\\\\xa0\\\\x80\\\\xe2\\\\x82\"" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct mf_json_out json = new_page();

        mf_json_string(&json, rows[i].text.at, rows[i].text.size);
        assert_string_equal(page.text, rows[i].written);
        read_page();
    }
}

static void keys_are_escaped_like_strings(void **state)
{
    struct mf_json_out json = new_page();

    (void)state;
    mf_json_begin(&json, '{');
    mf_json_key(&json, "\"\n\xff\xe2\x80\xae");
    mf_json_null(&json);
    mf_json_open_string(&json);
    mf_json_piece(&json, "in ", 3);
    mf_json_piece(&json, "", 0);
    mf_json_piece(&json, "\"pieces\"", 8);
    mf_json_close_string(&json, true);
    mf_json_open_string(&json);
    mf_json_close_string(&json, false);
    mf_json_end(&json, '}');
    assert_string_equal(page.text, "{\"\\\"\\n\\\\xff\\u202e\":null,"
                                   "\"in \\\"pieces\\\"\":\"\"}");
    assert_string_equal(read_page()->text,
                        "{ \"\n\\xff\xe2\x80\xae: null in \"pieces\": '' } .");
}

static void every_character_is_read_as_it_was_written(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= 0x10ffff; code += code < 0xffff ? 1 : 97) {
        struct mf_json_out json = new_page();
        const struct json_trace *trace;
        char text[10] = "'xxxx' .", *end;
        size_t size = mf_utf8_put(code, text + 1);

        if (code >= 0xd800 && code <= 0xdfff)
            continue;
        mf_json_string(&json, text + 1, size);
        assert_int_equal(mf_text_clean(page.text, page.size), page.size);
        trace = read_page();
        end = text + 1 + size;
        memcpy(end, "' .", 3);
        assert_int_equal(trace->size, size + 4);
        assert_memory_equal(trace->text, text, size + 4);
    }
}

static void pieces_make_the_same_string(void **state)
{
    static const char text[] = "\"two\\\" \n\xc3\xa9\x1b\xe2\x80\xae!";
    char whole[128];
    struct mf_json_out json = new_page();

    (void)state;
    mf_json_string(&json, text, sizeof(text) - 1);
    strcpy(whole, page.text);
    for (size_t cut = 0; cut < sizeof(text); cut++) {
        if (((uint8_t)text[cut] & 0xc0) == 0x80)
            continue;
        json = new_page();
        mf_json_open_string(&json);
        mf_json_piece(&json, text, cut);
        mf_json_piece(&json, text + cut, sizeof(text) - 1 - cut);
        mf_json_close_string(&json, false);
        assert_string_equal(page.text, whole);
    }
}

static void count_bytes(void *user, const char *at, size_t size)
{
    (void)at;
    *(size_t *)user += size;
}

/* A megabyte of quotes takes a moment; looked over from each quote to the end
 * it would take a minute. */
static void quotes_take_no_more_time_than_letters(void **state)
{
    enum { SIZE = 1 << 20 };
    char *text = malloc(SIZE);
    size_t written = 0;
    struct mf_json_out json = { .write = count_bytes, .user = &written };
    clock_t before = clock();

    (void)state;
    assert_non_null(text);
    memset(text, '"', SIZE);
    mf_json_string(&json, text, SIZE);
    free(text);
    assert_int_equal(written, 2 * SIZE + 2);
    assert_true(clock() - before < 5 * CLOCKS_PER_SEC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(commas_are_between_and_nowhere_else),
        WITH_ENV(a_key_without_a_value_has_null),
        WITH_ENV(integers_are_written_whole),
        WITH_ENV(what_a_terminal_minds_is_escaped),
        WITH_ENV(keys_are_escaped_like_strings),
        WITH_ENV(every_character_is_read_as_it_was_written),
        WITH_ENV(pieces_make_the_same_string),
        WITH_ENV(quotes_take_no_more_time_than_letters),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
