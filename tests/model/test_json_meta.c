/* SPDX-License-Identifier: MIT
 *
 * test_json_meta.c - JSON values and keys as metadata: typed, counted, kept
 */
#include <inttypes.h>

#include "lib/model/values.h"
#include "tests/json/json_document.h"

/* ---- looking over ---- */

/* A value as an element of [1, value ,2]: its facts, after which the tokenizer
 * must be at its end. */
static struct mf_meta look_at(const char *value, size_t window)
{
    static char text[8192];
    struct mf_meta meta = { 0 };
    int size = snprintf(text, sizeof(text), "[1, %s ,2]", value);

    document_open(text, (size_t)size, window);
    assert_int_equal(mf_json_next(&json), MF_JSON_BEGIN_ARRAY);
    assert_int_equal(mf_json_next(&json), MF_JSON_NUMBER);
    assert_int_equal(
        mf_json_read_meta(&json, mf_json_next(&json), &arena, &meta), MF_OK);
    assert_int_equal(meta.span.offset, 4);
    assert_int_equal(meta.span.size, strlen(value));
    assert_int_equal(mf_json_next(&json), MF_JSON_NUMBER);
    assert_string_equal(json.digits, "2");
    return meta;
}

#define NONE 0 /* `of` for a value without elements */

static void values_are_counted_and_typed(void **state)
{
    static const struct {
        const char *value;
        enum mf_value_type type, of;
        uint64_t count;
    } rows[] = {
        { "null", MF_VALUE_NULL, NONE, 0 },
        { "true", MF_VALUE_BOOL, NONE, 0 },
        { "7", MF_VALUE_U64, NONE, 0 },
        { "-7", MF_VALUE_I64, NONE, 0 },
        { "7.0", MF_VALUE_F64, NONE, 0 },
        { "\"\"", MF_VALUE_STRING, NONE, 0 },
        { "\"a\\u00e9\\ud83d\\ude00\"", MF_VALUE_STRING, NONE, 7 },
        { "{}", MF_VALUE_OBJECT, NONE, 0 },
        { "{\"a\":1,\"b\":[1,2],\"c\":{\"d\":1,\"e\":2}}", MF_VALUE_OBJECT,
          NONE, 3 },
        { "[]", MF_VALUE_ARRAY, MF_VALUE_NULL, 0 },
        { "[null,null]", MF_VALUE_ARRAY, MF_VALUE_NULL, 2 },
        { "[true,false]", MF_VALUE_ARRAY, MF_VALUE_BOOL, 2 },
        { "[\"]\",\"b\",\"\\\"\"]", MF_VALUE_ARRAY, MF_VALUE_STRING, 3 },
        { "[[],[1,[2,3]],[]]", MF_VALUE_ARRAY, MF_VALUE_ARRAY, 3 },
        { "[{},{\"a\":[]}]", MF_VALUE_ARRAY, MF_VALUE_OBJECT, 2 },
        { "[1,2,3]", MF_VALUE_ARRAY, MF_VALUE_U64, 3 },
        { "[-1,-2]", MF_VALUE_ARRAY, MF_VALUE_I64, 2 },
        { "[1,-2]", MF_VALUE_ARRAY, MF_VALUE_I64, 2 },
        { "[1.5]", MF_VALUE_ARRAY, MF_VALUE_F64, 1 },
        { "[1,1e2,-3]", MF_VALUE_ARRAY, MF_VALUE_F64, 3 },
        { "[18446744073709551615,1]", MF_VALUE_ARRAY, MF_VALUE_U64, 2 },
        { "[9223372036854775807,-1]", MF_VALUE_ARRAY, MF_VALUE_I64, 2 },
        { "[9223372036854775808,-1]", MF_VALUE_ARRAY, MF_VALUE_F64, 2 },
        { "[18446744073709551616,1]", MF_VALUE_ARRAY, MF_VALUE_F64, 2 },
        { "[-0,1]", MF_VALUE_ARRAY, MF_VALUE_F64, 2 },
        { "[1,\"1\"]", MF_VALUE_ARRAY, MF_VALUE_MIXED, 2 },
        { "[1.5,null]", MF_VALUE_ARRAY, MF_VALUE_MIXED, 2 },
        { "[9223372036854775808,true]", MF_VALUE_ARRAY, MF_VALUE_MIXED, 2 },
        { "[[],{}]", MF_VALUE_ARRAY, MF_VALUE_MIXED, 2 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t window = MF_JSON_LOOK; window < 40; window++) {
            struct mf_meta meta = look_at(rows[i].value, window);

            if (meta.type != rows[i].type || meta.of != rows[i].of ||
                meta.count != rows[i].count)
                fail_msg("%s is %s of %d, %" PRIu64, rows[i].value,
                         mf_value_type_name(meta.type), (int)meta.of,
                         meta.count);
        }
}

static void scalars_are_kept(void **state)
{
    struct mf_meta meta = look_at("18446744073709551615", 16);

    (void)state;
    assert_true(meta.number.u64 == UINT64_MAX);
    assert_true(look_at("-9223372036854775808", 16).number.i64 == INT64_MIN);
    assert_true(look_at("-12.5e-1", 16).number.f64 == -1.25);
    assert_true(look_at("true", 16).number.boolean);
    assert_false(look_at("false", 16).number.boolean);
    meta = look_at("\"a\\u0000\\u00e9\"", 16);
    assert_int_equal(meta.text.size, 4);
    assert_memory_equal(meta.text.at, "a\0\xc3\xa9", 5); /* terminated */
    meta = look_at("\"\"", 16);
    assert_non_null(meta.text.at);
    assert_int_equal(meta.text.size, 0);
}

/* Strings are kept up to MF_TEXT_KEPT bytes, and counted beyond. */
static void long_strings_are_only_counted(void **state)
{
    static const char *const lasts[] = { "x", "\xc3\xa9", "\\u20ac",
                                         "\\ud83d\\ude00" };
    static const size_t sizes[] = { 1, 2, 3, 4 };
    char value[MF_TEXT_KEPT + 32];

    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (size_t size = MF_TEXT_KEPT - 8; size < MF_TEXT_KEPT + 8; size++) {
            struct mf_meta meta;
            size_t plain = size - sizes[i];

            memset(value, 'a', sizeof(value));
            value[0] = '"';
            strcpy(value + 1 + plain, lasts[i]);
            meta = look_at(strcat(value, "\""), 100);
            assert_int_equal(meta.count, size);
            if (size > MF_TEXT_KEPT) {
                assert_null(meta.text.at);
                continue;
            }
            assert_int_equal(meta.text.size, size);
            assert_int_equal(meta.text.at[plain - 1], 'a');
            assert_int_equal(meta.text.at[size], 0);
        }
}

static void broken_values_are_errors(void **state)
{
    static const char *const texts[] = { "",      "tru",      "[1,2",
                                         "[1,}",  "{\"a\":}", "[[1,2],[3",
                                         "\"abc", "{\"a\":1", "[\"\\x\"]" };

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct mf_meta meta = { 0 };

        document_open(texts[i], strlen(texts[i]), MF_JSON_LOOK);
        assert_int_equal(
            mf_json_read_meta(&json, mf_json_next(&json), &arena, &meta),
            MF_ERR_CORRUPT);
        mf_clear_error(env);
    }
}

/* ---- keys ---- */

/* {"abc...":"v"} with a key of that many bytes once unescaped, written with
 * `last` in the end; returns the size of the document. */
static size_t key_of(size_t size, const char *last, size_t last_size,
                     char *text)
{
    size_t plain = size - last_size;

    memcpy(text, "{\"", 2);
    for (size_t i = 0; i < plain; i++)
        text[2 + i] = (char)('a' + i % 26);
    return 2 + plain + (size_t)sprintf(text + 2 + plain, "%s\":\"v\"}", last);
}

static void check_key(size_t size, const char *last, size_t last_size)
{
    char *text = malloc(size + 32);
    struct mf_heap_stats before, after;
    struct mf_str key;

    assert_non_null(text);
    document_open(text, key_of(size, last, last_size, text), 4096);
    assert_int_equal(mf_json_next(&json), MF_JSON_BEGIN_OBJECT);
    assert_int_equal(mf_json_next(&json), MF_JSON_KEY);
    mf_env_heap(env, &before);
    if (size > MF_NAME_MAX) {
        assert_int_equal(mf_json_read_key(&json, &arena, &key), MF_ERR_LIMIT);
        assert_int_equal(env->error.offset, 1);
        mf_clear_error(env);
    } else {
        assert_int_equal(mf_json_read_key(&json, &arena, &key), MF_OK);
        assert_int_equal(key.size, size);
        assert_int_equal(key.at[size], 0);
        assert_memory_equal(key.at, text + 2, size - last_size);
        assert_int_equal(mf_json_next(&json), MF_JSON_STRING);
    }
    mf_env_heap(env, &after);
    /* A chunk or two of the arena, and a small multiple of what was read. */
    assert_true(after.live - before.live <= 2 * 16384 + 128 + 6 * size);
    mf_reader_release(&reader);
    mf_arena_release(&arena);
    free(text);
}

static void keys_are_read_up_to_their_limit(void **state)
{
    static const size_t borders[] = { 8,     512,   2048,       8192,
                                      32768, 65535, MF_NAME_MAX };

    (void)state;
    for (size_t i = 0; i < COUNT(borders); i++)
        for (size_t size = borders[i] - 4; size < borders[i] + 6; size++) {
            check_key(size, "", 0);
            check_key(size, "\xc3\xa9", 2);
            check_key(size, "\\ud83d\\ude00", 4);
        }
    check_key(0, "", 0);
    check_key(200000, "", 0);
}

/* A key and a value, read with a heap that fails once. */
static enum mf_status read_both(const char *text, size_t size)
{
    struct mf_span span = { 0, size };
    struct mf_meta meta = { 0 };
    struct mf_str key;

    mf_source_open_memory("document", text, size, &source);
    if (mf_reader_init_span(&reader, env, &source, span, 4096) != MF_OK)
        return env->error.status;
    mf_json_init(&json, &reader);
    mf_json_next(&json);
    mf_json_next(&json);
    if (mf_json_read_key(&json, &arena, &key) != MF_OK)
        return env->error.status;
    return mf_json_read_meta(&json, mf_json_next(&json), &arena, &meta);
}

/* Whichever allocation fails, the error says so and nothing leaks. */
static void a_full_heap_is_an_error(void **state)
{
    static char text[20064];
    size_t size = key_of(20000, "", 0, text);
    struct mf_env *usual = env;
    enum mf_status status;
    uint64_t fail_at = 1; /* that one is the env itself */

    (void)state;
    do {
        struct test_heap heap = { .fail_at = ++fail_at };

        env = test_env(&heap);
        mf_arena_init(&arena, env);
        status = read_both(text, size);
        assert_int_equal(status, heap.calls < fail_at ? MF_OK : MF_ERR_MEMORY);
        mf_reader_release(&reader);
        mf_arena_release(&arena);
        mf_env_free(env);
        assert_int_equal(heap.live, 0);
    } while (status != MF_OK);
    assert_int_equal(fail_at, 6); /* window, and three chunks of the arena */
    env = usual;
    mf_arena_init(&arena, env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DOCUMENT(values_are_counted_and_typed),
        WITH_DOCUMENT(scalars_are_kept),
        WITH_DOCUMENT(long_strings_are_only_counted),
        WITH_DOCUMENT(broken_values_are_errors),
        WITH_DOCUMENT(keys_are_read_up_to_their_limit),
        WITH_DOCUMENT(a_full_heap_is_an_error),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
