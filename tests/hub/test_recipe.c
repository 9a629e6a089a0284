/* SPDX-License-Identifier: MIT
 *
 * test_recipe.c - the language of recipes: expressions, and rows that hold
 */
#include <stdlib.h>

#include "lib/base/str.h"
#include "lib/folder/sidecar.h"
#include "lib/hf/hub/keys.h"
#include "tests/json/json_document.h"
#include "tests/rows/rows_of.h"

static struct mf_recipe recipe;

static const char config[] =
    "{\"n\":7,\"z\":0,\"half\":0.5,\"text\":\"abc\",\"none\":null,\"yes\":true,"
    "\"no\":false,\"list\":[3,1,2],\"words\":[\"a\",\"b\"],\"empty\":[],"
    "\"rope\":{\"type\":\"yarn\",\"factor\":4},\"minus\":-7,"
    "\"labels\":{\"1\":\"b\",\"0\":\"a\"},\"big\":9223372036854775807,"
    "\"layers\":1000000000}";

static int recipe_setup(void **state)
{
    struct mf_node *root;

    if (document_setup(state) != 0)
        return -1;
    document_open(config, sizeof(config) - 1, 4096);
    if (mf_tree_read(&json, &arena, sizeof(config), &root) != MF_OK)
        return -1;
    recipe = (struct mf_recipe){ .env = env, .arena = &arena, .config = root };
    return 0;
}

#define WITH_RECIPE(test)                                                      \
    cmocka_unit_test_setup_teardown(test, recipe_setup, document_teardown)

static struct mf_str str(const char *text)
{
    return (struct mf_str){ text, strlen(text) };
}

/* The value as text, as Python would print it. */
static void show(const struct mf_node *value, char *out)
{
    switch (value->kind) {
    case MF_NODE_NULL:
        strcpy(out, "null");
        break;
    case MF_NODE_NUMBER:
        if (value->type == MF_VALUE_F64)
            sprintf(out, "%.17gf", value->number.f64);
        else
            sprintf(out, "%lld", (long long)value->number.i64);
        break;
    case MF_NODE_STRING:
        strcpy(out, value->text.at);
        break;
    case MF_NODE_ARRAY:
        strcpy(out, "[");
        for (const struct mf_node *node = value->first; node;
             node = node->next) {
            show(node, out + strlen(out));
            strcat(out, node->next ? "," : "");
        }
        strcat(out, "]");
        break;
    default:
        strcpy(out, value->kind == MF_NODE_TRUE    ? "true"
                    : value->kind == MF_NODE_FALSE ? "false"
                                                   : "{}");
    }
}

static const struct mf_node *value_of(const char *expression)
{
    struct mf_code code = family_expression(expression);

    return mf_recipe_take(&recipe, &code);
}

static void gives(const char *expression, const char *expected)
{
    const struct mf_node *value = value_of(expression);
    char text[512];

    if (!value)
        fail_msg("%s: %s", expression, mf_env_error(env)->message);
    show(value, text);
    if (strcmp(text, expected) != 0)
        fail_msg("%s is %s, not %s", expression, text, expected);
}

static const char *const values[][2] = {
    { "1 + 2 * 3", "7" },
    { "(1 + 2) * 3", "9" },
    { "7 - 2 - 1", "4" },
    { "n / 2", "3.5f" },
    { "6 / 2", "3f" },
    { "n // 2", "3" },
    { "minus // 2", "-4" },
    { "minus % 3", "2" },
    { "n % 3", "1" },
    { "2 ** 10", "1024" },
    { "2 ** -1", "0.5f" },
    { "2 ** 0", "1" },
    { "(-2) ** 3", "-8" },
    { "(-1) ** 0", "1" },
    { "(-1) ** 1", "-1" },
    { "(-1) ** 2", "1" },
    { "(-1) ** 3", "-1" },
    { "(-1) ** big", "-1" },
    { "(-1) ** (big - 1)", "1" },
    { "0 ** big", "0" },
    { "0 ** 0", "1" },
    { "1 ** big", "1" },
    { "n ** half", "2.6457513110645907f" },
    { "-n", "-7" },
    { "-half", "-0.5f" },
    { "1e-5", "1.0000000000000001e-05f" },
    { "n == 7", "true" },
    { "n != 7.0", "false" },
    { "n >= 7 && n < 8", "true" },
    { "text == \"abc\"", "true" },
    { "text == 7", "false" },
    { "none == null", "true" },
    { "z || n", "7" },
    { "n || z", "7" },
    { "z && n // 0", "0" },
    { "n ? 1 : n // 0", "1" },
    { "z ? n // 0 : n ? 2 : 3", "2" },
    { "!n", "false" },
    { "!empty", "true" },
    { "true + true", "2" },
    { "[1, 2] + [3]", "[1,2,3]" },
    { "[0] * (3 - 1)", "[0,0]" },
    { "[0] * -1", "[]" },
    { "\"a\" + \"b\"", "ab" },
    { "\"a\" in words", "true" },
    { "\"c\" in words", "false" },
    { "2 in list", "true" },
    { "\"bc\" in text", "true" },
    { "\"type\" in rope", "true" },
    { "words == [\"a\", \"b\"]", "true" },
    { "list[0]", "3" },
    { "list[-1]", "2" },
    { "rope.type", "yarn" },
    { "rope.factor + 1", "5" },
    { "rope.missing", "null" },
    { "none.missing", "null" },
    { "missing", "null" },
    { "first(missing, n, z)", "7" },
    { "first(none, n)", "null" },
    { "first(missing, other)", "null" },
    { "first(rope.none, rope.factor)", "4" },
    { "get(none, 3)", "null" },
    { "get(missing, 3)", "3" },
    { "get(n, 1 // 0)", "7" },
    { "has(none)", "true" },
    { "has(missing)", "false" },
    { "has(rope.type)", "true" },
    { "set(none)", "false" },
    { "set(z)", "true" },
    { "each(i, 3, i * 2)", "[0,2,4]" },
    { "each(i, 0, 1 // i)", "[]" },
    { "each(i, 2, each(j, 2, i * 10 + j))", "[[0,1],[10,11]]" },
    { "map(x, list, x + n)", "[10,8,9]" },
    { "map(x, empty, x + 1)", "[]" },
    { "map(w, words, w == \"a\")", "[true,false]" },
    { "int(3.7)", "3" },
    { "int(-3.7)", "-3" },
    { "float(n)", "7f" },
    { "bool(z)", "false" },
    { "sqrt(16)", "4f" },
    { "max(list)", "3" },
    { "min(list)", "1" },
    { "len(list)", "3" },
    { "slice(list, 1, 5)", "[1,2]" },
    { "slice(list, 0, 1)", "[3]" },
    { "lower(\"LLama3\")", "llama3" },
    { "ends(text, \"bc\")", "true" },
    { "ends(text, \"ab\")", "false" },
    { "text[1]", "b" },
    { "len(text)", "3" },
    { "rope[\"type\"]", "yarn" },
    { "rope[\"missing\"]", "null" },
    { "pick(x, list, x < 3)", "1" },
    { "pick(x, list, x > 3)", "null" },
    { "only(x, list, x < 3)", "[1,2]" },
    { "only(x, list, x > 3)", "[]" },
    { "text(n) + text(-1)", "7-1" },
    { "join(words)", "ab" },
    { "join([])", "" },
    { "by_number(labels)", "[a,b]" },
    { "by_number(numbered(words + words))", "[a,b,a,b]" },
    { "by_number(object([\"1\", \"0\"], words))", "[b,a]" },
    { "object(words, [n, half]).a", "7" },
    { "quantile(0.0)", "-inff" },
    { "quantile(0.5)", "0f" },
    { "quantile(0.95)", "1.6448535919189453f" },
    { "is_list(list)", "true" },
    { "is_int(half)", "false" },
    { "big", "9223372036854775807" },
};

static void expressions_are_as_in_python(void **state)
{

    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
        gives(values[i][0], values[i][1]);
}

static void refused(const char *expression, const char *message)
{
    if (value_of(expression))
        fail_msg("%s has a value", expression);
    if (!strstr(mf_env_error(env)->message, message))
        fail_msg("%s: %s", expression, mf_env_error(env)->message);
    mf_clear_error(env);
}

/* What a row does for each layer must not depend on what else is there. */
static void long_lists_are_not_looked_through(void **state)
{
    static char text[1 << 18];
    struct mf_node *root;
    size_t at = 0;

    (void)state;
    at += (size_t)sprintf(text, "{\"n\":7,\"few\":{\"many\":[0");
    for (int i = 1; i <= MF_RECIPE_LIST; i++)
        at += (size_t)sprintf(text + at, ",0");
    at += (size_t)sprintf(text + at, "]},\"members\":{\"0\":0");
    for (int i = 1; i <= MF_RECIPE_LIST; i++)
        at += (size_t)sprintf(text + at, ",\"%d\":0", i);
    at += (size_t)sprintf(text + at, "}}");
    document_open(text, at, 4096);
    assert_int_equal(mf_tree_read(&json, &arena, sizeof(text), &root), MF_OK);
    recipe.config = root;
    gives("len(few.many)", "8193");
    refused("n in few.many", "'many' has 8193 elements, at most 8192");
    refused("few.many[0]", "'many' has 8193 elements");
    refused("members.0", "'members' has 8193 elements");
    refused("has(members.x)", "'members' has 8193 elements");
    refused("by_number(members)", "'members' has 8193 elements");
    recipe.config = (struct mf_node *)mf_node_get(root, str("members"));
    refused("n", "'members' has 8193 elements");
    refused("get(n, 1)", "'members' has 8193 elements");
}

static void wrong_values_are_named(void **state)
{
    (void)state;
    refused("missing + 1", "missing key 'missing'");
    refused("first(one, two) // 2", "missing key 'one, two'");
    refused("text * 2", "'text' must be a number, not 'abc'");
    refused("1 + list", "'list' must be a number, not a list");
    refused("none - 1", "missing key 'none'");
    refused("n // z", "'z' is 0, but other numbers are divided by it");
    refused("half / (z * 2)", "'(z * 2)' is 0, but");
    refused("half % -0.0", "'-0.0' is 0, but");
    refused("big + 1", "out of range");
    refused("big * big", "out of range");
    refused("10 ** 19", "out of range");
    refused("list[3]", "the list 'list' has 3 elements");
    refused("n[0]", "'n' must be a list");
    refused("text[3]", "'text' must be a longer text");
    refused("numbered(n)", "'n' must be a list");
    refused("object(words, [n])", "a list with an element for each key");
    refused("object(list, list)", "'list' must be a list of texts");
    refused("object(n, list)", "'n' must be a list");
    refused("by_number(rope)", "'rope' must be an object with keys");
    refused("each(i, layers, i)", "more than 8192");
    refused("[0] * layers", "more than 8192");
    refused("map(x, n, x)", "'n' must be a list");
    refused("len(n)", "'n' must be a list");
    refused("text(half)", "'half' must be a whole number");
    refused("join(n)", "'n' must be a list");
    refused("join(list)", "'list' must be a list of texts");
    refused("max(words)", "must be a list of numbers");
    refused("int(text)", "'text' must be a number");
    refused("n < text", "'text' must be a number");
    refused("text(n + half)",
            "a value computed from 'half' must be a whole number, not 7.5");
    refused("len(rope.factor + 1)",
            "a value computed from 'factor' must be a list, not 5");
    refused("len(2)", "'config.json': a value must be a list, not 2");
}

/* ---- rows ---- */

static char seen[4096];

static enum mf_status visit(struct mf_recipe *walked, enum mf_code_row word,
                            struct mf_code row, void *user)
{
    size_t size = strlen(seen);

    (void)walked;
    (void)user;
    if (word == MF_DO_PUT)
        mf_code_bytes(&row, 2); /* its type */
    snprintf(seen + size, sizeof(seen) - size, "%s(%s)",
             word == MF_DO_PUT    ? "key"
             : word == MF_DO_ARCH ? "arch"
                                  : "null",
             mf_code_text(&row).at);
    return MF_OK;
}

/* The rows of a paragraph `family`, and what follows. */
static enum mf_status walk(const char *text)
{
    size_t room = strlen(text) + 16;
    char *all = malloc(room);
    const struct mf_rows *rows;

    assert_non_null(all);
    snprintf(all, room, "family test\n%s", text);
    rows = rows_of(OF_FAMILY, all);
    free(all);
    *seen = 0;
    recipe.lets = recipe.given;
    return mf_recipe_run(&recipe, mf_part_rows(rows, rows->part), visit, NULL);
}

static void rows_that_hold_are_visited(void **state)
{
    (void)state;
    assert_int_equal(walk("class A B\nkey u32 k n\nif n == 7\nnull x1\n"
                          "else\nnull x2\nend\nnull y\n"),
                     MF_OK);
    assert_string_equal(seen, "key(k)null(x1)null(y)");
    assert_int_equal(walk("arch a\nuse other\nfamily other\nclass C\narch b\n"
                          "key u32 k n\n"),
                     MF_OK);
    assert_string_equal(seen, "arch(a)key(k)");
    assert_int_equal(walk("if z\nnull a\nelif n\nnull b\nelif n // 0\nnull c\n"
                          "else\nnull d\nend\n"),
                     MF_OK);
    assert_string_equal(seen, "null(b)");
    assert_int_equal(walk("if z\nif n\nnull a\nelse\nnull b\nend\nelse\nif z\n"
                          "null c\nelse\nnull d\nend\nend\nnull e\n"),
                     MF_OK);
    assert_string_equal(seen, "null(d)null(e)");
}

static void let_hides_what_config_says(void **state)
{
    (void)state;
    assert_int_equal(walk("let m n + 1\nlet n m * 2\nlet text none\n"), MF_OK);
    gives("n", "16");
    gives("has(text)", "false");
    gives("get(text, 1)", "1");
    assert_int_equal(walk("let n n + 1\nlet n n + 1\n"), MF_OK);
    gives("n", "9");
}

static void a_condition_that_holds_refuses(void **state)
{
    (void)state;
    assert_int_equal(walk("refuse n == 8 no\nnull a\n"), MF_OK);
    assert_int_equal(walk("null a\nrefuse n == 7 seven is too many\nnull b\n"),
                     MF_ERR_UNSUPPORTED);
    assert_string_equal(seen, "null(a)");
    assert_string_equal(mf_env_error(env)->message,
                        "'config.json': seven is too many");
    mf_clear_error(env);
    assert_int_equal(walk("refuse_in other.json n == 7 no\n"),
                     MF_ERR_UNSUPPORTED);
    assert_string_equal(mf_env_error(env)->message, "'other.json': no");
    mf_clear_error(env);
    assert_int_equal(walk("if missing + 1\nend\n"), MF_ERR_CORRUPT);
    mf_clear_error(env);
}

/* ---- the library's own ---- */

/* Rows may only name files that outputs cannot overwrite: any text that ends
 * like one is taken for the name of one. */
static void texts_that_name_files_are_listed(void **state)
{
    const uint8_t *at = mf_family_rows.texts;
    size_t found = 0;

    (void)state;
    for (size_t place = 0; place < mf_family_rows.text_size;) {
        struct mf_str text = mf_rows_text_at(at, place);
        size_t name = 0;

        place += 2 + text.size + 1;
        if (memchr(text.at, ' ', text.size) ||
            (!mf_str_ends(text, ".json") && !mf_str_ends(text, ".model") &&
             !mf_str_ends(text, ".txt")))
            continue;
        while (mf_sidecar_names[name] &&
               !mf_str_is(text, mf_sidecar_names[name]))
            name++;
        if (!mf_sidecar_names[name])
            fail_msg("'%s' is not listed", text.at);
        found++;
    }
    assert_true(found > 3);
}

/* Also among rows of a condition. */
static bool has_arch(struct mf_code rows)
{
    while (mf_code_left(&rows)) {
        enum mf_code_row word;
        struct mf_code row = mf_code_row(&rows, &word);

        if (word == MF_DO_ARCH)
            return true;
        if (word != MF_DO_IF)
            continue;
        mf_code_expression(&row);
        if (has_arch(mf_code_part(&row)))
            return true;
    }
    return false;
}

/* Every family says what GGUF calls it, and is found by its classes. */
static void families_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < mf_family_rows.count; i++) {
        const struct mf_rows_part *part = &mf_family_rows.part[i];
        struct mf_code row = mf_recipe_row_of(part, MF_DO_CLASS);
        struct mf_str classes = row.at ? mf_code_text(&row) : str("");

        while (classes.size > 0)
            assert_ptr_equal(mf_recipe_find(part->kind, mf_word(&classes)),
                             part);
        if (part->kind == MF_ROWS_family)
            assert_true(has_arch(mf_recipe_rows(part)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_RECIPE(expressions_are_as_in_python),
        WITH_RECIPE(wrong_values_are_named),
        WITH_RECIPE(long_lists_are_not_looked_through),
        WITH_RECIPE(rows_that_hold_are_visited),
        WITH_RECIPE(let_hides_what_config_says),
        WITH_RECIPE(a_condition_that_holds_refuses),
        WITH_RECIPE(texts_that_name_files_are_listed),
        WITH_RECIPE(families_are_found),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
