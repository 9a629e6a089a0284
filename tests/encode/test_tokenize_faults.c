/* SPDX-License-Identifier: MIT
 *
 * test_tokenize_faults.c - tokenizers that are refused, and memory that is
 */
#include "tests/encode/pre_of.h"
#include "tests/with_scratch.h"

static const char tensors[] = "\x38\0\0\0\0\0\0\0"
                              "{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_"
                              "offsets\":[0,4]}}  \0\0\0\0";

#define CLASS "{\"tokenizer_class\":\"PreTrainedTokenizerFast\"}"

/* A tokenizer.json with that pre-tokenizer and vocabulary. */
#define MADE(pre_tokenizer, vocab)                                             \
    "{\"pre_tokenizer\":" pre_tokenizer                                        \
    ",\"model\":{\"type\":\"BPE\",\"vocab\":{" vocab "},\"merges\":[]}}"

/* Every allocation fails once, and all from it on do; nothing is left. */
static void refused_memory_is_an_error(void **state)
{
    static const char *const folders[] = { "named", "bert", "cohere" };
    enum mf_status status = MF_ERR_MEMORY;
    struct test_heap heap = { 0 };

    (void)state;
    for (size_t i = 0; i < 2 * COUNT(folders); i++) {
        const char *pre = NULL;
        char path[256];

        snprintf(path, sizeof(path), "tokenize/%s/model.safetensors",
                 folders[i / 2]);
        for (uint64_t at = 1; at == 1 || heap.calls >= heap.fail_at; at++) {
            struct mf_model *model = NULL;
            struct mf_env *own;

            heap = (struct test_heap){ .fail_after = i % 2 };
            own = test_env(&heap);
            assert_int_equal(
                mf_model_open(own, fixture_path(path), NULL, &model), MF_OK);
            heap.calls = 0;
            heap.fail_at = at;
            status = pre_of(model, &pre);
            if (heap.calls >= at && heap.fail_after)
                assert_int_equal(status, MF_ERR_MEMORY);
            mf_model_close(model);
            mf_env_free(own);
            assert_int_equal(heap.live, 0);
        }
        /* The last round's, which got all the memory it requested. */
        assert_int_equal(status, i < 2 ? MF_OK : MF_ERR_UNSUPPORTED);
    }
}

/* ---- values that are refused ---- */

static const struct {
    const char *tokenizer, *config, *error;
} bad[] = {
    { "[]", "{}", "expected an object" },
    { "{\"model\":[]}", "{}", "'model.vocab' is not a list" },
    { "{\"model\":{\"type\":\"Unigram\",\"vocab\":[]}}", CLASS,
      "a model of type 'Unigram'" },
    { "{\"model\":{\"type\":7,\"vocab\":[]}}", CLASS,
      "'model.type' must be a string, not a number" },
    { "{\"model\":{\"type\":\"BPE\"}}", "{}", "'model.vocab'" },
    { "{\"model\":{\"type\":\"BPE\",\"vocab\":{}}}", CLASS, "'model.merges'" },
    { "{\"model\":{\"type\":\"BPE\",\"vocab\":{},\"merges\":[],"
      "\"dropout\":0.1}}",
      CLASS, "'model.dropout' must be null" },
    { "{\"added_tokens\":[1],\"model\":{\"vocab\":{}}}", CLASS,
      "an added token is not an object" },
    { "{\"added_tokens\":[{\"id\":1}],\"model\":{\"vocab\":{}}}", CLASS,
      "no 'content'" },
    { MADE("null", "\"a\":-1"), CLASS, "the id of token 'a'" },
    { MADE("null", "\"a\":4294967295"), CLASS, "the id of token 'a'" },
    { MADE("{\"type\":\"Magic\"}", ""), CLASS, "'Magic'" },
    { MADE("{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(\"}}", ""), CLASS,
      "expected ')'" },
    { MADE("null", ""), "{}", "has no 'tokenizer_class'" },
    { MADE("null", ""), "{\"tokenizer_class\":\"TokenizersBackend\"}",
      "unsupported 'tokenizer_class' 'TokenizersBackend'" },
    { MADE("null", ""), "{\"tokenizer_class\":3}",
      "'tokenizer_class' is a number" },
    { MADE("null", ""),
      "{\"tokenizer_class\":\"GPT2Tokenizer\","
      "\"added_tokens_decoder\":{\"x\":{}}}",
      "a key is not an id" },
    { MADE("null", ""),
      "{\"tokenizer_class\":\"GemmaTokenizer\",\"bos_token\":null}",
      "needs a valid bos_token" },
    { MADE("null", ""),
      "{\"tokenizer_class\":\"LlamaTokenizer\","
      "\"add_prefix_space\":false}",
      "'add_prefix_space' of a LlamaTokenizer" },
};

static void refused_values_are_named(void **state)
{
    struct mf_model *model;

    (void)state;
    save(scratch_path("model.safetensors"), tensors, sizeof(tensors) - 1);
    model = open_model(scratch_path("model.safetensors"));
    for (size_t i = 0; i < COUNT(bad); i++) {
        const char *pre = NULL;

        save(scratch_path("tokenizer.json"), bad[i].tokenizer,
             strlen(bad[i].tokenizer));
        save(scratch_path("tokenizer_config.json"), bad[i].config,
             strlen(bad[i].config));
        assert_int_not_equal(pre_of(model, &pre), MF_OK);
        if (!strstr(mf_env_error(env)->message, bad[i].error))
            fail_msg("%s, %s: %s", bad[i].tokenizer, bad[i].config,
                     mf_env_error(env)->message);
        mf_clear_error(env);
    }
    mf_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_memory_is_an_error),
        cmocka_unit_test(refused_values_are_named),
    };

    return RUN_WITH_SCRATCH(tests);
}
