/* SPDX-License-Identifier: MIT
 *
 * test_restore_tokenizer.c - a tokenizer of GGUF becomes files, and these the
 * same keys again
 */
#include "lib/hf/tokenizer/parts.h"
#include "lib/hf/tokenizer/spm.h"
#include "tests/restore/restored.h"

/* ---- there and back ---- */

static void assert_keys(const char *expected)
{
    print_draft();
    if (strcmp(got, expected) != 0)
        fail_msg("expected\n%s\ngot\n%s", expected, got);
    close_folder();
}

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

/* The scores in the draft belong to the words; they are not printed. */
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

/* Unigram models: T5's has what added_tokens.json lists, XLM-RoBERTa's has ids
 * that are one above those of the pieces. */
static const struct word roman[] = { { "<pad>", 3, 0 },
                                     { "</s>", 3, 0 },
                                     { "<unk>", 2, 0 },
                                     { "\u2581a", 1, -1 },
                                     { "<|x|>", 4, -1000 } };
static const struct word fairseq[] = {
    { "<s>", 3, 0 },        { "<pad>", 3, 0 }, { "</s>", 3, 0 },
    { "<unk>", 2, 0 },      { "a", 1, -1 },    { "\u2581b", 1, -2.5f },
    { "[PAD5]", 5, -10000 }
};

static void put_unigram(void)
{
    static const uint8_t charsmap[] = { 4, 0, 0, 0, 1, 2, 3, 200, 97, 0 };

    put_bool("tokenizer.ggml.add_space_prefix", true);
    put_bool("tokenizer.ggml.remove_extra_whitespaces", false);
    gguf_array(&image, "tokenizer.ggml.precompiled_charsmap", MF_VALUE_U8,
               sizeof(charsmap));
    image_put(&image, charsmap, sizeof(charsmap));
}

static void unigram_models_come_back(void **state)
{
    bool missing;

    (void)state;
    begin_model("t5", "default", roman, COUNT(roman), true);
    put_unigram();
    must_restore();
    open_folder(COUNT(roman));
    if (mf_unigram_put_t5(&draft, &request, NULL, &missing) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    check_scores(roman);
    assert_keys("> tokenizer.ggml.model\tt5\n"
                "> tokenizer.ggml.pre\tdefault\n"
                "> tokenizer.ggml.tokens\t[<pad>,</s>,<unk>,\\xe2\\x96\\x81a,"
                "<|x|>]\n"
                "> tokenizer.ggml.token_type\t[3,3,2,1,4]\n"
                "> tokenizer.ggml.add_space_prefix\ttrue\n"
                "> tokenizer.ggml.remove_extra_whitespaces\tfalse\n"
                "> tokenizer.ggml.precompiled_charsmap\t"
                "[4,0,0,0,1,2,3,200,97,0]\n");
}

static void shifted_ids_come_back(void **state)
{
    bool missing;

    (void)state;
    begin_model("t5", "default", fairseq, COUNT(fairseq), true);
    put_unigram();
    put_u32("tokenizer.ggml.token_type_count", 1);
    put_bool("tokenizer.ggml.add_sep_token", true);
    must_restore();
    open_folder(COUNT(fairseq));
    if (mf_unigram_put_xlm(&draft, &request, NULL, &missing) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    check_scores(fairseq);
    assert_keys("> tokenizer.ggml.model\tt5\n"
                "> tokenizer.ggml.pre\tdefault\n"
                "> tokenizer.ggml.tokens\t[<s>,<pad>,</s>,<unk>,a,"
                "\\xe2\\x96\\x81b,[PAD5]]\n"
                "> tokenizer.ggml.token_type\t[3,3,3,2,1,1,5]\n"
                "> tokenizer.ggml.add_space_prefix\ttrue\n"
                "> tokenizer.ggml.token_type_count\t1\n"
                "> tokenizer.ggml.remove_extra_whitespaces\tfalse\n"
                "> tokenizer.ggml.precompiled_charsmap\t"
                "[4,0,0,0,1,2,3,200,97,0]\n"
                "> tokenizer.ggml.add_sep_token\ttrue\n");
}

static const struct word word_pieces[] = {
    { "[PAD]", 3, 0 }, { "[UNK]", 3, 0 },     { "[CLS]", 3, 0 },
    { "[SEP]", 3, 0 }, { "[MASK]", 3, 0 },    { "\u2581un", 1, 0 },
    { "able", 1, 0 },  { "\u2581[x]", 4, 0 }, { "\u2581[PAD8]", 5, 0 }
};

static void word_pieces_come_back(void **state)
{
    (void)state;
    begin_model("bert", "bert-bge", word_pieces, COUNT(word_pieces), false);
    put_u32("tokenizer.ggml.bos_token_id", 2);
    put_u32("tokenizer.ggml.eos_token_id", 3);
    put_u32("tokenizer.ggml.unknown_token_id", 1);
    put_u32("tokenizer.ggml.seperator_token_id", 3);
    put_u32("tokenizer.ggml.padding_token_id", 0);
    put_u32("tokenizer.ggml.mask_token_id", 4);
    put_bool("tokenizer.ggml.add_bos_token", true);
    put_bool("tokenizer.ggml.add_eos_token", true);
    put_bool("tokenizer.ggml.add_sep_token", false);
    put_bool("tokenizer.ggml.normalizer.lowercase", false);
    must_restore();
    open_folder(COUNT(word_pieces));
    if (mf_base_put(&draft, &request, &(struct mf_special_options){ 0 }, "bert",
                    "bert-bge") != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    assert_keys("> tokenizer.ggml.model\tbert\n"
                "> tokenizer.ggml.pre\tbert-bge\n"
                "> tokenizer.ggml.tokens\t[[PAD],[UNK],[CLS],[SEP],[MASK],"
                "\\xe2\\x96\\x81un,able,\\xe2\\x96\\x81[x],"
                "\\xe2\\x96\\x81[PAD8]]\n"
                "> tokenizer.ggml.token_type\t[3,3,3,3,3,1,1,4,5]\n"
                "> tokenizer.ggml.bos_token_id\t2\n"
                "> tokenizer.ggml.eos_token_id\t3\n"
                "> tokenizer.ggml.unknown_token_id\t1\n"
                "> tokenizer.ggml.seperator_token_id\t3\n"
                "> tokenizer.ggml.padding_token_id\t0\n"
                "> tokenizer.ggml.mask_token_id\t4\n"
                "> tokenizer.ggml.add_bos_token\ttrue\n"
                "> tokenizer.ggml.add_eos_token\ttrue\n"
                "> tokenizer.ggml.add_sep_token\tfalse\n"
                "> tokenizer.ggml.normalizer.lowercase\tfalse\n");
}

/* The file says which word is for all that is unknown: the one with that id, or
 * the one that BERT has. */
static void unknown_words_have_a_name(void **state)
{
    static const char *const names[] = { "[UNK]", "[PAD]" };

    (void)state;
    for (unsigned id = 0; id < COUNT(names); id++) {
        char wanted[96];
        size_t size;
        char *text;

        begin_model("bert", "bert-bge", word_pieces, COUNT(word_pieces), false);
        if (id > 0)
            put_u32("tokenizer.ggml.unknown_token_id", 0);
        must_restore();
        text = (char *)load(scratch_path("tokenizer.json"), &size);
        text[size] = 0;
        snprintf(wanted, sizeof(wanted),
                 "\"unk_token\":\"%s\",\"continuing_subword_prefix\":\"##\","
                 "\"max_input_chars_per_word\":100,",
                 names[id]);
        assert_non_null(strstr(text, wanted));
        free(text);
        open_folder(COUNT(word_pieces));
        close_folder();
    }
}

/* Scores that a converter has lost: the merges follow from the ids. */
static const struct word unscored[] = {
    { "<unk>", 3, -1000 }, { "<s>", 3, -1000 }, { "<0x0A>", 6, -1000 },
    { "a", 1, -1000 },     { "b", 1, -1000 },   { "\u2581", 1, -1000 },
    { "ab", 1, -1000 },    { "bab", 1, -1000 }, { "\u2581a", 1, -1000 },
    { "<end>", 4, -1000 }
};

static void lost_merges_are_made(void **state)
{
    bool missing;
    size_t size;
    char *text;

    (void)state;
    begin_model("llama", "default", unscored, COUNT(unscored), true);
    put_u32("tokenizer.ggml.bos_token_id", 1);
    put_u32("tokenizer.ggml.unknown_token_id", 0);
    put_bool("tokenizer.ggml.add_bos_token", true);
    put_bool("tokenizer.ggml.add_sep_token", false);
    must_restore();
    text = (char *)load(scratch_path("tokenizer.json"), &size);
    text[size] = 0;
    assert_non_null(strstr(text, "\"merges\":[[\"a\",\"b\"],[\"b\",\"ab\"],"
                                 "[\"\u2581\",\"a\"]]"));
    free(text);
    open_folder(COUNT(unscored));
    if (mf_llama_hf_put(&draft, &request, NULL, &missing) != MF_OK || missing)
        fail_msg("%s", mf_env_error(env)->message);
    check_scores(unscored);
    assert_keys("> tokenizer.ggml.model\tllama\n"
                "> tokenizer.ggml.pre\tdefault\n"
                "> tokenizer.ggml.tokens\t[<unk>,<s>,<0x0A>,a,b,"
                "\\xe2\\x96\\x81,ab,bab,\\xe2\\x96\\x81a,<end>]\n"
                "> tokenizer.ggml.token_type\t[3,3,6,1,1,1,1,1,1,4]\n"
                "> tokenizer.ggml.bos_token_id\t1\n"
                "> tokenizer.ggml.unknown_token_id\t0\n"
                "> tokenizer.ggml.add_bos_token\ttrue\n"
                "> tokenizer.ggml.add_sep_token\tfalse\n");
}

/* What comes after all words is only added; Gemma 4's channels are words. */
static const struct word visible[] = {
    { "<unk>", 3, -1000 },      { "<bos>", 3, -1000 }, { "<0x0A>", 6, -1000 },
    { "<|channel>", 4, -1000 }, { "a", 1, -1000 },     { "aa", 1, -1000 },
    { "<x>", 3, -1000 },        { "<y>", 4, -1000 }
};

static void visible_tokens_come_back(void **state)
{
    static const char *const merges[] = { "a a" };
    bool missing;

    (void)state;
    begin_model("gemma4", NULL, visible, COUNT(visible), true);
    put_merges(merges, 1);
    put_u32("tokenizer.ggml.bos_token_id", 1);
    put_u32("tokenizer.ggml.unknown_token_id", 0);
    put_bool("tokenizer.ggml.add_space_prefix", false);
    put_bool("tokenizer.ggml.add_bos_token", true);
    must_restore();
    open_folder(COUNT(visible));
    if (mf_llama_hf_put_gemma4(&draft, &request, NULL, &missing) != MF_OK ||
        missing)
        fail_msg("%s", mf_env_error(env)->message);
    check_scores(visible);
    assert_keys("> tokenizer.ggml.model\tgemma4\n"
                "> tokenizer.ggml.tokens\t[<unk>,<bos>,<0x0A>,<|channel>,a,aa,"
                "<x>,<y>]\n"
                "> tokenizer.ggml.token_type\t[3,3,6,4,1,1,3,4]\n"
                "> tokenizer.ggml.merges\t[a a]\n"
                "> tokenizer.ggml.bos_token_id\t1\n"
                "> tokenizer.ggml.unknown_token_id\t0\n"
                "> tokenizer.ggml.add_bos_token\ttrue\n"
                "> tokenizer.ggml.add_space_prefix\tfalse\n");
}

/* A key that a recipe wrote, before the tokenizer's, puts nothing around
 * texts. */
static void what_a_recipe_said_is_not_in_the_files(void **state)
{
    size_t size;
    char *text;

    (void)state;
    gguf_start(&image);
    put_bool("tokenizer.ggml.add_bos_token", true);
    gguf_string(&image, "tokenizer.ggml.model", "gpt2");
    gguf_string(&image, "tokenizer.ggml.pre", "gpt-2");
    put_words(byte_words, COUNT(byte_words), false);
    put_u32("tokenizer.ggml.bos_token_id", 6);
    must_restore();
    text = (char *)load(scratch_path("tokenizer.json"), &size);
    text[size] = 0;
    assert_non_null(strstr(text, "\"post_processor\":null"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(byte_level_tokens_come_back),
        cmocka_unit_test(pieces_come_back),
        cmocka_unit_test(unigram_models_come_back),
        cmocka_unit_test(shifted_ids_come_back),
        cmocka_unit_test(word_pieces_come_back),
        cmocka_unit_test(unknown_words_have_a_name),
        cmocka_unit_test(lost_merges_are_made),
        cmocka_unit_test(visible_tokens_come_back),
        cmocka_unit_test(what_a_recipe_said_is_not_in_the_files),
    };

    return RUN_WITH_SCRATCH(tests);
}
