/* SPDX-License-Identifier: MIT
 *
 * test_unigram_json.c - XLM-RoBERTa's tokenizer.json as metadata of GGUF
 *
 * What is expected is what llama.cpp v0.5.0's converter writes of the same
 * files, with transformers 4.57.6.
 */
#include "tests/tokenizer/vocab_folder.h"

#define ADDED(id, text, special)                                               \
    "{\"id\": " id ", \"content\": \"" text "\", \"special\": " special        \
    ", \"single_word\": false, \"lstrip\": false, \"rstrip\": false,"          \
    " \"normalized\": false}"

static const char vocab[] =
    "[[\"<s>\", 0.0], [\"<pad>\", 0.0], [\"</s>\", 0.0], [\"<unk>\", 0.0],"
    " [\"\\u2581a\", -1.5], [\"b\", -2e0], [\"c\", -3.25]]";

/* facts: of the model, with a comma after them; charsmap: in base64. */
static void put_tokenizer(const char *facts, const char *tokens,
                          const char *normalizer)
{
    static char text[4096];

    assert_true(
        (size_t)snprintf(
            text, sizeof(text),
            "{\"version\": \"1.0\", \"added_tokens\": [" ADDED("0", "<s>", "true") "," ADDED(
                "1", "<pad>",
                "true") "," ADDED("2", "</s>",
                                  "true") "," ADDED("3", "<unk>",
                                                    "true") "," ADDED("5", "b",
                                                                      "false") "," ADDED("7",
                                                                                         "<mask>",
                                                                                         "true") "],"
                                                                                                 " \"normalizer\": %s,"
                                                                                                 " \"pre_tokenizer\": null,"
                                                                                                 " \"post_processor\": null,"
                                                                                                 " \"decoder\": null,"
                                                                                                 " \"model\": {\"type\": \"Unigram\", %s"
                                                                                                 " \"vocab\": %s}}",
            normalizer, facts, tokens) < sizeof(text));
    put_file("tokenizer.json", text);
}

static const char charsmap[] =
    "{\"type\": \"Precompiled\", \"precompiled_charsmap\": \"AQAAAGFi\"}";

static void begin(const char *config)
{
    begin_folder(config);
    put_file("tokenizer_config.json",
             "{\"tokenizer_class\": \"XLMRobertaTokenizer\","
             " \"unk_token\": \"<unk>\", \"add_prefix_space\": true}");
    put_tokenizer("", vocab, charsmap);
}

static void tokens_scores_and_types(void **state)
{
    (void)state;
    begin("{\"model_type\": \"xlm-roberta\", \"vocab_size\": 9}");
    assert_shown(mf_unigram_put_xlm, "bert",
                 "model: t5|\npre: default|\n"
                 "tokens: <s>|<pad>|</s>|<unk>|\u2581a|b|c|[PAD7]|[PAD8]|\n"
                 "scores: 0|0|0|0|-1.5|-2|-3.25|-10000|-10000|\n"
                 "token_type: 3|3|3|2|1|4|1|5|5|\n"
                 "add_space_prefix: 1|\ntoken_type_count: 1|\n"
                 "remove_extra_whitespaces: 0|\n"
                 "precompiled_charsmap: 1|0|0|0|97|98|\n"
                 "unknown_token_id: 3|\n");
}

/* The unknown token is the model's where the configuration names none; two
 * padding characters leave one byte. */
static void other_facts(void **state)
{
    (void)state;
    begin("{\"model_type\": \"xlm-roberta\", \"vocab_size\": 3}");
    put_file("tokenizer_config.json",
             "{\"tokenizer_class\": \"XLMRobertaTokenizer\","
             " \"clean_up_tokenization_spaces\": true}");
    put_tokenizer("\"unk_id\": 6,", vocab,
                  "{\"type\": \"Precompiled\","
                  " \"precompiled_charsmap\": \"+/8B/w==\"}");
    assert_shown(mf_unigram_put_xlm, "bert",
                 "model: t5|\npre: default|\n"
                 "tokens: <s>|<pad>|</s>|<unk>|\u2581a|b|c|\n"
                 "scores: 0|0|0|0|-1.5|-2|-3.25|\n"
                 "token_type: 3|3|3|3|1|4|2|\n"
                 "add_space_prefix: 0|\ntoken_type_count: 1|\n"
                 "remove_extra_whitespaces: 1|\n"
                 "precompiled_charsmap: 251|255|1|255|\n");
}

static void refusals(void **state)
{
    static const struct row {
        const char *facts, *tokens, *normalizer, *words;
    } rows[] = {
        { "", "[[\"a\", 0]]", charsmap, "score of token 0 is not a fraction" },
        { "", "[[\"a\", 1e39]]", charsmap, "score of token 0" },
        { "", "[[\"a\"]]", charsmap, "not a pair of a text and a score" },
        { "", "[[\"a\", 0.5, 1]]", charsmap, "not a pair" },
        { "", "[[0.5, \"a\"]]", charsmap, "not a pair" },
        { "", "[7]", charsmap, "not a pair" },
        { "", "7", charsmap, "'model.vocab' is not a list of tokens" },
        { "", vocab, "null", "'normalizer.precompiled_charsmap' is missing" },
        { "", vocab, "{\"precompiled_charsmap\": \"AQA\"}", "is not base64" },
        { "", vocab, "{\"precompiled_charsmap\": \"AQ=A\"}", "is not base64" },
        { "", vocab, "{\"precompiled_charsmap\": \"A===\"}", "is not base64" },
        { "\"type\": \"BPE\",", vocab, charsmap, "is not 'Unigram'" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        begin("{\"model_type\": \"xlm-roberta\"}");
        put_tokenizer(rows[i].facts, rows[i].tokens, rows[i].normalizer);
        assert_refused(mf_unigram_put_xlm, rows[i].words);
    }
}

static void the_largest_vocabulary(void **state)
{
    (void)state;
    begin("{\"model_type\": \"xlm-roberta\", \"vocab_size\": 4194304}");
    assert_int_equal(run(mf_unigram_put_xlm, "bert"), MF_OK);
    finish();
    put_file("config.json",
             "{\"model_type\": \"xlm-roberta\", \"vocab_size\": 4194305}");
    assert_refused(mf_unigram_put_xlm, "4194305 tokens, at most 4194304");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(tokens_scores_and_types),
        WITH_ENV(other_facts),
        WITH_ENV(refusals),
        WITH_ENV(the_largest_vocabulary),
    };

    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
