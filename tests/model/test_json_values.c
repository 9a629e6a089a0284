/* SPDX-License-Identifier: MIT
 *
 * test_json_values.c - JSON values read event by event
 */
#include <inttypes.h>

#include "lib/model/values.h"
#include "tests/json/json_document.h"

#define PIECE 4096

static union {
    struct mf_values values;
    char room[sizeof(struct mf_values) + PIECE];
} memory;
#define values memory.values

static int values_teardown(void **state)
{
    mf_reader_release(&values.reader);
    return document_teardown(state);
}

#define WITH_VALUES(test)                                                      \
    cmocka_unit_test_setup_teardown(test, document_setup, values_teardown)

/* The next event as text; false at the end. */
static bool next_event(char *out, size_t room)
{
    static const char *const events[] = { "item", "key", "begin", "end",
                                          "done" };
    struct mf_value value = { .event = MF_EVENT_DONE };

    assert_int_equal(mf_json_value_next(&values, &value), MF_OK);
    snprintf(out, room, "%s", events[value.event]);
    if (value.event == MF_EVENT_DONE)
        return false;
    if (value.event != MF_EVENT_KEY)
        snprintf(out + strlen(out), room - strlen(out), " %s",
                 mf_value_type_name(value.type));
    if (value.event == MF_EVENT_BEGIN && value.type == MF_VALUE_ARRAY)
        snprintf(out + strlen(out), room - strlen(out), " %" PRIu64 " %s",
                 value.count, mf_value_type_name(value.of));
    if (value.text.at)
        snprintf(out + strlen(out), room - strlen(out), " %.*s",
                 (int)value.text.size, value.text.at);
    if (value.more)
        strcat(out, "...");
    return true;
}

static void begin_values(const char *text, size_t size, size_t window)
{
    struct mf_meta meta = { 0 };

    document_open(text, size, window);
    assert_int_equal(
        mf_json_read_meta(&json, mf_json_next(&json), &arena, &meta), MF_OK);
    mf_reader_release(&reader);
    values =
        (struct mf_values){ .env = env, .piece_room = PIECE, .meta = meta };
    assert_int_equal(
        mf_reader_init_span(&values.reader, env, &source, meta.span, window),
        MF_OK);
}

static void nested_values_are_read_in_order(void **state)
{
    static const char text[] =
        " {\"a\":[1,-2,3.50,true,null,\"s\\n\"],\"\":{},\"b\":[[]]} ";
    static const char *const events[] = {
        "begin object",        "key a",       "begin array 0 mixed",
        "item u64 1",          "item i64 -2", "item f64 3.50",
        "item bool",           "item null",   "item string s\n",
        "end array",           "key ",        "begin object",
        "end object",          "key b",       "begin array 0 mixed",
        "begin array 0 mixed", "end array",   "end array",
        "end object",          "done",
    };
    char event[64];

    (void)state;
    for (size_t window = MF_JSON_LOOK; window < 64; window++) {
        begin_values(text, sizeof(text) - 1, window);
        for (size_t i = 0; i < COUNT(events); i++) {
            assert_int_equal(next_event(event, sizeof(event)),
                             i + 1 < COUNT(events));
            assert_string_equal(event, events[i]);
        }
        assert_true(values.done);
        mf_reader_release(&values.reader);
    }
}

static void single_values_are_one_event(void **state)
{
    static const struct {
        const char *text, *event;
    } rows[] = {
        { "7", "item u64 7" },      { "-0.50", "item f64 -0.50" },
        { "null", "item null" },    { "\"text\"", "item string text" },
        { "\"\"", "item string " },
    };
    char event[64];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        begin_values(rows[i].text, strlen(rows[i].text), MF_JSON_LOOK);
        assert_true(next_event(event, sizeof(event)));
        assert_string_equal(event, rows[i].event);
        assert_false(next_event(event, sizeof(event)));
        mf_reader_release(&values.reader);
    }
    begin_values("[[1,2],[3]]", 11, MF_JSON_LOOK);
    next_event(event, sizeof(event));
    assert_string_equal(event, "begin array 2 array");
    mf_reader_release(&values.reader);
}

/* Keys and strings longer than the buffer of values come in pieces, whole
 * characters each. */
static void long_text_is_read_in_pieces(void **state)
{
    const size_t count = 5000;
    char *text = malloc(4 * count + 64), *to = text;
    size_t seen[2] = { 0 }, pieces[2] = { 0 };
    struct mf_value value;

    (void)state;
    assert_non_null(text);
    for (int part = 0; part < 2; part++) {
        to += sprintf(to, part ? ":\"x" : "{\"");
        for (size_t i = 0; i < count; i++)
            to += sprintf(to, "\xc3\xa9");
        *to++ = '"';
    }
    *to++ = '}';
    begin_values(text, (size_t)(to - text), 100);
    do {
        value = (struct mf_value){ .event = MF_EVENT_DONE };
        assert_int_equal(mf_json_value_next(&values, &value), MF_OK);
        if (value.event == MF_EVENT_KEY || value.event == MF_EVENT_ITEM) {
            bool item = value.event == MF_EVENT_ITEM;

            assert_true(mf_text_is_utf8(value.text.at, value.text.size));
            seen[item] += value.text.size;
            pieces[item]++;
            assert_int_equal(value.more, seen[item] < 2 * count + item);
        }
    } while (value.event != MF_EVENT_DONE);
    assert_int_equal(seen[0], 2 * count);
    assert_int_equal(seen[1], 2 * count + 1);
    assert_int_equal(pieces[0], 3);
    assert_int_equal(pieces[1], 3);
    mf_reader_release(&values.reader);
    free(text);
}

/* A file can change after it was opened.  Its error is reported once, then
 * the value ends. */
static void broken_values_end(void **state)
{
    static const char *const texts[] = { "[1,}", "[\"a\\x\"]", "{\"a\" 1}",
                                         "[1", "tru" };

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct mf_value value = { .event = MF_EVENT_DONE };

        document_open(texts[i], strlen(texts[i]), MF_JSON_LOOK);
        values = (struct mf_values){ .env = env,
                                     .next = mf_json_value_next,
                                     .piece_room = PIECE,
                                     .reader = reader };
        reader.window = NULL; /* it is with the values now */
        while (mf_values_next(&values, &value) == MF_OK)
            assert_int_not_equal(value.event, MF_EVENT_DONE);
        assert_int_equal(env->error.status, MF_ERR_CORRUPT);
        assert_int_equal(mf_values_next(&values, &value), MF_OK);
        assert_int_equal(value.event, MF_EVENT_DONE);
        mf_reader_release(&values.reader);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_VALUES(nested_values_are_read_in_order),
        WITH_VALUES(single_values_are_one_event),
        WITH_VALUES(long_text_is_read_in_pieces),
        WITH_VALUES(broken_values_end),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
