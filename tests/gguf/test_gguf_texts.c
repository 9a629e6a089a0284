/* SPDX-License-Identifier: MIT
 *
 * test_gguf_texts.c - strings that opening leaves in the file are looked at by
 * mf_model_validate, in pieces
 */
#include "tests/image.h"
#include "tests/with_env.h"

#define LONG 300000 /* more than two windows */

/* A version 3 file without tensors whose only value is of that type; the value
 * comes next. */
static void begin(uint32_t type)
{
    image.size = 0;
    put("GGUF", 4);
    put_number(3, 4);
    put_number(0, 8);
    put_number(1, 8);
    put_number(4, 8);
    put("text", 4);
    put_number(type, 4);
}

/* `ascii` letters and then two-byte characters, LONG bytes and the rest of the
 * last character: windows end within one of them for every other ascii. */
static size_t put_long(size_t ascii)
{
    size_t start;

    put_number(LONG + ((LONG - ascii) & 1), 8);
    start = image.size;
    for (size_t i = 0; i < ascii; i++)
        put("a", 1);
    while (image.size < start + LONG)
        put("\xc3\xa9", 2);
    return start;
}

/* How many findings of the rule there are; *last is the last of them, and
 * message its sentence, which is gone with the model. */
static char message[320];

static size_t found(struct mf_finding *last)
{
    struct mf_finding finding;
    struct mf_model *model;
    size_t count = 0;

    if (mf_model_open_memory(env, "made.gguf", image.at, image.size, NULL,
                             &model) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    assert_false(find_rule(model, "GGUF-TEXT-UTF8", &finding));
    assert_int_equal(mf_model_validate(model), MF_OK);
    for (size_t i = 0; mf_finding_at(model, i, &finding); i++)
        if (strcmp(finding.rule, "GGUF-TEXT-UTF8") == 0) {
            *last = finding;
            snprintf(message, sizeof(message), "%s", finding.message);
            count++;
        }
    mf_model_close(model);
    return count;
}

static void a_character_may_span_two_windows(void **state)
{
    struct mf_finding finding;

    (void)state;
    for (size_t ascii = 0; ascii < 5; ascii++) {
        begin(MF_VALUE_STRING);
        put_long(ascii);
        assert_int_equal(found(&finding), 0);
    }
}

/* Half a character, a byte of none, a NUL: anywhere. */
static void a_bad_byte_is_found_anywhere(void **state)
{
    static const uint8_t bytes[] = { 'a', 0xff, 0 };
    struct mf_finding finding;

    (void)state;
    for (size_t at = 1; at < LONG; at += 29989)
        for (size_t i = 0; i < sizeof(bytes); i++) {
            size_t start;

            begin(MF_VALUE_STRING);
            start = put_long(0);
            image.at[start + at] = bytes[i];
            assert_int_equal(found(&finding), 1);
            assert_int_equal(finding.severity, MF_WARNING);
            assert_int_equal(finding.offset, start);
        }
}

static void an_array_reports_the_first_and_the_count(void **state)
{
    struct mf_finding finding;
    size_t start;

    (void)state;
    begin(MF_VALUE_ARRAY);
    put_number(MF_VALUE_STRING, 4);
    put_number(4, 8);
    put_number(0, 8);
    start = put_long(0);
    put_number(2, 8);
    put("\xc3\xa9", 2);
    put_number(1, 8);
    put("\xc3", 1);
    assert_int_equal(found(&finding), 1);
    assert_string_equal(message, "1 of the 4 texts of 'text' are not UTF-8 or "
                                 "contain a NUL; the first is element 3");
    image.at[start + LONG - 1] = 'a';
    assert_int_equal(found(&finding), 1);
    assert_int_equal(finding.offset, start);
    assert_string_equal(message, "2 of the 4 texts of 'text' are not UTF-8 or "
                                 "contain a NUL; the first is element 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(a_character_may_span_two_windows),
        WITH_ENV(a_bad_byte_is_found_anywhere),
        WITH_ENV(an_array_reports_the_first_and_the_count),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
