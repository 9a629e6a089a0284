/* SPDX-License-Identifier: MIT
 *
 * test_yaml.c - YAML as PyYAML reads it
 */
#include <math.h>
#include <stdlib.h>

#include "lib/base/str.h"
#include "lib/yaml/yaml.h"
#include "tests/with_env.h"

static const struct {
    const char *text, *value;
} rows[] = {
#define YAML(text, value) { text, value },
#include "tests/data/yaml_texts.def"
#undef YAML
};

static struct mf_arena arena;
static struct mf_node *root;
static char shown[1 << 15];
static size_t shown_size;

static enum mf_status read_text(const char *text, size_t size)
{
    mf_clear_error(env);
    mf_arena_release(&arena);
    mf_arena_init(&arena, env);
    root = NULL;
    return mf_yaml_read(env, &arena, (struct mf_str){ text, size }, &root);
}

static void show(const char *text, size_t size)
{
    assert_true(size < sizeof(shown) - shown_size);
    memcpy(shown + shown_size, text, size);
    shown_size += size;
    shown[shown_size] = 0;
}

static void show_text(struct mf_str text)
{
    show("'", 1);
    show(text.at, text.size);
    show("'", 1);
}

static void show_number(const struct mf_node *node)
{
    char text[40];

    if (node->type == MF_VALUE_STRING)
        show("D", 1);
    else if (node->type == MF_VALUE_F64 && isnan(node->number.f64))
        show(".nan", 4);
    else if (node->type == MF_VALUE_F64)
        show(text,
             (size_t)snprintf(text, sizeof(text), "f%.10g", node->number.f64));
    else
        show(text, (size_t)snprintf(text, sizeof(text), "%" PRId64,
                                    node->number.i64));
}

/* Whether another member of that key comes later; the last one counts. */
static const struct mf_node *last_of(const struct mf_node *node)
{
    const struct mf_node *last = node;

    for (const struct mf_node *next = node->next; next; next = next->next)
        if (node->key.at && mf_str_same(next->key, node->key))
            last = next;
    return last;
}

static bool is_first_of(const struct mf_node *object,
                        const struct mf_node *node)
{
    const struct mf_node *first = object->first;

    while (first != node &&
           !(node->key.at && mf_str_same(first->key, node->key)))
        first = first->next;
    return first == node;
}

static void show_node(const struct mf_node *node)
{
    bool object = node->kind == MF_NODE_OBJECT, gap = false;

    switch (node->kind) {
    case MF_NODE_NULL:
        show("~", 1);
        return;
    case MF_NODE_TRUE:
        show("T", 1);
        return;
    case MF_NODE_FALSE:
        show("F", 1);
        return;
    case MF_NODE_STRING:
        show_text(node->text);
        return;
    case MF_NODE_NUMBER:
        show_number(node);
        return;
    default:
        break;
    }
    show(object ? "{" : "[", 1);
    for (const struct mf_node *part = node->first; part; part = part->next) {
        if (object && !is_first_of(node, part))
            continue;
        if (gap)
            show(" ", 1);
        gap = true;
        if (object && part->key.at)
            show_text(part->key);
        else if (object)
            show("?", 1);
        if (object)
            show(":", 1);
        show_node(object ? last_of(part) : part);
    }
    show(object ? "}" : "]", 1);
}

static void texts_are_read_as_pyyaml_reads_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool is_read = read_text(rows[i].text, strlen(rows[i].text)) == MF_OK;

        if (is_read != (rows[i].value != NULL))
            fail_msg("%s: %s", rows[i].text,
                     is_read ? "was read" : mf_env_error(env)->message);
        if (!is_read)
            continue;
        shown_size = 0;
        show_node(root);
        assert_string_equal(shown, rows[i].value);
    }
}

/* Whatever a text ends in, it is read or refused with the line. */
static void texts_may_end_anywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (size_t size = 0; size < strlen(rows[i].text); size++) {
            char *text = malloc(size + 1); /* so that no byte more is read */

            memcpy(text, rows[i].text, size);
            if (read_text(text, size) != MF_OK)
                assert_non_null(strstr(mf_env_error(env)->message, "line "));
            free(text);
        }
}

static void refused(const char *text, size_t size, enum mf_status status,
                    const char *message)
{
    if (read_text(text, size) != status ||
        !strstr(mf_env_error(env)->message, message))
        fail_msg("not '%s': %s", message, mf_env_error(env)->message);
}

static void messages_have_the_line(void **state)
{
    (void)state;
    refused("a: b\nc: d: e", 12, MF_ERR_CORRUPT,
            "line 3: a ':' is not allowed here");
    refused("a: b\n\nc: \"d", 11, MF_ERR_CORRUPT,
            "line 4: a quoted text does not end");
    refused("a: \x1f", 4, MF_ERR_CORRUPT, "control character");
    refused("a: \xff", 4, MF_ERR_CORRUPT, "control character");
}

/* A text of one character many times, in which each may open something. */
static void many(const char *unit, enum mf_status status, const char *message)
{
    size_t size = strlen(unit), count = (1 << 18) / size;
    char *text = malloc(size * count);

    for (size_t i = 0; i < count; i++)
        memcpy(text + i * size, unit, size);
    refused(text, size * count, status, message);
    free(text);
}

static void hostile_texts_are_refused(void **state)
{
    (void)state;
    many("[", MF_ERR_CORRUPT, "nested too deeply");
    many("{", MF_ERR_CORRUPT, "nested too deeply");
    many("- ", MF_ERR_CORRUPT, "nested too deeply");
    many("-\n", MF_ERR_CORRUPT, "too many values");
    many("? ", MF_ERR_CORRUPT, "");
    many("&a ", MF_ERR_CORRUPT, "");
    many(": ", MF_ERR_CORRUPT, "");
    many("x: ", MF_ERR_CORRUPT, "not allowed here");
}

/* Each mapping merges the one before twice: 2^40 members. */
static void merged_mappings_do_not_explode(void **state)
{
    char text[4096];
    size_t size = (size_t)snprintf(text, sizeof(text), "a0: &a0 {x: y}\n");

    (void)state;
    for (int i = 1; i < 40; i++)
        size += (size_t)snprintf(text + size, sizeof(text) - size,
                                 "a%d: &a%d {<<: [*a%d, *a%d]}\n", i, i, i - 1,
                                 i - 1);
    refused(text, size, MF_ERR_CORRUPT, "too many values");
}

static void a_key_has_1024_characters(void **state)
{
    static char text[2100];

    (void)state;
    memset(text, 'k', 1024);
    strcpy(text + 1024, ": v");
    assert_int_equal(read_text(text, 1027), MF_OK);
    memset(text, 'k', 1025);
    strcpy(text + 1025, ": v");
    refused(text, 1028, MF_ERR_CORRUPT, "line 2: ");
}

/* What may be a key waits in the queue until its line ends, and room that was
 * left there is used again: at its end up to 14 tokens wait. */
static void a_text_has_more_tokens_than_the_queue(void **state)
{
    static char text[1 << 14], known[1 << 14];

    (void)state;
    for (unsigned before = 0; before < 20; before++) {
        size_t size = 0, at = 0;

        for (unsigned i = 0; i < MF_YAML_QUEUE / 8; i++) {
            size += (size_t)snprintf(
                text + size, sizeof(text) - size,
                i < before ? "- %u\n" : "- [%u, {a: b, c: d}]\n", i);
            at += (size_t)snprintf(known + at, sizeof(known) - at,
                                   i < before ? "%s%u"
                                              : "%s[%u {'a':'b' 'c':'d'}]",
                                   i > 0 ? " " : "[", i);
        }
        strcpy(known + at, "]");
        if (read_text(text, size) != MF_OK)
            fail_msg("%s", mf_env_error(env)->message);
        shown_size = 0;
        show_node(root);
        assert_string_equal(shown, known);
    }
}

static int arena_setup(void **state)
{
    if (env_setup(state) != 0)
        return -1;
    mf_arena_init(&arena, env);
    return 0;
}

static int arena_teardown(void **state)
{
    mf_arena_release(&arena);
    return env_teardown(state);
}

int main(void)
{
#define WITH_ARENA(test)                                                       \
    cmocka_unit_test_setup_teardown(test, arena_setup, arena_teardown)
    const struct CMUnitTest tests[] = {
        WITH_ARENA(texts_are_read_as_pyyaml_reads_them),
        WITH_ARENA(texts_may_end_anywhere),
        WITH_ARENA(messages_have_the_line),
        WITH_ARENA(hostile_texts_are_refused),
        WITH_ARENA(merged_mappings_do_not_explode),
        WITH_ARENA(a_key_has_1024_characters),
        WITH_ARENA(a_text_has_more_tokens_than_the_queue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
