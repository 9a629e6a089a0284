/* SPDX-License-Identifier: MIT
 *
 * test_json.c - the tokenizer: what RFC 8259 allows and what it forbids, with
 * every token cut by the window's end at every place
 */
#include <inttypes.h>

#include "tests/json/json_trace.h"

/* Spaces in front move the document over the ends of the window. */
#define PADS (MF_JSON_LOOK + 1)

struct document {
    const char *at;
    size_t size;
    const char *trace; /* NULL: refused */
    uint64_t offset;   /* and where, and words of the message */
    const char *says;
};

/* A literal may hold NUL bytes. */
#define GOOD(text, trace)                                                      \
    {                                                                          \
        text, sizeof(text) - 1, trace, 0, NULL                                 \
    }
#define BAD(text, offset, says)                                                \
    {                                                                          \
        text, sizeof(text) - 1, NULL, offset, says                             \
    }

static bool is_right(const struct document *document, size_t pad,
                     struct json_way way, const struct json_trace *trace)
{
    if (document->trace)
        return trace->status == MF_OK &&
               (way.piece == 0 || strcmp(trace->text, document->trace) == 0);
    return trace->status == MF_ERR_CORRUPT &&
           trace->offset == pad + document->offset &&
           strstr(trace->message, document->says);
}

static void check_way(const struct document *document, const char *padded,
                      size_t pad, struct json_way way)
{
    static struct json_trace trace;

    trace_document(padded, pad + document->size, way, &trace);
    if (!is_right(document, pad, way, &trace))
        fail_msg("%s behind %zu spaces, window %zu, piece %zu: %s at %" PRIu64
                 " %s",
                 document->at, pad, way.window, way.piece, trace.text,
                 trace.offset, trace.message);
}

static void check(const struct document *document)
{
    static const size_t pieces[] = { 0, 4, 5, 9, 64 };
    char padded[PADS + 256];

    assert_true(document->size <= 256);
    for (size_t pad = 0; pad < PADS; pad++) {
        memset(padded, ' ', pad);
        memcpy(padded + pad, document->at, document->size);
        for (size_t window = MF_JSON_LOOK; window < 18; window++)
            for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++)
                check_way(document, padded, pad,
                          (struct json_way){ window, pieces[i] });
    }
}

#define CHECK_ALL(table)                                                       \
    for (size_t row = 0; row < sizeof(table) / sizeof(*table); row++)          \
    check(&(table)[row])

static void structure_is_read_token_by_token(void **state)
{
    static const struct document table[] = {
        GOOD("[]", "[ ] ."),
        GOOD("{}", "{ } ."),
        GOOD("0", "0 ."),
        GOOD("-1.5E+07", "-1.5E+07 ."),
        GOOD("\"lone\"", "'lone' ."),
        GOOD("true", "true ."),
        GOOD("false", "false ."),
        GOOD("null", "null ."),
        GOOD(" \t\r\n[ \t\r\n] \t\r\n", "[ ] ."),
        GOOD("[[],[[]],{}]", "[ [ ] [ [ ] ] { } ] ."),
        GOOD("[1,-2,3.25,1e5,true,false,null,\"s\"]",
             "[ 1 -2 3.25 1e5 true false null 's' ] ."),
        GOOD("{\"a\":1,\"b\":[2,{\"c\":null}],\"d\":{}}",
             "{ a: 1 b: [ 2 { c: null } ] d: { } } ."),
        GOOD("{ \"a\" : 1 , \"b\" : [ 2 , 3 ] }", "{ a: 1 b: [ 2 3 ] } ."),
        GOOD("{\"\":\"\",\"\":\"\"}", "{ : '' : '' } ."),
        GOOD("{\"a\":1,\"a\":2}", "{ a: 1 a: 2 } ."),
        GOOD("[123456789012345678901234567890123456789]",
             "[ 123456789012345678901234567890123456789 ] ."),
    };

    (void)state;
    CHECK_ALL(table);
}

static void strings_are_unescaped(void **state)
{
    static const struct document table[] = {
        GOOD("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "'\"\\/\b\f\n\r\t' ."),
        GOOD("\"\\u0041\\u00e9\\u00E9\\u20ac\\u20AC\"",
             "'A\xc3\xa9\xc3\xa9\xe2\x82\xac\xe2\x82\xac' ."),
        GOOD("\"\\ud83d\\ude00\\uD83D\\uDE00\"",
             "'\xf0\x9f\x98\x80\xf0\x9f\x98\x80' ."),
        GOOD("\"\\ud800\\udc00\\udbff\\udfff\"",
             "'\xf0\x90\x80\x80\xf4\x8f\xbf\xbf' ."),
        GOOD("\"\\ud7ff\\ue000\\uffff\"",
             "'\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf' ."),
        GOOD("\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf\"",
             "'\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf' ."),
        GOOD("\"\x7f is not a control character here\"",
             "'\x7f is not a control character here' ."),
        GOOD("\"[{]},: 1e5 true // /* */\"", "'[{]},: 1e5 true // /* */' ."),
        GOOD("{\"k\\u00e9y \\ud83d\\ude00, which is long\":\"v\"}",
             "{ k\xc3\xa9y \xf0\x9f\x98\x80, which is long: 'v' } ."),
        GOOD("\"0123456\\n01234567\\n012345678\\n0123456789abcde\\n\"",
             "'0123456\n01234567\n012345678\n0123456789abcde\n' ."),
    };

    (void)state;
    CHECK_ALL(table);
}

static void broken_structure_is_refused(void **state)
{
    static const struct document table[] = {
        BAD("", 0, "ends here, expected a value"),
        BAD("   ", 3, "ends here, expected a value"),
        BAD("\xef\xbb\xbf[]", 0, "0xef, expected a value"),
        BAD("[", 1, "ends here, expected a value or ']'"),
        BAD("[1", 2, "ends here, expected ',' or ']'"),
        BAD("[1,", 3, "ends here, expected a value"),
        BAD("[1,]", 3, "0x5d, expected a value"),
        BAD("[,1]", 1, "0x2c, expected a value or ']'"),
        BAD("[1,,2]", 3, "0x2c, expected a value"),
        BAD("[1 2]", 3, "0x32, expected ',' or ']'"),
        BAD("[1}", 2, "0x7d, expected ',' or ']'"),
        BAD("[1:2]", 2, "0x3a, expected ',' or ']'"),
        BAD("[\"a\":1]", 4, "0x3a, expected ',' or ']'"),
        BAD("]", 0, "0x5d, expected a value"),
        BAD("[]]", 2, "0x5d, expected nothing but white"),
        BAD("[],", 2, "0x2c, expected nothing but white"),
        BAD("[] []", 3, "0x5b, expected nothing but white"),
        BAD("[]\0", 2, "0x00, expected nothing but white"),
        BAD("1 2", 2, "0x32, expected nothing but white"),
        BAD("{", 1, "ends here, expected a key or '}'"),
        BAD("{]", 1, "0x5d, expected a key or '}'"),
        BAD("{,", 1, "0x2c, expected a key or '}'"),
        BAD("{a:1}", 1, "0x61, expected a key or '}'"),
        BAD("{1:1}", 1, "0x31, expected a key or '}'"),
        BAD("{'a':1}", 1, "0x27, expected a key or '}'"),
        BAD("{\"a\"", 4, "ends here, expected ':'"),
        BAD("{\"a\"}", 4, "0x7d, expected ':'"),
        BAD("{\"a\",1}", 4, "0x2c, expected ':'"),
        BAD("{\"a\" 1}", 5, "0x31, expected ':'"),
        BAD("{\"a\":", 5, "ends here, expected a value"),
        BAD("{\"a\":}", 5, "0x7d, expected a value"),
        BAD("{\"a\"::1}", 5, "0x3a, expected a value"),
        BAD("{\"a\":1", 6, "ends here, expected ',' or '}'"),
        BAD("{\"a\":1]", 6, "0x5d, expected ',' or '}'"),
        BAD("{\"a\":1 \"b\":2}", 7, "0x22, expected ',' or '}'"),
        BAD("{\"a\":1,}", 7, "0x7d, expected a key"),
        BAD("{\"a\":1,,\"b\":2}", 7, "0x2c, expected a key"),
        BAD("{\"a\":1,2}", 7, "0x32, expected a key"),
        BAD("[1] // no", 4, "0x2f, expected nothing but white"),
        BAD("[/**/]", 1, "0x2f, expected a value or ']'"),
        BAD("[\v1]", 1, "0x0b, expected a value or ']'"),
        BAD("[\xc2\xa0]", 1, "0xc2, expected a value or ']'"),
    };

    (void)state;
    CHECK_ALL(table);
}

static void broken_words_and_numbers_are_refused(void **state)
{
    static const struct document table[] = {
        BAD("tru", 3, "ends here, expected 'true'"),
        BAD("[tru]", 4, "0x5d, expected 'true'"),
        BAD("[truE]", 4, "0x45, expected 'true'"),
        BAD("[True]", 1, "0x54, expected a value or ']'"),
        BAD("[truex]", 5, "0x78, expected ',' or ']'"),
        BAD("[falsy]", 5, "0x79, expected 'false'"),
        BAD("[nul\0]", 4, "0x00, expected 'null'"),
        BAD("[nan]", 2, "0x61, expected 'null'"),
        BAD("[NaN]", 1, "0x4e, expected a value or ']'"),
        BAD("[Infinity]", 1, "0x49, expected a value or ']'"),
        BAD("[-Infinity]", 2, "0x49, expected a digit"),
        BAD("-", 1, "ends here, expected a digit"),
        BAD("[-]", 2, "0x5d, expected a digit"),
        BAD("[+1]", 1, "0x2b, expected a value or ']'"),
        BAD("[.5]", 1, "0x2e, expected a value or ']'"),
        BAD("[-.5]", 2, "0x2e, numbers are"),
        BAD("[1.]", 3, "0x5d, expected a digit"),
        BAD("[1.e5]", 3, "0x65, numbers are"),
        BAD("[01]", 2, "0x31, numbers are"),
        BAD("[-00]", 3, "0x30, numbers are"),
        BAD("[1e]", 3, "0x5d, expected a digit"),
        BAD("[1e+", 4, "ends here, expected a digit"),
        BAD("[1E-x]", 4, "0x78, expected a digit"),
        BAD("[1e5.5]", 4, "0x2e, numbers are"),
        BAD("[1e5e5]", 4, "0x65, numbers are"),
        BAD("[1.2.3]", 4, "0x2e, numbers are"),
        BAD("[1-2]", 2, "0x2d, numbers are"),
        BAD("[--1]", 2, "0x2d, numbers are"),
        BAD("[0x10]", 2, "0x78, expected ',' or ']'"),
        BAD("[1_000]", 2, "0x5f, expected ',' or ']'"),
        BAD("[123456789012345678901.]", 23, "0x5d, expected a digit"),
    };

    (void)state;
    CHECK_ALL(table);
}

static void broken_strings_are_refused(void **state)
{
    static const struct document table[] = {
        BAD("\"", 1, "ends here, expected a quote"),
        BAD("\"no end", 7, "ends here, expected a quote"),
        BAD("\"no end\\\"", 9, "ends here, expected a quote"),
        BAD("[\"a\nb\"]", 3, "0x0a, a control character"),
        BAD("[\"0123456789\tb\"]", 12, "0x09, a control character"),
        BAD("[\"a\0b\"]", 3, "0x00, a control character"),
        BAD("\"\\", 2, "ends here, expected one of"),
        BAD("\"\\x41\"", 2, "0x78, expected one of"),
        BAD("\"\\U0041\"", 2, "0x55, expected one of"),
        BAD("\"\\'\"", 2, "0x27, expected one of"),
        BAD("\"\\\0\"", 2, "0x00, expected one of"),
        BAD("\"\\u", 3, "ends here, expected four hex"),
        BAD("\"\\u004", 6, "ends here, expected four hex"),
        BAD("\"\\u004\"", 6, "0x22, expected four hex"),
        BAD("\"\\u00g0\"", 5, "0x67, expected four hex"),
        BAD("\"\\u 041\"", 3, "0x20, expected four hex"),
        BAD("\"\\u-041\"", 3, "0x2d, expected four hex"),
        BAD("\"\\u00\xc3\xa9\"", 5, "0xc3, expected four hex"),
        BAD("\"ab\\ud800\"", 3, "\\ud800 is half"),
        BAD("\"ab\\udbffcd\"", 3, "\\udbff is half"),
        BAD("\"\\udc00\\ud800\"", 1, "\\udc00 is half"),
        BAD("\"\\udfff\"", 1, "\\udfff is half"),
        BAD("\"\\udc00\\udc00\"", 1, "\\udc00 is half"),
        BAD("\"\\ud800\\ud800\"", 1, "\\ud800 is half"),
        BAD("\"\\ud83d\\n\"", 1, "\\ud83d is half"),
        BAD("\"\\ud83d\\u0041\"", 1, "\\ud83d is half"),
        BAD("\"\\ud83d\\ue000\"", 1, "\\ud83d is half"),
        BAD("\"\\ud83d\\ude0", 12, "ends here, expected four hex"),
        BAD("\"\\ud83d\\ude0x\"", 12, "0x78, expected four hex"),
        BAD("\"\xff\"", 1, "0xff, a string must"),
        BAD("\"\x80\"", 1, "0x80, a string must"),
        BAD("\"abcdefgh\xc3\"", 9, "0xc3, a string must"),
        BAD("\"\xe2\x82", 1, "0xe2, a string must"),
        BAD("\"\xc0\x80\"", 1, "0xc0, a string must"),
        BAD("\"\xe0\x80\x80\"", 1, "0xe0, a string must"),
        BAD("\"\xed\xa0\x80\"", 1, "0xed, a string must"),
        BAD("\"\xf4\x90\x80\x80\"", 1, "0xf4, a string must"),
        BAD("{\"key\xfe\":1}", 5, "0xfe, a string must"),
        BAD("{\"k\\q\":1}", 4, "0x71, expected one of"),
    };

    (void)state;
    CHECK_ALL(table);
}

/* Every byte at every place. */
static void every_byte_has_its_place(void **state)
{
    static char plain[128]; /* ASCII that stands for itself in a string */
    char *to = plain;
    const struct {
        const char *before, *after, *allowed;
    } places[] = {
        { "", "", "0123456789" },
        { "[", "]", " \t\r\n0123456789" },
        { "[0", "1]", ",.eE" },
        { "[true", "]", " \t\r\n" },
        { "{\"a\"", "1}", ":" },
        { "{", "\"a\":1}", " \t\r\n" },
        { "\"0123456\\", "\"", "\"\\/bfnrt" },
        { "\"0123456", "\"", plain },
    };
    static struct json_trace trace;

    (void)state;
    for (int byte = 0x20; byte < 0x80; byte++)
        if (byte != '"' && byte != '\\')
            *to++ = (char)byte;
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
        for (int byte = 0; byte < 256; byte++) {
            bool good = byte > 0 && strchr(places[i].allowed, byte);
            char text[32];
            int size = snprintf(text, sizeof(text), "%s%c%s", places[i].before,
                                byte, places[i].after);

            trace_document(text, (size_t)size,
                           (struct json_way){ MF_JSON_LOOK, 8 }, &trace);
            assert_int_equal(trace.status, good ? MF_OK : MF_ERR_CORRUPT);
        }
}

/* A document that is cut off is refused where it ends, or where the character
 * starts that the cut left half. */
static void every_prefix_is_refused_at_its_end(void **state)
{
    static const char text[] =
        "{\"name\":[true, false,null,-12.5e+3],\"\\u00e9\xe2\x82\xac\":"
        "\"\\ud83d\\ude00 \xf0\x9f\x98\x80 \\n\",\"c\":{\"d\":[[]]}}";
    static struct json_trace trace;

    (void)state;
    for (size_t size = 0; size < sizeof(text); size++)
        for (size_t window = MF_JSON_LOOK; window < 40; window++) {
            trace_document(text, size, (struct json_way){ window, 6 }, &trace);
            if (size == sizeof(text) - 1) {
                assert_int_equal(trace.status, MF_OK);
                continue;
            }
            assert_int_equal(trace.status, MF_ERR_CORRUPT);
            assert_true(trace.offset <= size);
            assert_true(size - trace.offset < MF_JSON_LOOK);
            assert_true(strstr(trace.message, "ends here") ||
                        strstr(trace.message, "UTF-8") ||
                        strstr(trace.message, "is half"));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(structure_is_read_token_by_token),
        WITH_ENV(strings_are_unescaped),
        WITH_ENV(broken_structure_is_refused),
        WITH_ENV(broken_words_and_numbers_are_refused),
        WITH_ENV(broken_strings_are_refused),
        WITH_ENV(every_byte_has_its_place),
        WITH_ENV(every_prefix_is_refused_at_its_end),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
