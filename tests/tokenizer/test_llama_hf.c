/* SPDX-License-Identifier: MIT
 *
 * test_llama_hf.c - a SentencePiece model's tokenizer.json as metadata of GGUF
 *
 * What is expected is what llama.cpp v0.5.0's converter writes of the same
 * files, with transformers 4.57.6.
 */
#include "tests/tokenizer/vocab_folder.h"

/* tokenizer.json with that model and those added tokens. */
static void put_tokenizer(const char *facts, const char *vocab,
                          const char *added)
{
    static char text[8192];

    assert_true((size_t)snprintf(text, sizeof(text),
                                 "{\"version\": \"1.0\","
                                 " \"added_tokens\": [%s],"
                                 " \"normalizer\": null,"
                                 " \"pre_tokenizer\": null,"
                                 " \"post_processor\": null,"
                                 " \"decoder\": {\"type\": \"Sequence\","
                                 "  \"decoders\": [{\"type\": \"Fuse\"}]},"
                                 " \"model\": {\"type\": \"BPE\", %s,"
                                 " \"vocab\": {%s},"
                                 " \"merges\": [\"a b\"]}}",
                                 added, facts, vocab) < sizeof(text));
    put_file("tokenizer.json", text);
}

static const char fallback[] = "\"byte_fallback\": true";
static const char vocab[] =
    "\"<unk>\": 0, \"<s>\": 1, \"</s>\": 2, \"<0x0A>\": 3, \"a\": 5,"
    " \"b\": 4, \"<0x0a>\": 6, \"ab\": 7, \"\\u2581<0x0A>\": 8";
static const char added[] =
    "{\"id\": 0, \"content\": \"<unk>\", \"special\": true,"
    " \"single_word\": false, \"lstrip\": false, \"rstrip\": false,"
    " \"normalized\": false},"
    "{\"id\": 9, \"content\": \"late\", \"special\": false,"
    " \"single_word\": false, \"lstrip\": false, \"rstrip\": false,"
    " \"normalized\": false},"
    "{\"id\": 10, \"content\": \"<pad>\", \"special\": false,"
    " \"single_word\": false, \"lstrip\": false, \"rstrip\": false,"
    " \"normalized\": false}";

static void begin(void)
{
    begin_folder("{\"model_type\": \"llama\"}");
    put_file("tokenizer_config.json",
             "{\"tokenizer_class\": \"LlamaTokenizer\","
             " \"pad_token\": \"<pad>\"}");
    put_tokenizer(fallback, vocab, added);
}

static void byte_fallback(void **state)
{
    (void)state;
    begin();
    assert_shown(mf_llama_hf_put, "llama",
                 "model: llama|\npre: default|\n"
                 "tokens: <unk>|<s>|</s>|<0x0A>|b|a|<0x0a>|ab|\u2581<0x0A>|"
                 "late|<pad>|\n"
                 "scores: -1000|-1000|-1000|-1000|-1000|-1000|-1000|-1000|"
                 "-1000|-1000|-1000|\n"
                 "token_type: 3|3|3|6|1|1|6|1|1|4|3|\n"
                 "padding_token_id: 10|\n");
}

static void visible_tokens(void **state)
{
    (void)state;
    begin();
    put_tokenizer(fallback,
                  "\"<unk>\": 0, \"<s>\": 1, \"</s>\": 2, \"<|channel>\": 3,"
                  " \"<|channel|>\": 4, \"a\": 5",
                  added);
    assert_shown(mf_llama_hf_put_gemma4, "gemma4",
                 "model: gemma4|\n"
                 "tokens: <unk>|<s>|</s>|<|channel>|<|channel|>|a|late|<pad>|\n"
                 "scores: -1000|-1000|-1000|-1000|-1000|-1000|-1000|-1000|\n"
                 "token_type: 3|3|3|4|1|1|4|3|\n"
                 "merges: a b|\npadding_token_id: 10|\n"
                 "add_space_prefix: 0|\nadd_bos_token: 1|\n");
}

static void xverse(void **state)
{
    (void)state;
    begin();
    put_tokenizer("\"byte_fallback\": false",
                  "\"<unk>\": 0, \"<s>\": 1, \"</s>\": 2, \"\\u0000\": 3,"
                  " \"<0xfF>\": 4, \"<0xfF>a\": 5",
                  added);
    assert_shown(mf_llama_hf_put_xverse, "xverse",
                 "model: llama|\npre: default|\n"
                 "tokens: <unk>|<s>|</s>|<b'\\x00'>|<0xfF>|<0xfF>a|late|"
                 "<pad>|\n"
                 "token_type: 3|3|3|6|6|1|4|3|\n");
    put_file("config.json", "{\"model_type\": \"llama\", \"vocab_size\": 7}");
    assert_refused(mf_llama_hf_put_xverse,
                   "'tokenizer.json' has the id 7, but 'vocab_size' is 7");
    put_file("config.json", "{\"model_type\": \"llama\", \"vocab_size\": 9}");
    assert_refused(mf_llama_hf_put_xverse,
                   "'tokenizer.json' has 9 tokens, but none has the id 8");
}

/* What llama.cpp's converter leaves to the next procedure. */
static void other_tokenizers(void **state)
{
    static const char *const facts[] = { "\"byte_fallback\": false",
                                         "\"byte_fallback\": null",
                                         "\"ignore_merges\": true" };

    (void)state;
    begin_folder("{}");
    assert_int_equal(run(mf_llama_hf_put, "llama"), MF_OK);
    assert_true(missing);
    finish();
    for (size_t i = 0; i < COUNT(facts); i++) {
        begin();
        put_tokenizer(facts[i], vocab, added);
        assert_int_equal(run(mf_llama_hf_put, "llama"), MF_OK);
        assert_true(missing);
        assert_int_equal(draft.entry_count, 0);
        finish();
    }
}

static void a_hole(void **state)
{
    (void)state;
    begin();
    put_tokenizer(fallback, "\"<unk>\": 0, \"<s>\": 1, \"</s>\": 3", added);
    assert_refused(mf_llama_hf_put,
                   "'tokenizer.json' has 3 tokens, but none has the id 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(byte_fallback),    WITH_ENV(visible_tokens), WITH_ENV(xverse),
        WITH_ENV(other_tokenizers), WITH_ENV(a_hole),
    };

    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
