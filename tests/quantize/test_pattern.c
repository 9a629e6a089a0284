/* SPDX-License-Identifier: MIT
 *
 * test_pattern.c - regular expressions are found where they are, and only there
 *
 * Compared with the C library's, which are not quite of the same kind,
 * where a pattern means the same to both.
 */
#include <regex.h>

#include "lib/quantize/pattern.h"
#include "tests/with_env.h"

static struct mf_pattern pattern;
static struct mf_arena arena;

/* The arena has one pattern at a time. */
static enum mf_status start(const char *text)
{
    mf_arena_release(&arena);
    mf_arena_init(&arena, env);
    return mf_pattern_init(&pattern, &arena, text);
}

static int teardown(void **state)
{
    mf_arena_release(&arena);
    return env_teardown(state);
}

/* The first error of an env stays. */
static void forget_error(void)
{
    mf_arena_release(&arena);
    mf_env_free(env);
    env = mf_env_new(NULL);
}

static bool found(const char *text, const char *name)
{
    if (start(text) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    return mf_pattern_matches(&pattern, (struct mf_str){ name, strlen(name) });
}

/* ---- against others ---- */

static const char *const names[] = {
    "",
    "a",
    "b",
    "ab",
    "aab",
    "abab",
    "blk.0.ffn_down.weight",
    "blk.10.ffn_down.weight",
    "blk.31.attn_v.weight",
    "token_embd.weight",
    "output.weight",
    "output_norm.weight",
    "x-[y]{2}\\z^$",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac",
};

static const char *const both[] = {
    "a",
    "ab|b",
    "^a",
    "b$",
    "^$",
    "^(a|b)*$",
    "^(ab)+$",
    "^(a|ab)(b|)$",
    "a{2}",
    "^a{1,2}b",
    "^a{0,1}b$",
    "(a*)*c",
    "(a|a)*b",
    "(aa|aaa)*c$",
    "^(a{2,}){3,}c$",
    "a?a?a?a?a?a?a?a?a?a?a?a?aaaaaaaaaaaac",
    "blk\\.[0-9]\\.",
    "blk\\.(1[0-9]|2[0-9]|3[01])\\..*v\\.weight$",
    "ffn_(down|up)|attn_v",
    "[^a-z_.0-9]",
    "[a-c-]",
    "\\[y\\]\\{2\\}",
    "\\\\z\\^\\$",
    "^.{21}$",
    "(^|t)o",
    "(put|embd)(_norm)?\\.w",
    "((((a))))",
    "()",
    "^()*$",
};

static void they_are_found_as_others_find_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(both); i++) {
        regex_t other;

        assert_int_equal(regcomp(&other, both[i], REG_EXTENDED | REG_NOSUB), 0);
        for (size_t n = 0; n < COUNT(names); n++) {
            bool theirs = regexec(&other, names[n], 0, NULL, 0) == 0;

            if (found(both[i], names[n]) != theirs)
                fail_msg("'%s' in '%s': %d is expected", both[i], names[n],
                         theirs);
        }
        regfree(&other);
    }
}

/* ---- what others lack ---- */

static void they_know_the_words_of_ecmascript(void **state)
{
    (void)state;
    assert_true(found("\\d+\\.ffn", "blk.10.ffn"));
    assert_false(found("\\d\\.ffn", "blk.x.ffn"));
    assert_true(found("^\\w+\\.\\w+$", "output.weight"));
    assert_false(found("\\W", "output_1"));
    assert_true(found("^a\\Wb$", "a.b"));
    assert_true(found("^\\D+$", "output"));
    assert_true(found("a\\sb\\Sc", "a b.c"));
    assert_true(found("[\\d_]x[^\\w]", "1x."));
    assert_true(found("\\bnorm\\b", "a.norm.b"));
    assert_false(found("\\bnorm\\b", "a_norm.b"));
    assert_true(found("\\Bnorm", "a_norm.b"));
    assert_true(found("(?:ab)+?c", "ababc"));
    assert_true(found("a.*?c??$", "abc"));
    assert_true(found("\\x41\\x2e\\t", "A.\t"));
    assert_true(found("[[:digit:][:punct:]]{3}", "a1.2"));
    assert_false(found(".", "\n"));
    assert_true(found("a\\/b\\-c", "a/b-c"));
    assert_true(found("}]", "}]"));
}

static void capital_letters_are_small_ones(void **state)
{
    (void)state;
    assert_true(found("ATTN_[V-V]", "attn_v"));
    assert_false(found("attn_v", "ATTN_V"));
}

static void a_name_may_hold_anything(void **state)
{
    static const char name[] = { 'a', 0, (char)0xff, 'b' };

    (void)state;
    assert_int_equal(start("^a[^b]{2}b$"), MF_OK);
    assert_true(
        mf_pattern_matches(&pattern, (struct mf_str){ name, sizeof(name) }));
    assert_int_equal(start("\\xff"), MF_OK);
    assert_true(
        mf_pattern_matches(&pattern, (struct mf_str){ name, sizeof(name) }));
}

/* ---- patterns that are refused ---- */

static void refuse(const char *text, const char *message)
{
    forget_error();
    assert_int_equal(start(text), MF_ERR_ARGUMENT);
    if (!strstr(mf_env_error(env)->message, message))
        fail_msg("'%s': %s", text, mf_env_error(env)->message);
}

static void broken_patterns_are_refused(void **state)
{
    static const struct refusal {
        const char *text, *message;
    } rows[] = {
        { "(a", "ends within a group at character 3" },
        { "a)", "has an unmatched ')' at character 2" },
        { "[a", "ends within a set" },
        { "[]", "has an empty set" },
        { "[b-a]", "has an invalid range" },
        { "[[:word:]]", "has an unknown class" },
        { "*a", "has a repetition of nothing" },
        { "a|+", "has a repetition of nothing" },
        { "a**", "has a repetition of nothing" },
        { "a{", "has a repetition without a number" },
        { "a{3,2}", "has an invalid repetition" },
        { "a{1", "has an invalid repetition" },
        { "a{99999999999}", "has a repetition that is too large" },
        { "a\\", "ends within an escape" },
        { "(a)\\1", "has an unknown escape" },
        { "(?=a)", "has an unsupported group" },
        { "(a{100}){100}", "is too long" },
        { "((((a{9}){9}){9}){9}){9}", "is too long" },
    };
    char deep[256];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        refuse(rows[i].text, rows[i].message);
    memset(deep, '(', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = 0;
    refuse(deep, "nests groups too deeply");
}

/* Any prefix, and any byte for another, is a pattern or is refused. */
static void nothing_breaks_them(void **state)
{
    static const char text[] = "^(?:a|[b-d\\w]{2,3}?|\\.x*)+|[^[:alpha:]]\\b$";
    char copy[sizeof(text)];

    (void)state;
    for (size_t at = 0; at + 1 < sizeof(text); at++)
        for (unsigned byte = 0; byte < 256; byte++) {
            memcpy(copy, text, sizeof(text));
            copy[at] = (char)byte;
            forget_error();
            if (start(copy) != MF_OK)
                continue;
            for (size_t n = 0; n < COUNT(names); n++)
                mf_pattern_matches(
                    &pattern, (struct mf_str){ names[n], strlen(names[n]) });
        }
}

#define WITH_PATTERN(test)                                                     \
    cmocka_unit_test_setup_teardown(test, env_setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PATTERN(they_are_found_as_others_find_them),
        WITH_PATTERN(they_know_the_words_of_ecmascript),
        WITH_PATTERN(capital_letters_are_small_ones),
        WITH_PATTERN(a_name_may_hold_anything),
        WITH_PATTERN(broken_patterns_are_refused),
        WITH_PATTERN(nothing_breaks_them),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
