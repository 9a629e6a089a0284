/* SPDX-License-Identifier: MIT
 *
 * test_tree.c - small JSON documents as nodes
 */
#include <math.h>
#include <stdlib.h>

#include "lib/base/str.h"
#include "lib/json/tree.h"
#include "tests/json/json_document.h"

static struct mf_node *root;

static enum mf_status read_text(const char *text, size_t size)
{
    document_open(text, size, MF_JSON_LOOK);
    root = NULL;
    return mf_tree_read(&json, &arena, 1 << 20, &root);
}

static void read_document(const char *text)
{
    if (read_text(text, strlen(text)) != MF_OK)
        fail_msg("%s: %s", text, mf_env_error(env)->message);
}

static void is_text(const char *path, const char *text)
{
    if (!mf_str_is(mf_node_text(root, path), text))
        fail_msg("'%s' is not '%s'", path, text);
}

static uint64_t number_at(const char *path)
{
    const struct mf_node *node = mf_node_at(root, path);

    if (!node || node->kind != MF_NODE_NUMBER || node->type != MF_VALUE_U64)
        fail_msg("no number at '%s'", path);
    return node->number.u64;
}

static void values_are_found_by_path(void **state)
{
    (void)state;
    read_document("{\"architectures\":[\"A\",\"B\"],\"n\":7,\"t\":true,"
                  "\"f\":false,\"z\":null,\"x\":-2,\"d\":1.5,"
                  "\"in\":{\"a\":{\"b\":[[1,2],[3]]}},\"s\":\"\\u00e9\\n\"}");
    is_text("architectures.0", "A");
    is_text("architectures.1", "B");
    assert_null(mf_node_at(root, "architectures.2"));
    assert_null(mf_node_at(root, "architectures.x"));
    assert_null(mf_node_at(root, "n.0"));
    assert_null(mf_node_at(root, "missing"));
    assert_null(mf_node_at(root, "architectures.18446744073709551616"));
    assert_ptr_equal(mf_node_at(root, ""), root);
    assert_int_equal(number_at("n"), 7);
    assert_int_equal(number_at("in.a.b.1.0"), 3);
    assert_int_equal(mf_node_at(root, "t")->kind, MF_NODE_TRUE);
    assert_int_equal(mf_node_at(root, "f")->kind, MF_NODE_FALSE);
    assert_int_equal(mf_node_at(root, "z")->kind, MF_NODE_NULL);
    assert_int_equal(mf_node_at(root, "x")->type, MF_VALUE_I64);
    assert_int_equal(mf_node_at(root, "x")->number.i64, -2);
    assert_true(mf_node_at(root, "d")->number.f64 == 1.5);
    is_text("s", "\xc3\xa9\n");
    assert_null(mf_node_text(root, "n").at);
    assert_int_equal(root->count, 9);
    assert_int_equal(mf_node_at(root, "in.a.b")->count, 2);
    assert_int_equal(mf_node_at(root, "n")->offset, 31);
    assert_string_equal(mf_node_kind_name(mf_node_at(root, "n")), "a number");
}

static void a_document_may_be_any_value(void **state)
{
    (void)state;
    read_document("[]");
    assert_int_equal(root->kind, MF_NODE_ARRAY);
    read_document(" \"text\" ");
    assert_true(mf_str_is(root->text, "text"));
    read_document("0");
    assert_int_equal(root->number.u64, 0);
}

static void numbers_are_as_in_python(void **state)
{
    (void)state;
    read_document("[NaN,Infinity,-Infinity,-0,1e400,18446744073709551616]");
    assert_true(isnan(mf_node_at(root, "0")->number.f64));
    assert_true(mf_node_at(root, "1")->number.f64 == INFINITY);
    assert_true(mf_node_at(root, "2")->number.f64 == -INFINITY);
    assert_true(signbit(mf_node_at(root, "3")->number.f64));
    assert_true(mf_node_at(root, "4")->number.f64 == INFINITY);
    assert_true(mf_node_at(root, "5")->number.f64 == 0x1p64);
    for (size_t i = 0; i < 5; i++) {
        static const char *const wrong[] = { "[Nan]", "[-NaN]", "[-Infinit]",
                                             "[Infinity1]", "[-I" };

        assert_int_equal(read_text(wrong[i], strlen(wrong[i])), MF_ERR_CORRUPT);
        mf_clear_error(env);
    }
}

static void of_keys_given_twice_the_last_counts(void **state)
{
    (void)state;
    read_document("{\"a\":1,\"a\":2}");
    assert_int_equal(root->count, 1);
    assert_int_equal(number_at("a"), 2);
    read_document("{\"a\":1,\"b\":2,\"a\":3,\"b\":{\"c\":4},\"a\":5,\"d\":6}");
    assert_int_equal(root->count, 3);
    assert_true(mf_str_is(root->first->key, "a"));
    assert_int_equal(number_at("a"), 5);
    assert_true(mf_str_is(root->first->next->key, "b"));
    assert_int_equal(number_at("b.c"), 4);
    assert_int_equal(number_at("d"), 6);
    assert_null(root->first->next->next->next);
}

/* So many that they are hashed: 1000 keys, each three times. */
static void many_keys_given_twice(void **state)
{
    enum { KEYS = 1000, TIMES = 3 };
    char *text = malloc(KEYS * TIMES * 16 + 3);
    size_t size = 0, seen = 0;

    (void)state;
    text[size++] = '{';
    for (size_t i = 0; i < KEYS * TIMES; i++)
        size += (size_t)sprintf(text + size, "\"%zu\":%zu,", i * 7 % KEYS, i);
    text[size - 1] = '}';
    assert_int_equal(read_text(text, size), MF_OK);
    assert_int_equal(root->count, KEYS);
    for (struct mf_node *node = root->first; node; node = node->next, seen++) {
        char key[8];

        sprintf(key, "%zu", seen * 7 % KEYS);
        assert_true(mf_str_is(node->key, key));
        assert_int_equal(node->number.u64, seen + KEYS * (TIMES - 1));
    }
    assert_int_equal(seen, KEYS);
    free(text);
}

/* Longer than the window, and with escapes at every place. */
static void long_texts_are_whole(void **state)
{
    char text[2048], expected[1024];

    (void)state;
    for (size_t length = 0; length < 100; length++) {
        size_t size = 1, bytes = 0;

        text[0] = '"';
        for (size_t i = 0; i < length; i++) {
            bool escaped = i % 5 == 3;

            size += (size_t)sprintf(text + size, escaped ? "\\u20ac" : "%c",
                                    (char)('a' + i % 26));
            bytes += (size_t)sprintf(expected + bytes,
                                     escaped ? "\xe2\x82\xac" : "%c",
                                     (char)('a' + i % 26));
        }
        text[size++] = '"';
        assert_int_equal(read_text(text, size), MF_OK);
        assert_int_equal(root->text.size, bytes);
        assert_memory_equal(root->text.at, expected, bytes);
        assert_int_equal(root->text.at[bytes], 0);
    }
}

static void refused(const char *text, size_t size, enum mf_status status,
                    const char *message)
{
    assert_int_equal(read_text(text, size), status);
    assert_null(root);
    if (!strstr(mf_env_error(env)->message, message))
        fail_msg("'%s' is not '%s'", mf_env_error(env)->message, message);
    mf_clear_error(env);
}

static void every_prefix_is_refused(void **state)
{
    static const char text[] = "{\"a\":[1,{\"b\":\"\\u20ac\"},-Infinity],"
                               "\"a\":[true,null]}";

    (void)state;
    for (size_t size = 0; size < sizeof(text) - 1; size++)
        refused(text, size, MF_ERR_CORRUPT, "the JSON text ends here");
    read_document(text);
}

static void limits_are_kept(void **state)
{
    size_t size = 2 * MF_TREE_NODES + 4;
    char *text = malloc(size);

    (void)state;
    memset(text, '[', 200);
    refused(text, 200, MF_ERR_LIMIT, "nested deeper than 127");
    memset(text, ' ', size);
    for (size_t i = 0; i < size - 1; i++)
        text[i] = i % 2 ? '0' : ',';
    text[0] = '[';
    text[size - 1] = ']';
    document_open(text, size, 4096);
    root = NULL;
    assert_int_equal(mf_tree_read(&json, &arena, size, &root), MF_ERR_LIMIT);
    assert_non_null(strstr(mf_env_error(env)->message, "524288 values"));
    mf_clear_error(env);
    document_open(text, size, 4096);
    assert_int_equal(mf_tree_read(&json, &arena, size - 1, &root),
                     MF_ERR_LIMIT);
    assert_non_null(strstr(mf_env_error(env)->message, "at most 1048579"));
    mf_clear_error(env);
    free(text);
}

static void parts_stay_in_the_file(void **state)
{
    static const char text[] =
        "{\"vocab\":1,\"model\":{\"vocab\":{\"a\":0},\"merges\":[\"a b\"],"
        "\"type\":\"BPE\",\"x\":{\"vocab\":[7]}},\"added\":[{\"id\":3}]}";
    static const char *const left[] = { "model.vocab", "model.merges", "added",
                                        NULL };
    const size_t kept = strlen(text) - strlen("{\"a\":0}") -
                        strlen("[\"a b\"]") - strlen("[{\"id\":3}]");
    const struct mf_node *node;

    (void)state;
    document_open(text, strlen(text), MF_JSON_LOOK);
    assert_int_equal(mf_tree_read_but(&json, &arena, kept, left, &root), MF_OK);
    assert_int_equal(number_at("vocab"), 1);
    is_text("model.type", "BPE");
    assert_int_equal(number_at("model.x.vocab.0"), 7);
    node = mf_node_at(root, "model.vocab");
    assert_true(node->kind == MF_NODE_OBJECT && !node->first);
    assert_memory_equal(text + node->offset, "{\"a\":0}", 7);
    assert_int_equal(node->number.u64, node->offset + 7);
    node = mf_node_at(root, "added");
    assert_true(node->kind == MF_NODE_ARRAY && node->count == 0);
    assert_memory_equal(text + node->number.u64 - 2, "}]}", 3);
    document_open(text, strlen(text), MF_JSON_LOOK);
    assert_int_equal(mf_tree_read_but(&json, &arena, kept - 1, left, &root),
                     MF_ERR_LIMIT);
    mf_clear_error(env);
    /* Inside of what is left the grammar is checked, too. */
    document_open("{\"added\":[1,]}", 14, MF_JSON_LOOK);
    assert_int_equal(mf_tree_read_but(&json, &arena, 60, left, &root),
                     MF_ERR_CORRUPT);
    mf_clear_error(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DOCUMENT(values_are_found_by_path),
        WITH_DOCUMENT(a_document_may_be_any_value),
        WITH_DOCUMENT(numbers_are_as_in_python),
        WITH_DOCUMENT(of_keys_given_twice_the_last_counts),
        WITH_DOCUMENT(many_keys_given_twice),
        WITH_DOCUMENT(long_texts_are_whole),
        WITH_DOCUMENT(every_prefix_is_refused),
        WITH_DOCUMENT(limits_are_kept),
        WITH_DOCUMENT(parts_stay_in_the_file),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
