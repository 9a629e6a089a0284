/* SPDX-License-Identifier: MIT
 *
 * test_restore_vocab.c - a tokenizer of GGUF becomes files, and these the same
 * keys again
 */
#include "lib/restore/vocab.h"

#include "lib/base/text.h"
#include "lib/tokenize/tokenize.h"
#include "lib/tokenizer/base.h"
#include "lib/tokenizer/spm.h"
#include "tests/tokenizer_folder.h"

struct word {
    const char *text;
    int type;
    float score;
};

static struct image image;

/* ---- a model with a vocabulary ---- */

static void put_words(const struct word *words, size_t count, bool scores)
{
    gguf_array(&image, "tokenizer.ggml.tokens", MF_VALUE_STRING, count);
    for (size_t i = 0; i < count; i++)
        image_text(&image, words[i].text, strlen(words[i].text));
    if (scores)
        gguf_array(&image, "tokenizer.ggml.scores", MF_VALUE_F32, count);
    for (size_t i = 0; i < count && scores; i++) {
        uint32_t bits;

        memcpy(&bits, &words[i].score, sizeof(bits));
        image_int(&image, bits, 4);
    }
    gguf_array(&image, "tokenizer.ggml.token_type", MF_VALUE_I32, count);
    for (size_t i = 0; i < count; i++)
        image_int(&image, (uint64_t)words[i].type, 4);
}

static void begin_model(const char *kind, const char *pre,
                        const struct word *words, size_t count, bool scores)
{
    gguf_start(&image);
    gguf_string(&image, "general.architecture", "llama");
    gguf_string(&image, "tokenizer.ggml.model", kind);
    if (pre)
        gguf_string(&image, "tokenizer.ggml.pre", pre);
    put_words(words, count, scores);
}

static void put_merges(const char *const *merges, size_t count)
{
    gguf_array(&image, "tokenizer.ggml.merges", MF_VALUE_STRING, count);
    for (size_t i = 0; i < count; i++)
        image_text(&image, merges[i], strlen(merges[i]));
}

static void put_u32(const char *key, uint64_t value)
{
    gguf_number(&image, key, MF_VALUE_U32, value, 4);
}

static void put_bool(const char *key, bool value)
{
    gguf_number(&image, key, MF_VALUE_BOOL, value, 1);
}

/* Moves the files of the stage into the scratch folder, which is a model's. */
static void take_files(const struct mf_stage *stage)
{
    static const char *const names[] = {
        "tokenizer.json", "vocab.txt",         "tokenizer.model",
        "spiece.model",   "added_tokens.json", "tokenizer_config.json"
    };

    for (size_t i = 0; i < COUNT(names); i++) {
        char path[600];

        snprintf(path, sizeof(path), "%s%s", stage->inside, names[i]);
        if (rename(path, scratch_path(names[i])) != 0)
            assert_int_equal(errno, ENOENT);
    }
}

static enum mf_status restore(void)
{
    struct mf_stage stage = MF_STAGE_NONE;
    struct mf_model *gguf;
    enum mf_status status;

    begin_folder();
    gguf_save(&image, scratch_path("in.gguf"));
    gguf = open_model(scratch_path("in.gguf"));
    assert_int_equal(mf_stage_begin(env, scratch_path("out"), &stage), MF_OK);
    status = mf_restore_vocab(&stage, gguf);
    take_files(&stage);
    mf_stage_abort(&stage);
    mf_model_close(gguf);
    return status;
}

static void must_restore(void)
{
    if (restore() != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
}

/* ---- there and back ---- */

static void assert_keys(const char *expected)
{
    print_draft();
    if (strcmp(got, expected) != 0)
        fail_msg("expected\n%s\ngot\n%s", expected, got);
    close_folder();
}

static const struct word byte_words[] = {
    { "a", 1, 0 },     { "b", 1, 0 },         { "c", 1, 0 },
    { "ab", 1, 0 },    { "abc", 1, 0 },       { "\u0120", 1, 0 },
    { "<|s|>", 3, 0 }, { "two words", 4, 0 }, { "\u00e9", 4, 0 },
    { "[PAD9]", 5, 0 }
};
static const char *const byte_merges[] = { "a b", "ab c" };

static void byte_level_tokens_come_back(void **state)
{
    const struct mf_special_options options = { .merges = true };

    (void)state;
    begin_model("gpt2", "gpt-2", byte_words, COUNT(byte_words), false);
    put_merges(byte_merges, COUNT(byte_merges));
    put_u32("tokenizer.ggml.bos_token_id", 6);
    put_u32("tokenizer.ggml.eos_token_id", 6);
    put_bool("tokenizer.ggml.add_bos_token", true);
    put_bool("tokenizer.ggml.add_sep_token", false);
    gguf_string(&image, "tokenizer.chat_template", "{{ \"\\n\u00e9\" }}");
    must_restore();
    open_folder(COUNT(byte_words));
    if (mf_base_put(&draft, &request, &options, "gpt2", "gpt-2") != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    assert_keys(
        "> tokenizer.ggml.model\tgpt2\n"
        "> tokenizer.ggml.pre\tgpt-2\n"
        "> tokenizer.ggml.tokens\t[a,b,c,ab,abc,\\xc4\\xa0,<|s|>,"
        "two words,\\xc3\\xa9,[PAD9]]\n"
        "> tokenizer.ggml.token_type\t[1,1,1,1,1,1,3,4,4,5]\n"
        "> tokenizer.ggml.merges\t[a b,ab c]\n"
        "> tokenizer.ggml.bos_token_id\t6\n"
        "> tokenizer.ggml.eos_token_id\t6\n"
        "> tokenizer.ggml.add_bos_token\ttrue\n"
        "> tokenizer.ggml.add_sep_token\tfalse\n"
        "> tokenizer.chat_template\t{{ \\x22\\x5cn\\xc3\\xa9\\x22 }}\n");
}

static enum mf_status check_score(void *user, const struct mf_value *value)
{
    const struct word **next = user;

    if (value->event == MF_EVENT_ITEM)
        assert_true((float)value->number.f64 == (*next)++->score);
    return MF_OK;
}

/* The scores in the draft are those of the words; they are not printed. */
static void check_scores(const struct word *next)
{
    struct mf_entry *scores = mf_draft_find(&draft, "tokenizer.ggml.scores");

    assert_non_null(scores);
    assert_int_equal(mf_entry_read(env, scores, check_score, &next), MF_OK);
    mf_draft_remove(&draft, scores);
}

static const struct word pieces[] = {
    { "<unk>", 2, 0 },         { "<s>", 3, 0 },         { "</s>", 3, -1000 },
    { "\u2581a", 1, -1.5f },   { "a", 1, -2.25f },      { "<|x|>", 4, -1000 },
    { "two words", 4, -1000 }, { "late", 3, -1000 },    { "gone", 5, -3 },
    { "[PAD9]", 5, -10000 },   { "[PAD10]", 5, -10000 }
};

static void pieces_come_back(void **state)
{
    bool missing;

    (void)state;
    begin_model("llama", "default", pieces, COUNT(pieces), true);
    must_restore();
    open_folder(COUNT(pieces));
    if (mf_spm_put(&draft, &request, NULL, &missing) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    assert_false(missing);
    check_scores(pieces);
    assert_keys("> tokenizer.ggml.model\tllama\n"
                "> tokenizer.ggml.pre\tdefault\n"
                "> tokenizer.ggml.tokens\t[<unk>,<s>,</s>,\\xe2\\x96\\x81a,a,"
                "<|x|>,two words,late,gone,[PAD9],[PAD10]]\n"
                "> tokenizer.ggml.token_type\t[2,3,3,1,1,4,4,3,5,5,5]\n");
}

/* ---- every row ---- */

/* All characters that stand for bytes, so that every text has ids. */
static void put_all_bytes(void)
{
    static char text[256][4];
    static struct word words[256];

    for (unsigned i = 0; i < 256; i++) {
        text[i][mf_utf8_put(mf_byte_char((uint8_t)i), text[i])] = 0;
        words[i] = (struct word){ text[i], 1, 0 };
    }
    put_words(words, 256, false);
}

static void every_way_of_cutting_can_be_read(void **state)
{
    const struct mf_str text = { "I'll pay 1234.50 -- \u6211\n\n  x", 28 };
    const char *name;

    (void)state;
    for (size_t i = 0; (name = mf_pre_name_at(i)) != NULL; i++) {
        struct mf_tokenize *tokenizer = NULL;
        struct mf_fast *fast;
        uint32_t *ids;
        size_t count;

        gguf_start(&image);
        gguf_string(&image, "tokenizer.ggml.model", "gpt2");
        gguf_string(&image, "tokenizer.ggml.pre", name);
        put_all_bytes();
        must_restore();
        open_folder(256);
        fast = mf_arena_take(&draft.arena, sizeof(*fast));
        if (fast && mf_fast_open(fast, model, &draft.arena, NULL) == MF_OK)
            tokenizer = mf_tokenize_open(fast, &draft.arena);
        if (!tokenizer ||
            mf_tokenize_encode(tokenizer, text, true, &ids, &count) != MF_OK)
            fail_msg("%s: %s", name, mf_env_error(env)->message);
        if (count != text.size)
            fail_msg("%s: %zu ids for %zu bytes", name, count, text.size);
        close_folder();
    }
}

/* Names that a GGUF file can have, but for those of WordPiece and of what
 * tokenizer.json cannot express. */
static void every_known_name_has_a_row(void **state)
{
    static const char *const names[] = {
#define PRE(name, hash) name,
#include "lib/tokenize/pre.def"
#undef PRE
    };
    static const char *const without[] = { "afmoe",
                                           "bert-bge",
                                           "bert-bge-large",
                                           "gemma4",
                                           "granite-embed-multi-311m",
                                           "jina-v2-en",
                                           "sarvam-moe" };

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        const char *row;
        size_t at = 0;
        bool known = false;

        while (!known && (row = mf_pre_name_at(at++)) != NULL)
            known = strcmp(row, names[i]) == 0;
        for (at = 0; at < COUNT(without); at++)
            known = known || strcmp(without[at], names[i]) == 0;
        if (!known)
            fail_msg("'%s' has no row in lib/restore/vocab_pre.def", names[i]);
    }
}

/* ---- what is refused ---- */

static void assert_refused(const char *part)
{
    assert_int_not_equal(restore(), MF_OK);
    if (!strstr(mf_env_error(env)->message, part))
        fail_msg("expected '%s', got '%s'", part, mf_env_error(env)->message);
    mf_clear_error(env);
}

static void begin_bytes(const char *pre)
{
    begin_model("gpt2", pre, byte_words, COUNT(byte_words), false);
}

static void what_cannot_be_is_refused(void **state)
{
    const struct word twice[] = { { "a", 1, 0 }, { "b", 1, 0 }, { "a", 1, 0 } };
    const struct word no_text[] = { { "a\xff", 1, 0 } };
    const struct word no_type[] = { { "a", 7, 0 } };
    const struct word no_unknown[] = { { "a", 1, 0 } };
    const char *const no_merge[] = { "ab" };

    (void)state;
    begin_bytes("nobody-knows");
    assert_refused("'tokenizer.ggml.pre' is 'nobody-knows'");
    begin_bytes(NULL);
    assert_refused("missing metadata key 'tokenizer.ggml.pre'");
    begin_model("rwkv", NULL, byte_words, COUNT(byte_words), false);
    assert_refused("'tokenizer.ggml.model' is 'rwkv'");
    begin_model("gpt2", "gpt-2", twice, COUNT(twice), false);
    assert_refused("token 2 has the text of an earlier one: 'a'");
    begin_model("gpt2", "gpt-2", no_text, COUNT(no_text), false);
    assert_refused("token 0 is not valid UTF-8");
    begin_model("gpt2", "gpt-2", no_type, COUNT(no_type), false);
    assert_refused("token 0 has an unknown type (7)");
    begin_model("llama", "default", no_unknown, COUNT(no_unknown), true);
    assert_refused("no token has the type 'unknown'");
    begin_bytes("gpt-2");
    put_merges(no_merge, 1);
    assert_refused("merge 0 is not two texts");
    begin_bytes("gpt-2");
    put_u32("tokenizer.ggml.eos_token_id", 10);
    assert_refused("'tokenizer.ggml.eos_token_id' is 10: there are 10 tokens");
    begin_bytes("gpt-2");
    gguf_string(&image, "tokenizer.ggml.add_bos_token", "yes");
    assert_refused("'tokenizer.ggml.add_bos_token' is not true or false");
}

static void a_model_without_a_tokenizer_has_no_files(void **state)
{
    (void)state;
    gguf_start(&image);
    gguf_string(&image, "tokenizer.ggml.model", "none");
    must_restore();
    assert_int_not_equal(access(scratch_path("tokenizer_config.json"), F_OK),
                         0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(byte_level_tokens_come_back),
        cmocka_unit_test(pieces_come_back),
        cmocka_unit_test(every_way_of_cutting_can_be_read),
        cmocka_unit_test(every_known_name_has_a_row),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_model_without_a_tokenizer_has_no_files),
    };

    return RUN_WITH_SCRATCH(tests);
}
