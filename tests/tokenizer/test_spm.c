/* SPDX-License-Identifier: MIT
 *
 * test_spm.c - vocabularies of SentencePiece as metadata of GGUF
 *
 * What is expected is what llama.cpp v0.5.0's converter writes of the same
 * files.
 */
#include "tests/tokenizer/proto_image.h"
#include "tests/tokenizer/vocab_folder.h"

static void put_image(const char *name)
{
    save(scratch_path(name), message.at, message.size);
}

static void put_added_config(const char *decoder)
{
    char text[4096];

    assert_true((size_t)snprintf(text, sizeof(text),
                                 "{\"tokenizer_class\": \"LlamaTokenizer\","
                                 " \"added_tokens_decoder\": %s}",
                                 decoder) < sizeof(text));
    put_file("tokenizer_config.json", text);
}

/* ---- the usual procedure ---- */

/* Three added tokens, of which the second is also in tokenizer_config.json. */
static void put_added(void)
{
    put_file("added_tokens.json",
             "{\"late\": 7, \"<|a|>\": 8, \"beyond\": 11, \"\\u2581q\": 9}");
    put_added_config(
        "{\"8\": {\"content\": \"<|a|>\", \"special\": false},"
        " \"3\": {\"special\": true, \"content\": \"A\"},"
        " \"4\": {\"content\": \"\\u2581b\\u2581\", \"special\": null},"
        " \"99\": {\"content\": \"beyond\"}}");
}

static void pieces_and_added_tokens(void **state)
{
    (void)state;
    begin_folder("{\"vocab_size\": 11}");
    put_first_pieces();
    put_piece("user", -4, 4);
    put_trainer(2, false);
    put_image("tokenizer.model");
    put_added();
    assert_shown(mf_spm_put, "llama",
                 "model: llama|\n"
                 "pre: default|\n"
                 "tokens: <unk>|<s>|</s>|A| b |ab|user|late|<|a|>|\u2581q|"
                 "[PAD10]|\n"
                 "scores: 0|0|0|-1000|-1000|-3|-4|-1000|-1000|-1000|-10000|\n"
                 "token_type: 2|3|3|3|4|1|1|4|3|4|5|\n");
}

/* Without vocab_size there is a token for each piece; with a small one the
 * last pieces are left out. */
static void size_of_the_vocabulary(void **state)
{
    (void)state;
    begin_folder("{}");
    put_first_pieces();
    put_image("tokenizer.model");
    assert_shown(mf_spm_put, "llama",
                 "model: llama|\npre: default|\n"
                 "tokens: <unk>|<s>|</s>|a|b|ab|\n"
                 "scores: 0|0|0|-1|-2.5|-3|\n"
                 "token_type: 2|3|3|1|1|1|\n");
    put_file("config.json", "{\"vocab_size\": 2}");
    assert_shown(mf_spm_put, "llama",
                 "model: llama|\npre: default|\ntokens: <unk>|<s>|\n"
                 "scores: 0|0|\ntoken_type: 2|3|\n");
    put_file("config.json", "{\"vocab_size\": 4194304}");
    assert_int_equal(run(mf_spm_put, "llama"), MF_OK);
    finish();
    put_file("config.json", "{\"vocab_size\": 4194305}");
    assert_refused(mf_spm_put, "'vocab_size' is 4194305, at most 4194304");
}

static void nothing_there(void **state)
{
    static mf_tokenizer_procedure *const procedures[] = { mf_spm_put,
                                                          mf_unigram_put_t5,
                                                          mf_unigram_put_xlm };

    (void)state;
    begin_folder("{}");
    for (size_t i = 0; i < COUNT(procedures); i++) {
        assert_int_equal(run(procedures[i], "llama"), MF_OK);
        assert_true(missing);
        assert_int_equal(draft.entry_count, 0);
        finish();
    }
    assert_refused(mf_spm_put_phi3, "missing file 'tokenizer.model'");
    assert_refused(mf_spm_put_internlm2, "missing file 'tokenizer.model'");
    assert_refused(mf_spm_put_internlm3, "missing file 'tokenizer.model'");
}

/* Long texts, escapes, and files whose tokens come in no order. */
static void texts_of_added_tokens(void **state)
{
    static char text[8000], expected[8000];

    (void)state;
    memset(text, 0, sizeof(text));
    strcpy(text, "{\"added_tokens_decoder\": {"
                 "\"2\": {\"content\": \"\\ud83d\\ude00\\n\\\"\"},"
                 "\"1\": {\"content\": \"<|");
    memset(text + strlen(text), 'y', 5000);
    strcat(text, "|>\"}, \"0\": {\"content\": \"x\"},"
                 "\"2\": {\"content\": \"z\", \"special\": true}}}");
    begin_folder("{\"vocab_size\": 3}");
    put_first_pieces();
    put_image("tokenizer.model");
    put_file("tokenizer_config.json", text);
    strcpy(expected, "model: llama|\npre: default|\ntokens: x|<|");
    memset(expected + strlen(expected), 'y', 5000);
    strcat(expected, "|>|z|\nscores: -1000|-1000|-1000|\n"
                     "token_type: 4|3|3|\n");
    assert_shown(mf_spm_put, "llama", expected);
    put_file("tokenizer_config.json",
             "{\"added_tokens_decoder\": {"
             "\"2\": {\"content\": \"\\ud83d\\ude00\\n\\\"\"}}}");
    assert_shown(mf_spm_put, "llama",
                 "model: llama|\npre: default|\n"
                 "tokens: <unk>|<s>|\U0001F600\n\"|\n"
                 "scores: 0|0|-1000|\ntoken_type: 2|3|4|\n");
}

static void bad_added_tokens(void **state)
{
    static const struct row {
        const char *file, *text, *words;
    } rows[] = {
        { "added_tokens.json", "[]", "must be an object" },
        { "added_tokens.json", "{\"a\": -1}", "an integer from 0 on" },
        { "added_tokens.json", "{\"a\": 1.0}", "an integer from 0 on" },
        { "added_tokens.json", "{\"a\": \"1\"}", "an integer from 0 on" },
        { "added_tokens.json", "{\"a\": {}}", "an integer from 0 on" },
        { "added_tokens.json", "{\"a\": 1", "'added_tokens.json': " },
        { "added_tokens.json", "{} {}", "'added_tokens.json': " },
        { "tokenizer_config.json", "{\"added_tokens_decoder\": null}",
          "'added_tokens_decoder' must be an object" },
        { "tokenizer_config.json", "{\"added_tokens_decoder\": {\"x\": {}}}",
          "'added_tokens_decoder.x' is not the id of a token" },
        { "tokenizer_config.json", "{\"added_tokens_decoder\": {\"-1\": {}}}",
          "'added_tokens_decoder.-1' is not the id of a token" },
        { "tokenizer_config.json",
          "{\"added_tokens_decoder\": {\"99999999999999999999\": {}}}",
          "is not the id of a token" },
        { "tokenizer_config.json", "{\"added_tokens_decoder\": {\"1.5\": {}}}",
          "is not the id of a token" },
        { "tokenizer_config.json", "{\"added_tokens_decoder\": {\"1\": []}}",
          "'added_tokens_decoder.1' must be an object" },
        { "tokenizer_config.json", "{\"added_tokens_decoder\": {\"1\": {}}}",
          "'content' is missing" },
        { "tokenizer_config.json",
          "{\"added_tokens_decoder\": {\"1\": {\"content\": 1}}}",
          "'added_tokens_decoder.1.content' must be a string" },
        { "tokenizer_config.json",
          "{\"added_tokens_decoder\": {\"1\": {\"content\": \"x\","
          " \"special\": 1}}}",
          "'added_tokens_decoder.1.special' must be true or false" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        begin_folder("{\"vocab_size\": 8}");
        put_first_pieces();
        put_image("tokenizer.model");
        put_file(rows[i].file, rows[i].text);
        assert_refused(mf_spm_put, rows[i].words);
    }
}

/* ---- Phi 3 ---- */

static void phi3(void **state)
{
    static const char tokenizer[] =
        "{\"version\": \"1.0\", \"added_tokens\": ["
        " {\"id\": 1, \"content\": \"<s>\", \"special\": true},"
        " {\"id\": 7, \"content\": \"\\u2581late\", \"special\": false}],"
        " \"model\": {\"vocab\": {\"x\": 1}}}";

    (void)state;
    begin_folder("{\"vocab_size\": 9}");
    put_first_pieces();
    put_image("tokenizer.model");
    put_file("added_tokens.json", "{\"c\": 6, \"far\": 9}");
    put_file("tokenizer_config.json",
             "{\"tokenizer_class\": \"LlamaTokenizer\","
             " \"added_tokens_decoder\": {"
             " \"5\": {\"content\": \"<|a|>\", \"special\": false}}}");
    put_file("tokenizer.json", tokenizer);
    assert_shown(mf_spm_put_phi3, "phi3",
                 "model: llama|\npre: default|\n"
                 "tokens: <unk>|<s>|</s>|a|b|<|a|>|c|\u2581late|[PAD8]|\n"
                 "scores: 0|-1000|0|-1|-2.5|-1000|-1000|-1000|-10000|\n"
                 "token_type: 2|3|3|1|1|4|4|4|5|\n");
    put_file("config.json", "{\"vocab_size\": 7}");
    assert_refused(mf_spm_put_phi3, "id 7 of an added token is not below 7");
    put_file("config.json", "{\"vocab_size\": 5}");
    assert_refused(mf_spm_put_phi3,
                   "'tokenizer.model' has 6 pieces, but 'vocab_size' is 5");
    put_file("tokenizer_config.json", "{}");
    assert_refused(mf_spm_put_phi3, "missing key 'tokenizer_class'");
    put_file("tokenizer_config.json",
             "{\"tokenizer_class\": \"GPT2Tokenizer\"}");
    assert_int_equal(run(mf_spm_put_phi3, "phi3"), MF_OK);
    assert_true(missing);
    finish();
}

/* ---- InternLM ---- */

static void internlm2(void **state)
{
    (void)state;
    begin_folder("{\"vocab_size\": 8, \"eos_token_id\": 2}");
    put_first_pieces();
    put_piece_of("\0", 1, -4, 0);
    put_piece("[UNUSED_TOKEN_1]", -5, 0);
    put_normalizer("", 0, false, true);
    put_image("tokenizer.model");
    put_file("added_tokens.json", "{\"late\": 3, \"later\": \"x\"}");
    put_file("tokenizer.json",
             "{\"added_tokens\": [{\"id\": 9, \"content\": \"<|im_end|>\","
             " \"special\": true}]}");
    assert_shown(mf_spm_put_internlm2, "internlm2",
                 "model: llama|\npre: default|\n"
                 "tokens: <unk>|<s>|</s>|a|b|ab|\U0001F409|[UNUSED_TOKEN_1]|"
                 "late|<|im_end|>|\n"
                 "scores: 0|0|0|-1|-2.5|-3|-4|-5|-1000|-1000|\n"
                 "token_type: 2|3|3|1|1|1|1|5|4|3|\n"
                 "add_space_prefix: 0|\neos_token_id: 9|\n");
    put_file("config.json", "{\"vocab_size\": 8}");
    assert_refused(mf_spm_put_internlm2, "neither 'eos_token' nor");
    put_file("config.json", "{\"vocab_size\": 9}");
    assert_refused(mf_spm_put_internlm2,
                   "'tokenizer.model' has 8 pieces, but 'vocab_size' is 9");
    put_file("config.json", "{\"vocab_size\": 7}");
    assert_refused(mf_spm_put_internlm2,
                   "id 9 of an added token is not below 9");
}

static void internlm3(void **state)
{
    static const char config[] =
        "{\"add_prefix_space\": true, \"added_tokens_decoder\": {"
        " \"5\": {\"content\": \"<|im_end|>\", \"special\": true},"
        " \"6\": {\"content\": \"<|im_end|>\", \"special\": false}}}";

    (void)state;
    begin_folder("{\"vocab_size\": 7, \"eos_token_id\": 2}");
    put_first_pieces();
    put_image("tokenizer.model");
    put_file("tokenizer_config.json", config);
    assert_shown(mf_spm_put_internlm3, "llama",
                 "model: llama|\npre: default|\n"
                 "tokens: <unk>|<s>|</s>|a|b|<|im_end|>|<|im_end|>|\n"
                 "scores: 0|0|0|-1|-2.5|-1000|-1000|\n"
                 "token_type: 2|3|3|1|1|3|3|\n"
                 "add_space_prefix: 1|\neos_token_id: 5|\n");
    put_file("config.json", "{\"vocab_size\": 3}");
    put_file("tokenizer_config.json", "{}");
    assert_shown(mf_spm_put_internlm3, "llama",
                 "model: llama|\npre: default|\ntokens: <unk>|<s>|</s>|\n"
                 "scores: 0|0|0|\ntoken_type: 2|3|3|\n");
    put_file("tokenizer_config.json", "{\"add_prefix_space\": 1}");
    assert_refused(mf_spm_put_internlm3,
                   "'add_prefix_space' must be true or false");
}

/* ---- T5 and XLM-RoBERTa ---- */

static void t5(void **state)
{
    (void)state;
    begin_folder("{\"vocab_size\": 8}");
    put_first_pieces();
    put_normalizer("\1\0\0\0ab", 6, false, true);
    put_image("spiece.model");
    put_file("added_tokens.json", "{\"<extra_id_0>\": 6, \"far\": 8}");
    put_added_config("{\"0\": {\"content\": \"not read\"}}");
    assert_shown(mf_unigram_put_t5, "t5",
                 "model: t5|\npre: default|\n"
                 "tokens: <unk>|<s>|</s>|a|b|ab|<extra_id_0>|[PAD7]|\n"
                 "scores: 0|0|0|-1|-2.5|-3|-1000|-10000|\n"
                 "token_type: 2|3|3|1|1|1|4|5|\n"
                 "add_space_prefix: 0|\nremove_extra_whitespaces: 1|\n"
                 "precompiled_charsmap: 1|0|0|0|97|98|\n");
    put_file("config.json", "{\"vocab_size\": 5}");
    assert_refused(mf_unigram_put_t5,
                   "'spiece.model' has 6 pieces, but 'vocab_size' is 5");
    put_first_pieces();
    put_trainer(2, false);
    put_image("spiece.model");
    assert_refused(mf_unigram_put_t5, "'model_type' is 2, not 1 (unigram)");
    put_image("tokenizer.model"); /* BPE, as Pile-T5 has it */
    assert_shown(mf_unigram_put_t5, "t5",
                 "model: llama|\npre: default|\n"
                 "tokens: not read|<s>|</s>|a|b|\n"
                 "scores: -1000|0|0|-1|-2.5|\ntoken_type: 4|3|3|1|1|\n");
}

static void xlm_roberta(void **state)
{
    (void)state;
    begin_folder("{\"vocab_size\": 8, \"type_vocab_size\": 2}");
    put_first_pieces();
    put_normalizer("\1\0\0\0ab", 6, true, false);
    put_image("sentencepiece.bpe.model");
    put_file("added_tokens.json", "{\"not read\": 6}");
    assert_shown(mf_unigram_put_xlm, "bert",
                 "model: t5|\npre: default|\n"
                 "tokens: <s>|<pad>|</s>|<unk>|a|b|ab|[PAD6]|\n"
                 "scores: 0|0|0|0|-1|-2.5|-3|-10000|\n"
                 "token_type: 3|3|3|2|1|1|1|5|\n"
                 "add_space_prefix: 1|\ntoken_type_count: 2|\n"
                 "remove_extra_whitespaces: 0|\n"
                 "precompiled_charsmap: 1|0|0|0|97|98|\n");
    put_file("config.json", "{\"vocab_size\": 2}");
    assert_shown(mf_unigram_put_xlm, "bert",
                 "model: t5|\npre: default|\n"
                 "tokens: <s>|<pad>|</s>|<unk>|a|b|\n"
                 "scores: 0|0|0|0|-1|-2.5|\ntoken_type: 3|3|3|2|1|1|\n"
                 "add_space_prefix: 1|\ntoken_type_count: 1|\n"
                 "remove_extra_whitespaces: 0|\n"
                 "precompiled_charsmap: 1|0|0|0|97|98|\n");
    put_file("config.json", "{\"type_vocab_size\": \"2\"}");
    assert_refused(mf_unigram_put_xlm,
                   "'type_vocab_size' must be a number, not a string");
}

/* ---- rows of the embedding ---- */

static void assert_rows(uint64_t expected)
{
    struct mf_arena arena;
    struct mf_node *config = NULL;
    uint64_t rows = 0;
    enum mf_status status;

    mf_clear_error(env);
    model = open_model(scratch_path("model.safetensors"));
    mf_arena_init(&arena, env);
    status = mf_sidecar_tree(model, &arena, "config.json", MF_SIDECAR_LIMIT,
                             &config);
    if (status == MF_OK)
        status = mf_tokenizer_rows(model, &arena, config, &rows);
    mf_arena_release(&arena);
    mf_model_close(model);
    assert_int_equal(status, expected == UINT64_MAX ? MF_ERR_CORRUPT : MF_OK);
    assert_int_equal(rows, expected == UINT64_MAX ? 0 : expected);
}

static void rows_with_a_token(void **state)
{
    (void)state;
    begin_folder("{}");
    put_file("tokenizer.json",
             "{\"added_tokens\": [{\"id\": 0}, {\"id\": {\"a\": []}}],"
             " \"model\": {\"vocab\": {\"a\": 0, \"b\": 1, \"c\": 2}}}");
    assert_rows(5);
    put_file("tokenizer.json",
             "{\"added_tokens\": [],"
             " \"model\": {\"vocab\": [[\"a\", 0.5], [\"b\", 1.5]]}}");
    assert_rows(2);
    put_file("tokenizer.json", "{\"model\": {\"vocab\": {}}}");
    assert_rows(UINT64_MAX);
    put_first_pieces();
    put_image("tokenizer.model");
    assert_rows(6);
    put_file("config.json", "{\"vocab_size\": 9}");
    assert_rows(9);
    put_file("config.json",
             "{\"vocab_size_per_layer_input\": 8, \"vocab_size\": 9}");
    assert_rows(8);
    put_file("config.json",
             "{\"vocab_size_per_layer_input\": null, \"vocab_size\": 9}");
    assert_rows(6);
}

/* ---- cost ---- */

/* A hundred thousand pieces under a limit that has no room for two bytes of
 * each. */
static void memory(void **state)
{
    struct mf_heap_stats before, after;
    char text[16];

    (void)state;
    begin_folder("{\"vocab_size\": 120000}");
    put_first_pieces();
    for (int i = 0; i < 100000; i++) {
        snprintf(text, sizeof(text), "\u2581w%d", i);
        put_piece(text, (float)-i, 1);
    }
    put_image("tokenizer.model");
    mf_env_heap(env, &before);
    assert_int_equal(run(mf_spm_put, "llama"), MF_OK);
    mf_env_heap(env, &after);
    assert_true(after.live - before.live < 40000);
    assert_true(after.peak - before.live < 1500000); /* ten bytes of each */
    finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(pieces_and_added_tokens),
        WITH_ENV(size_of_the_vocabulary),
        WITH_ENV(nothing_there),
        WITH_ENV(texts_of_added_tokens),
        WITH_ENV(bad_added_tokens),
        WITH_ENV(phi3),
        WITH_ENV(internlm2),
        WITH_ENV(internlm3),
        WITH_ENV(t5),
        WITH_ENV(xlm_roberta),
        WITH_ENV(rows_with_a_token),
        WITH_ENV(memory),
    };

    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
