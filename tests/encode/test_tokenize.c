/* SPDX-License-Identifier: MIT
 *
 * test_tokenize.c - texts get the ids that transformers gives them
 *
 * fixtures/tokenize has small tokenizers, one for each way of cutting a text,
 * and what transformers made of some texts (expected.tsv) and Oniguruma of some
 * expressions (regex.tsv).
 */
#include "lib/base/text.h"
#include "lib/folder/sidecar.h"
#include "lib/hf/encode/encode.h"
#include "lib/hf/encode/pieces.h"
#include "tests/encode/pre_of.h"
#include "tests/with_env.h"

#define LINE_MAX 8192

static char sample[1024]; /* "@" in both files: the converter's text */

/* ---- rows of a file ---- */

struct row {
    char text[LINE_MAX];
    char *field[4];
};

/* The characters that the files have escaped. */
static size_t unescape(char *text)
{
    size_t size = 0;

    for (char *at = text; *at; at++) {
        char byte = *at;

        if (byte == '\\' && at[1])
            byte = *++at == 'n' ? '\n'
                   : *at == 't' ? '\t'
                   : *at == 'r' ? '\r'
                                : *at;
        text[size++] = byte;
    }
    text[size] = 0;
    return size;
}

static bool read_row(FILE *file, struct row *row)
{
    char *at = row->text;

    do {
        if (!fgets(row->text, sizeof(row->text), file))
            return false;
    } while (row->text[0] == '#');
    row->text[strcspn(row->text, "\n")] = 0;
    for (size_t i = 0; i < COUNT(row->field); i++) {
        row->field[i] = at;
        at += strcspn(at, "\t");
        if (*at)
            *at++ = 0;
    }
    return true;
}

static FILE *open_rows(const char *name)
{
    FILE *file = fopen(fixture_path(name), "rb");

    if (!file)
        fail_msg("%s cannot be read", name);
    return file;
}

static struct mf_str text_of(char *field)
{
    if (strcmp(field, "@") == 0)
        return (struct mf_str){ sample, strlen(sample) };
    return (struct mf_str){ field, unescape(field) };
}

/* ---- ids ---- */

static void print_ids(const uint32_t *ids, size_t count, char *out)
{
    *out = 0;
    for (size_t i = 0; i < count; i++)
        out += sprintf(out, "%s%" PRIu32, i > 0 ? " " : "", ids[i]);
}

/* The tokenizer of a folder of fixtures/tokenize, in the arena. */
static struct mf_encoder *open_tokenizer(const char *folder,
                                         struct mf_arena *arena,
                                         struct mf_model **model)
{
    struct mf_node *config = NULL;
    struct mf_encoder *tokenizer;
    struct mf_fast *fast;
    char path[256];

    snprintf(path, sizeof(path), "tokenize/%s/model.safetensors", folder);
    *model = open_fixture(path);
    mf_arena_init(arena, env);
    if (mf_sidecar_tree(*model, arena, "config.json", 4096, &config) != MF_OK)
        fail_msg("%s: %s", folder, mf_env_error(env)->message);
    fast = mf_arena_take(arena, sizeof(*fast));
    tokenizer = fast && mf_fast_open(fast, *model, arena, config) == MF_OK
                    ? mf_encoder_open(fast, arena)
                    : NULL;
    if (!tokenizer)
        fail_msg("%s: %s", folder, mf_env_error(env)->message);
    return tokenizer;
}

static void check_ids(struct row *row)
{
    struct mf_encoder *tokenizer;
    struct mf_model *model;
    struct mf_arena arena;
    char ours[LINE_MAX];
    uint32_t *ids;
    size_t count;

    tokenizer = open_tokenizer(row->field[0], &arena, &model);
    if (mf_encoder_run(tokenizer, text_of(row->field[2]),
                       row->field[1][0] == '1', &ids, &count) != MF_OK)
        fail_msg("%s: %s", row->field[0], mf_env_error(env)->message);
    print_ids(ids, count, ours);
    if (strcmp(ours, row->field[3]) != 0)
        fail_msg("%s: '%s' has ids\n%s, not\n%s", row->field[0], row->field[2],
                 ours, row->field[3]);
    mf_arena_release(&arena);
    mf_model_close(model);
}

static void texts_have_the_ids_of_transformers(void **state)
{
    FILE *file = open_rows("tokenize/expected.tsv");
    static struct row row;
    size_t rows = 0;

    (void)state;
    for (; read_row(file, &row); rows++)
        check_ids(&row);
    fclose(file);
    assert_true(rows > 100);
}

/* Each byte is a token: there is no room for one more. */
static void the_longest_piece(void **state)
{
    static char text[MF_TEXT_MAX + 1];
    struct mf_encoder *tokenizer;
    struct mf_model *model;
    struct mf_arena arena;
    uint32_t *ids;
    size_t count;

    (void)state;
    memset(text, 'x', sizeof(text));
    tokenizer = open_tokenizer("llama3", &arena, &model);
    if (mf_encoder_run(tokenizer, (struct mf_str){ text, MF_TEXT_MAX }, false,
                       &ids, &count) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    assert_int_equal(count, MF_TEXT_MAX);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(ids[i], ids[0]);
    assert_int_equal(mf_encoder_run(tokenizer,
                                    (struct mf_str){ text, MF_TEXT_MAX + 1 },
                                    false, &ids, &count),
                     MF_ERR_LIMIT);
    mf_arena_release(&arena);
    mf_model_close(model);
}

static void a_name_is_found_by_the_ids(void **state)
{
    struct mf_model *model = open_fixture("tokenize/named/model.safetensors");
    const char *pre = NULL;

    (void)state;
    assert_int_equal(pre_of(model, &pre), MF_OK);
    assert_string_equal(pre, "gpt-2");
    mf_model_close(model);
}

static void other_ids_are_refused(void **state)
{
    struct mf_model *model = open_fixture("tokenize/llama3/model.safetensors");
    const char *pre = NULL;

    (void)state;
    assert_int_equal(pre_of(model, &pre), MF_ERR_UNSUPPORTED);
    assert_non_null(strstr(mf_env_error(env)->message, "SHA-256"));
    mf_model_close(model);
}

/* ---- regular expressions ---- */

static void check_regex(struct mf_pieces *pieces, struct row *row)
{
    struct mf_str pattern = { row->field[0], unescape(row->field[0]) };
    struct mf_regex *regex = mf_regex_make(env, pieces->arena, pattern);
    struct mf_str text = text_of(row->field[1]), none = { NULL, 0 };
    char ours[LINE_MAX], *at = ours;
    uint32_t last = 0;

    if (!regex || mf_match_all(pieces, text, regex, none) != MF_OK)
        fail_msg("'%s': %s", pattern.at, mf_env_error(env)->message);
    *at = 0;
    for (size_t i = 0; i < pieces->match_count; i++) {
        uint32_t end = pieces->match[i].end;

        if (end > last)
            at += sprintf(at, "%s%" PRIu32, last > 0 ? " " : "", end);
        last = end;
    }
    if (strcmp(ours, row->field[2]) != 0)
        fail_msg("'%s' cuts '%.40s' at\n%s, not\n%s", pattern.at, text.at, ours,
                 row->field[2]);
}

static void expressions_match_as_in_oniguruma(void **state)
{
    FILE *file = open_rows("tokenize/regex.tsv");
    static struct row row;
    struct mf_pieces pieces;
    struct mf_arena arena;
    size_t rows = 0;

    (void)state;
    mf_arena_init(&arena, env);
    assert_int_equal(mf_pieces_init(&pieces, env, &arena), MF_OK);
    for (; read_row(file, &row); rows++)
        check_regex(&pieces, &row);
    fclose(file);
    assert_true(rows > 100);
    mf_pieces_release(&pieces);
    mf_arena_release(&arena);
}

static void bad_expressions_are_refused(void **state)
{
    static const struct {
        const char *pattern, *error;
    } bad[] = {
        { "(a", "expected ')'" },
        { "a)", "unexpected ')'" },
        { "[a", "expected ']'" },
        { "*a", "nothing to repeat" },
        { "(?:a*)*", "what may be empty" },
        { "a{5,2}", "invalid bounds" },
        { "a{1000}{1000}", "too long" },
        { "[b-a]", "invalid range" },
        { "\\p{Nonsense}", "unknown property" },
        { "\\p", "expected '{'" },
        { "\\", "nothing after a backslash" },
        { "\\1", "unsupported escape" },
        { "(?<name>a)", "unsupported group" },
        { "[[[[[[[[[a]", "too many brackets" },
        { "((((((((((((((((((((((((((((((((((((a", "too many open groups" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct mf_str pattern = { bad[i].pattern, strlen(bad[i].pattern) };
        struct mf_arena arena;

        mf_arena_init(&arena, env);
        assert_null(mf_regex_make(env, &arena, pattern));
        if (!strstr(mf_env_error(env)->message, bad[i].error))
            fail_msg("'%s': %s", bad[i].pattern, mf_env_error(env)->message);
        mf_clear_error(env);
        mf_arena_release(&arena);
    }
}

static void slow_expressions_end(void **state)
{
    const struct mf_str pattern = { "(?:a|aa|aaa)+b", 14 };
    const struct mf_str none = { NULL, 0 };
    struct mf_pieces pieces;
    struct mf_regex *regex;
    struct mf_arena arena;
    char text[400];

    (void)state;
    memset(text, 'a', sizeof(text));
    mf_arena_init(&arena, env);
    assert_int_equal(mf_pieces_init(&pieces, env, &arena), MF_OK);
    regex = mf_regex_make(env, &arena, pattern);
    assert_non_null(regex);
    assert_int_equal(mf_match_all(&pieces,
                                  (struct mf_str){ text, sizeof(text) }, regex,
                                  none),
                     MF_ERR_LIMIT);
    mf_pieces_release(&pieces);
    mf_arena_release(&arena);
}

/* ---- characters ---- */

static void every_byte_has_its_own_character(void **state)
{
    bool seen[MF_CHARS] = { false };

    (void)state;
    for (unsigned byte = 0; byte < 256; byte++) {
        uint16_t row = mf_char_find(mf_byte_char((uint8_t)byte));

        assert_int_not_equal(row, MF_NO_CHAR);
        assert_false(seen[row]);
        seen[row] = true;
    }
    assert_int_equal(mf_byte_char(' '), 0x120);
    assert_int_equal(mf_byte_char('a'), 'a');
}

static void characters_are_in_order(void **state)
{
    (void)state;
    for (size_t i = 1; i < MF_CHARS; i++)
        assert_true(mf_chars[i - 1].code < mf_chars[i].code);
}

static int read_sample(void **state)
{
    FILE *file = fopen(fixture_path("tokenize/sample.txt"), "rb");
    size_t size = file ? fread(sample, 1, sizeof(sample) - 1, file) : 0;

    (void)state;
    sample[size] = 0;
    return !file || fclose(file) != 0 || size == 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(texts_have_the_ids_of_transformers),
        WITH_ENV(the_longest_piece),
        WITH_ENV(a_name_is_found_by_the_ids),
        WITH_ENV(other_ids_are_refused),
        WITH_ENV(expressions_match_as_in_oniguruma),
        WITH_ENV(bad_expressions_are_refused),
        WITH_ENV(slow_expressions_end),
        WITH_ENV(every_byte_has_its_own_character),
        WITH_ENV(characters_are_in_order),
    };

    return cmocka_run_group_tests(tests, read_sample, NULL);
}
