/* SPDX-License-Identifier: MIT
 *
 * test_json_walk.c - the tokenizer as formats use it: pieces of text, passing
 * over values, offsets, limits, and files that cannot be read
 */
#include <errno.h>

#include "tests/json/json_document.h"
#include "tests/json/json_trace.h"

static void begin(const char *text, size_t window)
{
    document_open(text, strlen(text), window);
}

static void end(void)
{
    mf_reader_release(&reader);
    mf_clear_error(env);
}

/* ---- text ---- */

/* Pieces as large as fit: only a character that would be split ends one
 * early. */
static void pieces_are_full_and_split_no_character(void **state)
{
    static const struct {
        const char *text, *pieces;
        size_t capacity;
    } rows[] = {
        { "\"\"", "<>", 4 },
        { "\"abc\"", "<abc>", 4 },
        { "\"abcd\"", "<abcd>", 4 },
        { "\"abcde\"", "<abcd<e>", 4 },
        { "\"abcdefgh\"", "<abcd<efgh>", 4 },
        { "\"abc\xc3\xa9\"", "<abc<\xc3\xa9>", 4 },
        { "\"ab\xc3\xa9\"", "<ab\xc3\xa9>", 4 },
        { "\"ab\\u00e9\\n\"", "<ab\xc3\xa9<\n>", 4 },
        { "\"a\\ud83d\\ude00b\"", "<a<\xf0\x9f\x98\x80<b>", 4 },
        { "\"a\\ud83d\\ude00b\"", "<a\xf0\x9f\x98\x80<b>", 5 },
        { "\"abc\\\"\\\\\\/\"", "<abc\"<\\/>", 4 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char pieces[64] = "", piece[16];
        bool more = true;

        begin(rows[i].text, MF_JSON_LOOK);
        assert_int_equal(mf_json_next(&json), MF_JSON_STRING);
        while (more) {
            uint64_t size;

            assert_int_equal(
                mf_json_text(&json, piece, rows[i].capacity, &size, &more),
                MF_OK);
            snprintf(pieces + strlen(pieces), 24, "<%.*s", (int)size, piece);
        }
        assert_string_equal(strcat(pieces, ">"), rows[i].pieces);
        assert_int_equal(mf_json_next(&json), MF_JSON_END);
        end();
    }
}

/* Without a buffer, the rest of a string is measured, whatever was read. */
static void the_rest_of_a_string_is_measured(void **state)
{
    static const char text[] = "[\"0123456789\\u20ac\xc3\xa9 and more\",7]";
    char piece[16];
    uint64_t first, rest;
    bool more;

    (void)state;
    for (size_t capacity = 0; capacity <= sizeof(piece); capacity++) {
        if (capacity > 0 && capacity < 4)
            continue;
        begin(text, MF_JSON_LOOK);
        assert_int_equal(mf_json_next(&json), MF_JSON_BEGIN_ARRAY);
        assert_int_equal(mf_json_next(&json), MF_JSON_STRING);
        first = 0;
        if (capacity > 0)
            mf_json_text(&json, piece, capacity, &first, &more);
        assert_int_equal(mf_json_text(&json, NULL, 0, &rest, &more), MF_OK);
        assert_int_equal(first + rest, 24);
        assert_false(more);
        assert_int_equal(mf_json_next(&json), MF_JSON_NUMBER);
        assert_string_equal(json.digits, "7");
        end();
    }
}

/* Runs of plain bytes of every length between others: the tokenizer looks at
 * eight together. */
static void long_strings_are_whole(void **state)
{
    enum { COUNT = 500 };
    static const char *const kinds[] = { "a", "\xc3\xa9", "\xe2\x82\xac",
                                         "\xf0\x9f\x98\x80" };
    static struct json_trace trace;
    char text[4 * COUNT + 3];

    (void)state;
    for (size_t kind = 0; kind < 4; kind++)
        for (size_t plain = 0; plain < 20; plain++) {
            size_t size = 1, length = strlen(kinds[kind]);

            memset(text, 'x', sizeof(text));
            text[0] = '"';
            for (size_t i = 1; size + length < sizeof(text) - 1; i++) {
                memcpy(text + size, kinds[kind], length);
                size += length + (i % 3 ? 0 : plain);
            }
            if (size > sizeof(text) - 1)
                size = sizeof(text) - 1;
            text[size++] = '"';
            trace_document(text, size, (struct json_way){ 61 + plain, 17 },
                           &trace);
            assert_int_equal(trace.status, MF_OK);
            assert_int_equal(trace.size, size + 2); /* ' and " ." */
            assert_memory_equal(trace.text + 1, text + 1, size - 2);
        }
}

/* ---- walking ---- */

static void values_are_passed_over_to_their_end(void **state)
{
    static const char *const values[] = {
        "1",
        "\"s\\\"s]}\"",
        "null",
        "[]",
        "{}",
        "[1,[2,[3]],\"]\"]",
        "{\"}\":{\"a\":[{},{\"b\":[]}]},\"c\":\"}\"}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        char text[128];

        snprintf(text, sizeof(text), "{\"a\": %s ,\"z\":[%s]}", values[i],
                 values[i]);
        begin(text, MF_JSON_LOOK);
        assert_int_equal(mf_json_next(&json), MF_JSON_BEGIN_OBJECT);
        assert_int_equal(mf_json_next(&json), MF_JSON_KEY);
        assert_int_equal(mf_json_skip(&json, mf_json_next(&json)), MF_OK);
        assert_int_equal(json.depth, 1);
        assert_int_equal(mf_json_next(&json), MF_JSON_KEY);
        assert_int_equal(json.token_offset, strlen(values[i]) + 8);
        assert_int_equal(mf_json_next(&json), MF_JSON_BEGIN_ARRAY);
        assert_int_equal(mf_json_skip(&json, mf_json_next(&json)), MF_OK);
        assert_int_equal(mf_json_next(&json), MF_JSON_END_ARRAY);
        assert_int_equal(mf_json_next(&json), MF_JSON_END_OBJECT);
        assert_int_equal(mf_json_next(&json), MF_JSON_END);
        end();
    }
}

static void passing_over_broken_values_is_an_error(void **state)
{
    static const char *const values[] = { "[1,[2}]", "{\"a\":tru}", "[\"\n\"]",
                                          "[[",      "nil",         "" };

    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        begin(values[i], MF_JSON_LOOK);
        assert_int_equal(mf_json_skip(&json, mf_json_next(&json)),
                         MF_ERR_CORRUPT);
        assert_int_equal(mf_json_next(&json), MF_JSON_ERROR);
        end();
    }
}

/* A token's offset is its first byte; the reader is at its end. */
static void tokens_know_their_offsets(void **state)
{
    static const struct {
        enum mf_json_token token;
        uint64_t offset, end;
    } rows[] = {
        { MF_JSON_BEGIN_OBJECT, 2, 3 },  { MF_JSON_KEY, 4, 5 },
        { MF_JSON_NUMBER, 10, 14 },      { MF_JSON_KEY, 17, 18 },
        { MF_JSON_BEGIN_ARRAY, 21, 22 }, { MF_JSON_TRUE, 22, 26 },
        { MF_JSON_STRING, 28, 29 },      { MF_JSON_END_ARRAY, 32, 33 },
        { MF_JSON_END_OBJECT, 34, 35 },  { MF_JSON_END, 37, 37 },
    };

    (void)state;
    begin("  { \"a\" : -1.5 , \"b\":[true, \"c\" ] }  ", MF_JSON_LOOK);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        assert_int_equal(mf_json_next(&json), rows[i].token);
        assert_int_equal(json.token_offset, rows[i].offset);
        assert_int_equal(mf_reader_offset(&reader), rows[i].end);
    }
    end();
}

/* ---- limits ---- */

/* Brackets that pattern repeats, so many of them, and their ends. */
static size_t nest(char *text, unsigned depth, const char *pattern)
{
    char closing[2 * MF_JSON_DEPTH];
    size_t size = 0;

    for (unsigned i = 0; i < depth; i++) {
        bool object = pattern[i % strlen(pattern)] == '{';

        size += (size_t)sprintf(text + size, object ? "{\"\":" : "[");
        closing[i] = object ? '}' : ']';
    }
    text[size++] = '0';
    while (depth-- > 0)
        text[size++] = closing[depth];
    return size;
}

static void depth_is_bounded(void **state)
{
    static const char *const patterns[] = { "[", "{", "[{", "{[[", "{{{{[" };
    static struct json_trace trace;
    const struct json_way way = { MF_JSON_LOOK, 4 };
    char text[1024];

    (void)state;
    for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
        size_t size = nest(text, MF_JSON_DEPTH, patterns[i]);

        trace_document(text, size, way, &trace);
        assert_int_equal(trace.status, MF_OK);
        text[size - 1] ^= '}' ^ ']'; /* the outermost end is the wrong one */
        trace_document(text, size, way, &trace);
        assert_int_equal(trace.status, MF_ERR_CORRUPT);
        assert_int_equal(trace.offset, size - 1);
        size = nest(text, MF_JSON_DEPTH + 1, patterns[i]);
        trace_document(text, size, way, &trace);
        assert_int_equal(trace.status, MF_ERR_LIMIT);
        assert_non_null(strstr(trace.message, "deeper than 127"));
    }
    nest(text, MF_JSON_DEPTH + 1, "[");
    trace_document(text, strlen(text), way, &trace);
    assert_int_equal(trace.offset, MF_JSON_DEPTH);
}

static void numbers_are_bounded(void **state)
{
    static struct json_trace trace;
    char text[64];

    (void)state;
    for (size_t window = MF_JSON_LOOK; window < 64; window++)
        for (int digits = 38; digits < 50; digits++) {
            int size = snprintf(text, sizeof(text), "[%.*d]", digits, 0);

            memset(text + 1, '3', (size_t)digits);
            trace_document(text, (size_t)size, (struct json_way){ window, 4 },
                           &trace);
            if (digits < 40) {
                assert_int_equal(trace.status, MF_OK);
                continue;
            }
            assert_int_equal(trace.status, MF_ERR_LIMIT);
            assert_int_equal(trace.offset, 1);
            assert_non_null(strstr(trace.message, "more than 39 characters"));
        }
}

/* ---- files that cannot be read ---- */

static struct {
    const char *text; /* behind TRACE_LEAD bytes */
    uint64_t ends;
} failing;

static int64_t failing_read(const struct mf_source *from, uint64_t offset,
                            void *buffer, size_t size, struct mf_io_stats *io)
{
    (void)from, (void)io;
    if (offset >= failing.ends) {
        errno = EIO;
        return -1;
    }
    if (size > failing.ends - offset)
        size = (size_t)(failing.ends - offset);
    memcpy(buffer, failing.text + (offset - TRACE_LEAD), size);
    return (int64_t)size;
}

static uint64_t failing_size(const struct mf_source *from)
{
    return from->size;
}

/* Wherever a read fails, the error says so: it is never a verdict on text that
 * could not be read. */
static void read_errors_are_reported_as_such(void **state)
{
    static const char text[] =
        "{\"a\\u00e9\\ud83d\\ude00\xe2\x82\xac\":[true, "
        "-12.5e7 ,null,false,\"bc\\n\"], \"d\":{}}                       ";
    static const struct mf_source_ops ops = { .read = failing_read,
                                              .size_now = failing_size,
                                              .close = NULL };
    static struct json_trace trace;
    const size_t size = sizeof(text) - 1;

    (void)state;
    source = (struct mf_source){ .ops = &ops, .size = TRACE_LEAD + size };
    for (size_t good = 0; good < size; good++)
        for (size_t window = MF_JSON_LOOK; window < 30; window++)
            for (size_t piece = 0; piece < 8; piece += 4) {
                failing.text = text;
                failing.ends = TRACE_LEAD + good;
                trace_source(&source, size, (struct json_way){ window, piece },
                             &trace);
                assert_int_equal(trace.status, MF_ERR_IO);
                assert_int_equal(trace.offset, good);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DOCUMENT(pieces_are_full_and_split_no_character),
        WITH_DOCUMENT(the_rest_of_a_string_is_measured),
        WITH_DOCUMENT(long_strings_are_whole),
        WITH_DOCUMENT(values_are_passed_over_to_their_end),
        WITH_DOCUMENT(passing_over_broken_values_is_an_error),
        WITH_DOCUMENT(tokens_know_their_offsets),
        WITH_DOCUMENT(depth_is_bounded),
        WITH_DOCUMENT(numbers_are_bounded),
        WITH_DOCUMENT(read_errors_are_reported_as_such),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
