/* SPDX-License-Identifier: MIT
 *
 * test_plan_bad.c - metadata that is missing or makes no sense
 *
 * It makes what depends on it unknown, and is named; nothing else is unknown.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/arch/arch.h"
#include "tests/plan/plan_tensors.h"

#define KV    (1U << MF_PLAN_KV)
#define STATE (1U << MF_PLAN_STATE)

struct fault {
    const char *arch, *keys;
    unsigned unknown; /* of KV and STATE */
    const char *reason;
};

#define CONTEXT "context_length=4096 "
#define EMBD    "embedding_length=64 "
#define BLOCKS  "block_count=2 "
#define HEADS   "attention.head_count=4 "
#define REST    "vocab_size=128 feed_forward_length=64 "

static void check(const struct fault *fault)
{
    struct mf_plan plan = plan_header(fault->arch, fault->keys, NULL);

    if ((plan.unknown & (KV | STATE)) != fault->unknown ||
        !strstr(plan.reason, fault->reason))
        fail_msg("%s: unknown %x, %s", fault->keys, plan.unknown, plan.reason);
    if (fault->unknown & KV)
        assert_true(plan.line[MF_PLAN_KV] == MF_PLAN_UNKNOWN);
    if (fault->unknown)
        assert_true(plan.total == MF_PLAN_UNKNOWN);
    assert_int_equal(plan.line[MF_PLAN_WEIGHTS], 0);
}

static void faults_of_heads(void **state)
{
    static const struct fault faults[] = {
        { "llama", CONTEXT EMBD BLOCKS HEADS REST, 0, "" },
        { "llama", CONTEXT EMBD HEADS REST, KV | STATE,
          "'llama.block_count' is missing" },
        { "llama", "block_count=0 " CONTEXT EMBD HEADS REST, KV | STATE,
          "'llama.block_count' is 0" },
        { "llama", "block_count=-2 " CONTEXT EMBD HEADS REST, KV | STATE,
          "'llama.block_count' is -2" },
        { "llama", "block_count=two " CONTEXT EMBD HEADS REST, KV | STATE,
          "'llama.block_count' has another type" },
        { "llama", "block_count=4294967295 " CONTEXT EMBD HEADS REST,
          KV | STATE, "'llama.block_count' is 4294967295" },
        { "llama", CONTEXT BLOCKS HEADS REST, KV,
          "'llama.embedding_length' is missing" },
        { "llama", "embedding_length=0 " CONTEXT BLOCKS HEADS REST, KV,
          "'llama.embedding_length' is 0" },
        { "llama", CONTEXT EMBD BLOCKS REST, KV,
          "'llama.attention.head_count' is missing" },
        { "llama", "attention.head_count=0 " CONTEXT EMBD BLOCKS REST, KV,
          "'llama.attention.head_count' is 0" },
        { "llama", "attention.head_count=-4 " CONTEXT EMBD BLOCKS REST, KV,
          "'llama.attention.head_count' is -4" },
        { "llama", "attention.head_count=4.5 " CONTEXT EMBD BLOCKS REST, KV,
          "'llama.attention.head_count' has another type" },
        { "llama", "attention.head_count_kv=0 " CONTEXT EMBD BLOCKS HEADS REST,
          KV, "'llama.attention.head_count_kv' is 0" },
        { "llama", "attention.head_count_kv=8 " CONTEXT EMBD BLOCKS HEADS REST,
          KV, "'llama.attention.head_count_kv' is 8" },
        { "llama",
          "attention.head_count_kv=[4] " CONTEXT EMBD BLOCKS HEADS REST, KV,
          "'llama.attention.head_count_kv' has 1 element" },
        { "llama",
          "attention.head_count_kv=[4,4,4] " CONTEXT EMBD BLOCKS HEADS REST, KV,
          "'llama.attention.head_count_kv' has 3 elements" },
        { "llama",
          "attention.head_count_kv=[-1,4] " CONTEXT EMBD BLOCKS HEADS REST, KV,
          "'llama.attention.head_count_kv'" },
        { "llama", "attention.key_length=0 " CONTEXT EMBD BLOCKS HEADS REST, KV,
          "'llama.attention.key_length' is 0" },
        { "llama", "attention.key_length=-16 " CONTEXT EMBD BLOCKS HEADS REST,
          KV, "'llama.attention.key_length' is -16" },
        { "llama",
          "attention.value_length=many " CONTEXT EMBD BLOCKS HEADS REST, KV,
          "'llama.attention.value_length' has another type" },
        { "llama", EMBD BLOCKS HEADS REST, KV,
          "'llama.context_length' is missing" },
        { "llama", "context_length=0 " EMBD BLOCKS HEADS REST, KV,
          "'llama.context_length' is 0" },
        { "llama", "context_length=4096.0 " EMBD BLOCKS HEADS REST, KV,
          "'llama.context_length' has another type" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(faults); i++)
        check(&faults[i]);
}

#define GPT CONTEXT EMBD BLOCKS HEADS REST
#define MAMBA                                                                  \
    CONTEXT EMBD BLOCKS REST "ssm.inner_size=128 ssm.time_step_rank=4 "

static void faults_of_windows_and_states(void **state)
{
    static const struct fault faults[] = {
        { "gpt-oss", GPT, KV, "'gpt-oss.attention.sliding_window' is missing" },
        { "gpt-oss", "attention.sliding_window=0 " GPT, KV,
          "'gpt-oss.attention.sliding_window' is 0" },
        { "gpt-oss", "attention.sliding_window=-128 " GPT, KV,
          "'gpt-oss.attention.sliding_window' is -128" },
        { "gpt-oss",
          "attention.sliding_window=128 "
          "attention.sliding_window_pattern=two " GPT,
          KV, "'gpt-oss.attention.sliding_window_pattern' has another type" },
        { "gemma4",
          "attention.sliding_window=128 attention.key_length_swa=16 "
          "attention.value_length_swa=16 " GPT,
          KV, "'gemma4.attention.sliding_window_pattern' is missing" },
        { "gemma4",
          "attention.sliding_window=128 attention.key_length_swa=16 "
          "attention.value_length_swa=16 "
          "attention.sliding_window_pattern=[true] " GPT,
          KV, "'gemma4.attention.sliding_window_pattern' has 1 element" },
        { "mamba", MAMBA "ssm.conv_kernel=4 ssm.state_size=16", 0, "" },
        { "mamba", MAMBA "ssm.conv_kernel=4", STATE,
          "'mamba.ssm.state_size' is missing" },
        { "mamba", MAMBA "ssm.conv_kernel=4 ssm.state_size=0", STATE,
          "'mamba.ssm.state_size' is 0" },
        { "mamba", MAMBA "ssm.conv_kernel=-4 ssm.state_size=16", STATE,
          "'mamba.ssm.conv_kernel' is -4" },
        { "qwen35",
          GPT "ssm.conv_kernel=4 ssm.inner_size=128 "
              "ssm.state_size=16 ssm.group_count=2",
          0, "" },
        { "qwen35",
          GPT "ssm.conv_kernel=4 ssm.inner_size=128 "
              "ssm.state_size=16",
          STATE, "'qwen35.ssm.group_count' is missing" },
        { "qwen35",
          GPT "full_attention_interval=0 ssm.conv_kernel=4 "
              "ssm.inner_size=128 ssm.state_size=16 "
              "ssm.group_count=2",
          KV | STATE, "'qwen35.full_attention_interval' is 0" },
        { "jamba",
          MAMBA HEADS "attention.head_count_kv=[0] "
                      "ssm.conv_kernel=4 ssm.state_size=16",
          KV | STATE, "'jamba.attention.head_count_kv' has 1 element" },
        { "deepseek2",
          GPT "attention.key_length_mla=16 "
              "attention.value_length_mla=-16",
          KV, "'deepseek2.attention.value_length_mla' is -16" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(faults); i++)
        check(&faults[i]);
}

/* ---- numbers that are too large ---- */

static void sums_do_not_wrap(void **state)
{
    struct mf_plan plan;

    (void)state;
    plan = plan_header("llama",
                       "attention.head_count_kv=4294967295 "
                       "attention.head_count=4294967295 "
                       "attention.key_length=4294967295 "
                       "attention.value_length=64 " CONTEXT EMBD BLOCKS REST,
                       NULL);
    assert_true(plan.cache[0].k_bytes == MF_PLAN_HUGE);
    assert_true(plan.line[MF_PLAN_KV] == MF_PLAN_HUGE);
    assert_true(plan.total == MF_PLAN_HUGE);
    assert_int_equal(plan.unknown & KV, 0);
    plan = plan_header("llama", GPT,
                       OPTIONS(.context = UINT64_MAX, .sequences = 256,
                               .ubatch = UINT64_MAX, .unified = true));
    assert_true(plan.context == MF_PLAN_HUGE);
    assert_true(plan.line[MF_PLAN_KV] == MF_PLAN_HUGE);
    plan = plan_header("llama", GPT, OPTIONS(.context = UINT64_C(1) << 48));
    assert_int_equal(plan.cache[0].k_bytes, (UINT64_C(1) << 48) * 64 * 2 * 2);
}

/* It is neither nothing nor a wrapped number. */
static void a_tensor_without_a_size_is_named(void **state)
{
    struct mf_model *model;
    struct mf_plan plan;

    (void)state;
    make_header("llama", GPT);
    tensor_count = tensor_end = 0;
    put_tensor("token_embd.weight", 0, 64, 128, 0);
    put_tensor("output.weight", 0, UINT64_C(1) << 62, 2, 0);
    set_number(image.at + COUNT_AT, tensor_count, sizeof(tensor_count));
    model = open_image();
    assert_int_equal(mf_plan(model, NULL, &plan), MF_OK);
    assert_true(plan.line[MF_PLAN_WEIGHTS] == MF_PLAN_UNKNOWN);
    assert_true(plan.total == MF_PLAN_UNKNOWN);
    assert_string_equal(plan.reason,
                        "tensor 'output.weight' has no size that is known");
    assert_int_equal(plan.cache[0].k_bytes, 4096 * 64 * 2 * 2);
    mf_model_close(model);
}

/* ---- every architecture ---- */

#define LARGE(key) key "=4294967295 "

/* Whatever rows do with metadata, they come to an end and to an answer. */
static void every_architecture_has_an_answer(void **state)
{
    static const char *const keys[] = {
        "",
        GPT,
        LARGE("context_length") LARGE("embedding_length") BLOCKS LARGE(
            "attention.head_count") LARGE("attention.head_count_kv")
            LARGE("attention.key_length") LARGE("attention.value_length")
                LARGE("attention.sliding_window") LARGE("ssm.conv_kernel")
                    LARGE("ssm.inner_size") LARGE("ssm.state_size")
                        LARGE("ssm.group_count") LARGE("wkv.head_size"),
        "block_count=512 nextn_predict_layers=4294967295 " GPT,
    };
    const char *name;

    (void)state;
    for (size_t i = 0; (name = mf_arch_name_at(i)) != NULL; i++)
        for (size_t k = 0; k < COUNT(keys); k++) {
            struct mf_plan plan =
                plan_header(name, keys[k], OPTIONS(.sequences = 3));

            assert_true(plan.cache_count <= MF_PLAN_CACHES);
            if (plan.unknown)
                assert_true(plan.total == MF_PLAN_UNKNOWN);
            if (k == 0)
                assert_true(plan.unknown & KV && *plan.reason);
        }
}

/* ---- other architectures and options ---- */

static void an_unknown_architecture_has_full_attention(void **state)
{
    struct mf_plan plan;

    (void)state;
    plan = plan_header("nobody", "attention.sliding_window=128 " GPT, NULL);
    assert_true(plan.full_attention);
    assert_true(plan.estimated & KV);
    assert_int_equal(plan.cache_count, 1);
    assert_int_equal(plan.cache[0].cells, 4096);
    assert_int_equal(plan.cache[0].layers, 2);
    assert_int_equal(plan.cache[0].k_bytes, 4096 * 64 * 2 * 2);
    plan = plan_header("llama", GPT, NULL);
    assert_false(plan.full_attention);
    assert_false(plan.estimated & KV);
}

static void refused(const char *keys, const struct mf_plan_options *options,
                    const char *message)
{
    struct mf_model *model = open_header("llama", keys);
    struct mf_plan plan;

    assert_int_equal(mf_plan(model, options, &plan), MF_ERR_ARGUMENT);
    assert_string_equal(mf_env_error(env)->message, message);
    mf_model_close(model);
}

static void options_that_are_refused(void **state)
{
    (void)state;
    refused(GPT, OPTIONS(.type_k = "q9_x"),
            "unknown cache type q9_x; known are f32, f16, bf16, q8_0, "
            "q4_0, q4_1, q5_0, q5_1, iq4_nl");
    refused(GPT, OPTIONS(.type_v = "Q8_0"),
            "unknown cache type Q8_0; known are f32, f16, bf16, q8_0, "
            "q4_0, q4_1, q5_0, q5_1, iq4_nl");
    refused(GPT, OPTIONS(.type_v = "q4_0", .flash = MF_FLASH_OFF),
            "values of type q4_0 need flash attention");
    refused(GPT, OPTIONS(.sequences = 257), "257 sequences are more than 256");
}

static void a_context_is_rounded_up(void **state)
{
    struct mf_plan plan;

    (void)state;
    plan = plan_header("llama", GPT, OPTIONS(.context = 1000));
    assert_int_equal(plan.asked, 1000);
    assert_int_equal(plan.context, 1024);
    assert_int_equal(plan.cache[0].cells, 1024);
    assert_int_equal(plan.model_context, 4096);
    plan = plan_header("llama", GPT, OPTIONS(.context = 5000, .sequences = 3));
    assert_int_equal(plan.cache[0].cells, 1792); /* of 5120 / 3 */
    assert_int_equal(plan.context, 3 * 1792);
    assert_int_equal(plan.cache[0].k_bytes, 3 * 1792 * 64 * 2 * 2);
}

/* A row of a type with blocks has whole blocks. */
static void types_that_do_not_fit(void **state)
{
    struct mf_plan plan;

    (void)state;
    plan = plan_header("llama",
                       "attention.key_length=20 attention.head_count_kv=1 "
                       "attention.value_length=32 " GPT,
                       OPTIONS(.type_k = "q8_0", .type_v = "q8_0"));
    assert_true(plan.cache[0].k_bytes == MF_PLAN_UNKNOWN);
    assert_int_equal(plan.cache[0].v_bytes, 4096 * 34 * 2);
    assert_string_equal(plan.reason, "blocks of q8_0 have 32 elements, and 20 "
                                     "are not whole blocks");
    /* Flash attention takes heads one by one. */
    plan = plan_header("llama", "attention.key_length=80 " GPT,
                       OPTIONS(.type_k = "q8_0"));
    assert_true(plan.cache[0].k_bytes == MF_PLAN_UNKNOWN);
    plan = plan_header("llama", "attention.key_length=80 " GPT,
                       OPTIONS(.type_k = "q8_0", .flash = MF_FLASH_OFF));
    assert_int_equal(plan.cache[0].k_bytes, 4096 * 340 * 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(faults_of_heads),
        WITH_ENV(faults_of_windows_and_states),
        WITH_ENV(sums_do_not_wrap),
        WITH_ENV(a_tensor_without_a_size_is_named),
        WITH_ENV(every_architecture_has_an_answer),
        WITH_ENV(an_unknown_architecture_has_full_attention),
        WITH_ENV(options_that_are_refused),
        WITH_ENV(a_context_is_rounded_up),
        WITH_ENV(types_that_do_not_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
