/* SPDX-License-Identifier: MIT
 *
 * test_card_names.c - what the names of models say
 */
#include "lib/hf/card/letters.h"
#include "lib/hf/card/names.h"
#include "tests/with_env.h"

static struct mf_arena arena;

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

static struct mf_str str(const char *text)
{
    return (struct mf_str){ text, strlen(text) };
}

static const struct {
    const char *name;
    int64_t total;
    const char *full, *organization, *basename, *finetune, *version, *size;
    const char *title, *counted, *file;
} rows[] = {
#define NAME(...) { __VA_ARGS__ },
#include "tests/data/card_names.def"
#undef NAME
};

static void is(const char *name, const char *part, struct mf_str text,
               const char *expected)
{
    if (!text.at != !expected ||
        (expected && (text.size != strlen(expected) ||
                      memcmp(text.at, expected, text.size) != 0)))
        fail_msg("'%s': the %s is '%.*s', not '%s'", name, part, (int)text.size,
                 text.at ? text.at : "", expected ? expected : "(none)");
}

/* A name ends where it says, whatever follows. */
static void names_are_read_as_gguf_py_reads_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct mf_name_counts counts = { .total = rows[i].total };
        const char *name = rows[i].name;
        struct mf_name_parts parts;
        char label[MF_NAME_SIZE_MAX], more[256];

        assert_true(strlen(name) + 2 < sizeof(more));
        sprintf(more, "%s7b", name);
        assert_int_equal(mf_name_split(&arena,
                                       (struct mf_str){ more, strlen(name) },
                                       rows[i].total, &parts),
                         MF_OK);
        is(name, "name", parts.full, rows[i].full);
        is(name, "organization", parts.organization, rows[i].organization);
        is(name, "basename", parts.basename, rows[i].basename);
        is(name, "finetune", parts.finetune, rows[i].finetune);
        is(name, "version", parts.version, rows[i].version);
        is(name, "size", parts.size_label, rows[i].size);
        is(name, "title", mf_name_title(&arena, str(name)), rows[i].title);
        mf_name_size_label(&counts, label);
        is(name, "count", str(label), rows[i].counted);
        is(name, "file", mf_name_file(&arena, str(name), &parts, "F16", NULL),
           rows[i].file);
    }
}

static void *digits_resize(void *user, void *block, size_t old_size,
                           size_t new_size)
{
    uint8_t *moved = test_resize(user, block, old_size, new_size);

    if (moved && new_size > old_size)
        memset(moved + old_size, '7', new_size - old_size);
    return moved;
}

/* Where memory is full of digits, too, "small" has none: next to a size it is
 * another word. */
static void digits_after_a_word_are_not_its_own(void **state)
{
    struct test_heap heap = { 0 };
    struct mf_options options = { .size = sizeof(options),
                                  .allocator = { .resize = digits_resize,
                                                 .user = &heap } };
    struct mf_env *own = mf_env_new(&options);
    struct mf_name_parts parts;
    struct mf_arena digits;

    (void)state;
    assert_non_null(own);
    mf_arena_init(&digits, own);
    assert_int_equal(mf_name_split(&digits, str("Some-2b-small"), 0, &parts),
                     MF_OK);
    is("", "basename", parts.basename, "Some");
    is("", "size", parts.size_label, "2B");
    is("", "finetune", parts.finetune, "small");
    mf_arena_release(&digits);
    mf_env_free(own);
}

static void experts_are_counted_once(void **state)
{
    const struct mf_name_counts counts = {
        .total = 46702792704,
        .shared = 1605636096,
        .expert = 5637144576,
        .expert_count = 8,
    };
    char label[MF_NAME_SIZE_MAX];

    (void)state;
    mf_name_size_label(&counts, label);
    assert_string_equal(label, "8x7.2B");
}

/* Two digits at least, and round half to even where that is decided. */
static void sizes_have_two_digits(void **state)
{
    static const struct {
        int64_t total;
        const char *label;
    } sizes[] = {
        { 0, "0.00K" },          { 1, "0.00K" },
        { 499, "0.50K" },        { 501, "0.5K" },
        { 999, "1.0K" },         { 9499, "9.5K" },
        { 9500, "10K" },         { 10000, "10K" },
        { 1000000, "1000K" },    { 1000001, "1.0M" },
        { 99500000, "100M" },    { 1000000000, "1000M" },
        { -2500000000, "2.5B" }, { INT64_MAX, "9223372T" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const struct mf_name_counts counts = { .total = sizes[i].total };
        char label[MF_NAME_SIZE_MAX];

        mf_name_size_label(&counts, label);
        assert_string_equal(label, sizes[i].label);
    }
}

static void files_are_named_without_spaces(void **state)
{
    const struct mf_name_parts none = { .full = { NULL, 0 } };
    struct mf_name_parts parts = none;

    (void)state;
    parts.finetune = str(" a b/c ");
    is("", "file", mf_name_file(&arena, str(" x y/z\n"), &parts, "Q8_0", NULL),
       "x-y-z-a-b/c-Q8_0");
    is("", "file",
       mf_name_file(&arena, (struct mf_str){ NULL, 0 }, &none, NULL, "vocab"),
       "ggml-model-vocab");
}

/* A name of 10,000 hyphens and words is refused, and costs little. */
static void names_of_too_many_words(void **state)
{
    static char text[20001];
    struct mf_name_parts parts;

    (void)state;
    memset(text, '-', sizeof(text) - 1);
    assert_int_equal(mf_name_split(&arena, str(text), 0, &parts), MF_OK);
    for (size_t i = 0; i < sizeof(text) - 1; i += 2)
        text[i] = 'a';
    assert_int_equal(mf_name_split(&arena, str(text), 0, &parts), MF_ERR_LIMIT);
}

static void letters_have_a_case(void **state)
{
    char text[MF_LETTER_MAX];

    (void)state;
    assert_int_equal(mf_letter_begin(0xdf, text), 2);
    assert_memory_equal(text, "Ss", 2);
    assert_int_equal(mf_letter_begin(0x1c9, text), 2); /* lj, Lj */
    assert_memory_equal(text, "\xc7\x88", 2);
    assert_true(mf_letter_is(0x4e00) && !mf_letter_is(0x3000));
    assert_true(mf_letter_case(0x4e00) == MF_CASE_NONE);
    assert_true(mf_letter_case(0x101) == MF_CASE_LOWER);
    assert_true(mf_letter_case(0x100) == MF_CASE_UPPER);
    for (uint32_t c = 0; c < 0x300; c++)
        if (mf_letter_case(c) != MF_CASE_NONE)
            assert_true(mf_letter_is(c));
}

int main(void)
{
#define WITH_ARENA(test)                                                       \
    cmocka_unit_test_setup_teardown(test, arena_setup, arena_teardown)
    const struct CMUnitTest tests[] = {
        WITH_ARENA(names_are_read_as_gguf_py_reads_them),
        cmocka_unit_test(digits_after_a_word_are_not_its_own),
        WITH_ARENA(files_are_named_without_spaces),
        WITH_ARENA(names_of_too_many_words),
        cmocka_unit_test(experts_are_counted_once),
        cmocka_unit_test(sizes_have_two_digits),
        cmocka_unit_test(letters_have_a_case),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
