/* SPDX-License-Identifier: MIT
 *
 * test_vocab.c - large and long vocabularies, little memory, names
 *
 * The faults themselves are fixtures, bad-tokens-*.gguf.
 */
#include "tests/support.h"

#include "lib/vocab/known.h"
#include "lib/vocab/token_set.h"

/* ---- a vocabulary in memory ---- */

static uint8_t image[4 << 20];
static size_t size;

static void put(const void *bytes, size_t count)
{
    assert_true(count <= sizeof(image) - size);
    memcpy(image + size, bytes, count);
    size += count;
}

static void put_number(uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++, value >>= 8)
        put(&(uint8_t){ (uint8_t)value }, 1);
}

static void put_bytes(const char *text, size_t count)
{
    put_number(count, 8);
    put(text, count);
}

static void put_text(const char *text)
{
    put_bytes(text, strlen(text));
}

static void put_key(const char *key, uint32_t type)
{
    put_text(key);
    put_number(type, 4);
}

static void put_string(const char *key, const char *text)
{
    put_key(key, MF_VALUE_STRING);
    put_text(text);
}

static void put_array(const char *key, uint32_t of, uint64_t count)
{
    put_key(key, MF_VALUE_ARRAY);
    put_number(of, 4);
    put_number(count, 8);
}

static void begin(const char *model, uint64_t keys)
{
    size = 0;
    put("GGUF", 4);
    put_number(3, 4);
    put_number(0, 8);
    put_number(keys + 2, 8);
    put_string("general.architecture", "llama");
    put_string("tokenizer.ggml.model", model);
}

/* The findings of the image but notes, a line for each.  peak: of the heap,
 * above what opening takes; limit 0: none. */
static void findings(size_t limit, char *out, size_t room, size_t *peak)
{
    struct mf_options options = { .size = sizeof(options),
                                  .heap_limit = limit };
    struct mf_env *env = mf_env_new(&options);
    struct mf_finding finding;
    struct mf_heap_stats stats;
    struct mf_model *model;
    size_t open;

    assert_int_equal(
        mf_model_open_memory(env, "memory", image, size, NULL, &model), MF_OK);
    mf_env_heap(env, &stats);
    open = stats.peak;
    if (mf_model_validate(model) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    mf_env_heap(env, &stats);
    *peak = stats.peak - open;
    *out = 0;
    for (size_t i = 0; mf_finding_at(model, i, &finding); i++) {
        size_t used = strlen(out);

        if (finding.severity > MF_NOTE)
            snprintf(out + used, room - used, "%s %llx %s\n", finding.rule,
                     (unsigned long long)finding.offset, finding.message);
    }
    mf_model_close(model);
    mf_env_free(env);
}

/* ---- names ---- */

static struct mf_str str(const char *text)
{
    return (struct mf_str){ text, strlen(text) };
}

static void names_are_known_or_near(void **state)
{
    static const struct {
        const char *name, *hint;
    } near[] = {
        { "LLaMA", "; did you mean 'llama'?" },
        { "GPT-2", "; did you mean 'gpt2'?" },
        { "plamo-2", "; did you mean 'plamo2'?" },
        { "brt", "; did you mean 'bert'?" },
        { "x", "" },
        { "sentencepiece", "" },
        { "a name that is longer than any of the table", "" },
        { "", "" },
    };

    (void)state;
    assert_int_equal(mf_known_tokenizer_find(str("gpt2"))->kind,
                     MF_TOKENIZER_BPE);
    assert_null(mf_known_tokenizer_find(str("gpt-2")));
    assert_non_null(mf_pre_tokenizer_find(str("gpt-2")));
    assert_null(mf_pre_tokenizer_find(str("gpt2")));
    assert_null(mf_pre_tokenizer_find((struct mf_str){ NULL, 0 }));
    for (size_t i = 0; i < COUNT(near); i++)
        assert_string_equal(mf_known_tokenizer_hint(str(near[i].name)).text,
                            near[i].hint);
    assert_string_equal(mf_pre_tokenizer_hint(str("Qwen2")).text,
                        "; did you mean 'qwen2'?");
}

/* ---- the set ---- */

static uint64_t hash_at(uint64_t i)
{
    return i * 0x9e3779b97f4a7c15;
}

static void each_hash_has_one_pass(void **state)
{
    struct test_heap heap = { 0 };
    struct mf_env *env = test_env(&heap);
    struct mf_token_set set;
    size_t added = 0, twice = 0;

    (void)state;
    env->heap.limit = env->heap.live + 40000;
    assert_int_equal(mf_token_set_init(&set, env, 20000, 1000), MF_OK);
    assert_true(set.passes > 5);
    for (uint32_t pass = 0; pass < set.passes; pass++) {
        mf_token_set_begin(&set, pass);
        for (uint64_t i = 0; i < 20000; i++) {
            if (!mf_token_set_takes(&set, hash_at(i)))
                continue;
            assert_false(mf_token_set_has(&set, hash_at(i)));
            added += mf_token_set_add(&set, hash_at(i));
            twice += mf_token_set_add(&set, hash_at(i));
            assert_true(mf_token_set_has(&set, hash_at(i)));
        }
    }
    assert_int_equal(added, 20000);
    assert_int_equal(twice, 0);
    mf_token_set_release(&set);
    mf_env_free(env);
    assert_int_equal(heap.live, 0);
}

static void a_full_set_still_ends(void **state)
{
    struct mf_env *env = mf_env_new(NULL);
    struct mf_token_set set;

    (void)state;
    assert_int_equal(mf_token_set_init(&set, env, 8, 0), MF_OK);
    assert_int_equal(set.passes, 1);
    mf_token_set_begin(&set, 0);
    for (uint64_t i = 0; i < 1000; i++)
        mf_token_set_add(&set, i << 40);
    assert_true(set.filled < set.slots);
    assert_false(mf_token_set_has(&set, UINT64_MAX));
    assert_false(mf_token_set_add(&set, 0)); /* there since the first */
    mf_token_set_release(&set);
    mf_env_free(env);
}

/* ---- memory ---- */

#define TOKENS 40000

/* 0 to 39999 in digits; token 30000 is '7', and some merges fit nothing. */
static void many_tokens(void)
{
    char text[32];

    begin("gpt2", 4);
    put_string("tokenizer.ggml.pre", "gpt-2");
    put_array("tokenizer.ggml.tokens", MF_VALUE_STRING, TOKENS);
    for (int i = 0; i < TOKENS; i++) {
        snprintf(text, sizeof(text), "%d", i == 30000 || i == 39999 ? 7 : i);
        put_text(text);
    }
    put_array("tokenizer.ggml.token_type", MF_VALUE_I32, TOKENS);
    for (int i = 0; i < TOKENS; i++)
        put_number(1, 4);
    put_array("tokenizer.ggml.merges", MF_VALUE_STRING, 3999);
    for (int i = 1; i < 4000; i++) {
        snprintf(text, sizeof(text), i % 1000 == 17 ? "%d x" : "%d 0", i);
        put_text(text);
    }
}

static void little_memory_finds_the_same(void **state)
{
    static char all[4096], few[4096];
    size_t peak;

    (void)state;
    many_tokens();
    findings(0, all, sizeof(all), &peak);
    assert_true(peak <= 16 * (size_t)TOKENS);
    assert_non_null(strstr(all, "token 30000 ('7') has the text of token 7: "
                                "llama.cpp aborts (2 such tokens)"));
    assert_non_null(strstr(all, "merge 16 ('17 x'): 'x' is not a token (9 "
                                "such parts of merges)"));
    for (size_t limit = 250000; limit < 800000; limit += 130000) {
        findings(limit, few, sizeof(few), &peak);
        assert_string_equal(few, all);
    }
}

/* ---- long texts ---- */

#define LONG 50000 /* more than a window of values.c */

static void long_texts_are_compared(void **state)
{
    static char text[LONG], out[4096];
    size_t peak;

    (void)state;
    memset(text, 'a', sizeof(text));
    for (int same = 0; same < 2; same++) {
        begin("llama", 3);
        put_array("tokenizer.ggml.tokens", MF_VALUE_STRING, 4);
        put_text("<s>");
        put_bytes(text, LONG);
        text[LONG - 1] = same ? 'a' : 'b';
        put_bytes(text, LONG);
        put_text("a");
        text[LONG - 1] = 'a';
        put_array("tokenizer.ggml.token_type", MF_VALUE_I32, 4);
        for (int i = 0; i < 4; i++)
            put_number(1, 4);
        put_array("tokenizer.ggml.scores", MF_VALUE_F32, 4);
        put_number(0, 16);
        findings(0, out, sizeof(out), &peak);
        assert_true(!same == !strstr(out, "has the text of token 1"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_known_or_near),
        cmocka_unit_test(each_hash_has_one_pass),
        cmocka_unit_test(a_full_set_still_ends),
        cmocka_unit_test(little_memory_finds_the_same),
        cmocka_unit_test(long_texts_are_compared),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
