/* SPDX-License-Identifier: MIT
 *
 * test_plan.c - caches and states against what llama.cpp's logs say
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/plan/plan_image.h"

static void logs(const char *arch, const char *keys,
                 const struct mf_plan_options *options, const char *expected)
{
    struct mf_plan plan = plan_header(arch, keys, options);
    char text[512];

    print_caches(&plan, text, sizeof(text));
    assert_string_equal(text, expected);
    assert_int_equal(plan.unknown & (1U << MF_PLAN_KV | 1U << MF_PLAN_STATE),
                     0);
}

#define LLAMA_2                                                                \
    "block_count=32 context_length=4096 embedding_length=4096 "                \
    "attention.head_count=32 feed_forward_length=11008 vocab_size=32000"
#define LLAMA_3                                                                \
    "block_count=32 context_length=131072 embedding_length=4096 "              \
    "attention.head_count=32 attention.head_count_kv=8 vocab_size=128256"

static void heads_in_every_block(void **state)
{
    (void)state;
    logs("llama", LLAMA_2, OPTIONS(.context = 2048),
         "2048 x 32: 512.00 + 512.00");
    logs("llama", LLAMA_2, NULL, "4096 x 32: 1024.00 + 1024.00");
    logs("llama", LLAMA_3, OPTIONS(.context = 512), "512 x 32: 32.00 + 32.00");
    logs("llama", LLAMA_3, OPTIONS(.context = 4096),
         "4096 x 32: 256.00 + 256.00");
    logs("llama", LLAMA_3, OPTIONS(.context = 8192),
         "8192 x 32: 512.00 + 512.00");
}

static void other_heads_and_types(void **state)
{
    (void)state;
    logs("qwen2",
         "block_count=64 context_length=32768 embedding_length=5120 "
         "attention.head_count=40 attention.head_count_kv=8",
         OPTIONS(.type_k = "q8_0", .type_v = "q8_0"),
         "32768 x 64: 2176.00 + 2176.00");
    logs("qwen3",
         "block_count=64 context_length=40960 embedding_length=5120 "
         "attention.head_count=64 attention.head_count_kv=8 "
         "attention.key_length=128 attention.value_length=128",
         OPTIONS(.context = 123392), "123392 x 64: 15424.00 + 15424.00");
    logs("qwen3",
         "block_count=28 context_length=40960 embedding_length=1024 "
         "attention.head_count=16 attention.head_count_kv=8 "
         "attention.key_length=128 attention.value_length=128",
         OPTIONS(.context = 4096), "4096 x 28: 224.00 + 224.00");
    logs("llama",
         "block_count=30 context_length=8192 embedding_length=576 "
         "attention.head_count=9 attention.head_count_kv=3",
         OPTIONS(.context = 32768), "32768 x 30: 360.00 + 360.00");
    logs("llama",
         "block_count=60 context_length=2048 embedding_length=6656 "
         "attention.head_count=52",
         OPTIONS(.context = 512, .type_k = "f32", .type_v = "f32"),
         "512 x 60: 780.00 + 780.00");
    logs("bert",
         "block_count=12 context_length=512 embedding_length=384 "
         "attention.head_count=12 attention.causal=false",
         NULL, "512 x 12: 4.50 + 4.50");
}

#define QWEN_3_MOE                                                             \
    "block_count=48 context_length=40960 embedding_length=2048 "               \
    "attention.head_count=32 attention.head_count_kv=4 "                       \
    "attention.key_length=128 attention.value_length=128"

static void a_shorter_context_saves(void **state)
{
    uint64_t full, less;

    (void)state;
    less = plan_header("qwen3moe", QWEN_3_MOE, OPTIONS(.context = 4096))
               .line[MF_PLAN_KV];
    full = plan_header("qwen3moe", QWEN_3_MOE, NULL).line[MF_PLAN_KV];
    assert_int_equal(less, UINT64_C(384) << 20);
    assert_int_equal(full - less, UINT64_C(3456) << 20);
    assert_int_equal(plan_header("llama", LLAMA_3, OPTIONS(.context = 4096))
                         .line[MF_PLAN_KV],
                     8 * plan_header("llama", LLAMA_3, OPTIONS(.context = 512))
                             .line[MF_PLAN_KV]);
    /* A quarter of what 32 heads for keys would take. */
    assert_int_equal(4 * plan_header("llama", LLAMA_3, OPTIONS(.context = 4096))
                             .line[MF_PLAN_KV],
                     plan_header("llama", LLAMA_2, OPTIONS(.context = 4096))
                         .line[MF_PLAN_KV]);
}

/* ---- windows ---- */

#define GPT_OSS(blocks)                                                        \
    "block_count=" blocks " context_length=131072 embedding_length=2880 "      \
    "attention.head_count=64 attention.head_count_kv=8 "                       \
    "attention.key_length=64 attention.value_length=64 "                       \
    "attention.sliding_window=128"
#define GEMMA_2                                                                \
    "block_count=26 context_length=8192 embedding_length=2304 "                \
    "attention.head_count=8 attention.head_count_kv=4 "                        \
    "attention.key_length=256 attention.value_length=256 "                     \
    "attention.sliding_window=4096"
#define GEMMA_3                                                                \
    "block_count=18 context_length=32768 embedding_length=640 "                \
    "attention.head_count=4 attention.head_count_kv=1 "                        \
    "attention.key_length=256 attention.value_length=256 "                     \
    "attention.sliding_window=512"
#define SIX(a, b)      a "," a "," a "," a "," a "," b
#define FORTY_EIGHT(a) "[" a "," a "," a "," a "," a "," a "," a "," a "]"
#define GEMMA_4                                                                \
    "block_count=48 context_length=131072 embedding_length=3840 "              \
    "attention.head_count=16 attention.head_count_kv=" FORTY_EIGHT(SIX(        \
        "8",                                                                   \
        "1")) " attention.key_length=512 attention.value_length=512 "          \
              "attention.key_length_swa=256 attention.value_length_swa=256 "   \
              "attention.sliding_window=1024 "                                 \
              "attention.sliding_window_pattern=" FORTY_EIGHT(                 \
                  SIX("true", "false"))

static void windows(void **state)
{
    (void)state;
    logs("gpt-oss", GPT_OSS("24"), OPTIONS(.ubatch = 2048),
         "131072 x 12: 1536.00 + 1536.00; 2304 x 12: 27.00 + 27.00");
    logs("gpt-oss", GPT_OSS("24"),
         OPTIONS(.context = 8192, .ubatch = 128, .type_k = "q8_0",
                 .type_v = "q8_0"),
         "8192 x 12: 51.00 + 51.00; 256 x 12: 1.59 + 1.59");
    logs("gpt-oss", GPT_OSS("36"),
         OPTIONS(.context = 65536, .sequences = 4, .unified = true),
         "65536 x 18: 1152.00 + 1152.00; 1024 x 18: 18.00 + 18.00");
    logs("gemma3", GEMMA_3, OPTIONS(.context = 4096),
         "4096 x 3: 6.00 + 6.00; 1024 x 15: 7.50 + 7.50");
    logs("gemma3", GEMMA_3, OPTIONS(.context = 8192),
         "8192 x 3: 12.00 + 12.00; 1024 x 15: 7.50 + 7.50");
    logs("gemma2", GEMMA_2, OPTIONS(.sequences = 4, .unified = true),
         "8192 x 13: 208.00 + 208.00; 8192 x 13: 208.00 + 208.00");
    logs("gemma4", GEMMA_4,
         OPTIONS(.context = 8192, .sequences = 4, .unified = true,
                 .type_k = "q8_0", .type_v = "q8_0"),
         "8192 x 8: 34.00 + 34.00; 4608 x 40: 382.50 + 382.50");
    logs("gemma4", GEMMA_4,
         OPTIONS(.context = 8192, .sequences = 4, .unified = true,
                 .ubatch = 2048),
         "8192 x 8: 64.00 + 64.00; 6144 x 40: 960.00 + 960.00");
    logs("laguna",
         "block_count=48 context_length=1048576 embedding_length=3072 "
         "attention.head_count=48 attention.head_count_kv=8 "
         "attention.key_length=128 attention.value_length=128 "
         "attention.sliding_window=512",
         OPTIONS(.type_k = "q4_0", .type_v = "q4_0"),
         "1048576 x 12: 6912.00 + 6912.00; 1024 x 36: 20.25 + 20.25");
}

static void windows_that_are_full(void **state)
{
    (void)state;
    logs("gpt-oss", GPT_OSS("24"),
         OPTIONS(.context = 8192, .full_windows = true),
         "8192 x 12: 96.00 + 96.00; 8192 x 12: 96.00 + 96.00");
    logs("gpt-oss", GPT_OSS("24"), OPTIONS(.context = 8192, .sequences = 4),
         "2048 x 12: 96.00 + 96.00; 768 x 12: 36.00 + 36.00");
}

/* Without flash attention values are as long in every block. */
static void padded_values(void **state)
{
    (void)state;
    logs("gemma4", GEMMA_4,
         OPTIONS(.context = 8192, .ubatch = 512, .flash = MF_FLASH_OFF),
         "8192 x 8: 64.00 + 256.00; 1536 x 40: 240.00 + 240.00");
}

/* ---- keys and values in one short vector ---- */

#define LATENT                                                                 \
    "embedding_length=7168 attention.head_count=128 "                          \
    "attention.head_count_kv=1 attention.kv_lora_rank=512 "                    \
    "attention.q_lora_rank=1536 attention.key_length=576 "                     \
    "attention.value_length=512 rope.dimension_count=64 "
#define LATENT_HEADS                                                           \
    "attention.key_length_mla=192 attention.value_length_mla=128"

static void latent_attention(void **state)
{
    (void)state;
    logs("deepseek2",
         "block_count=61 context_length=163840 " LATENT LATENT_HEADS,
         OPTIONS(.context = 32768), "32768 x 61: 2196.00 + 0.00");
    logs("glm-dsa", "block_count=78 context_length=202752 " LATENT LATENT_HEADS,
         OPTIONS(.context = 768000), "768000 x 78: 65812.50 + 0.00");
    logs("glm-dsa",
         "block_count=79 nextn_predict_layers=1 context_length=202752 " LATENT
             LATENT_HEADS,
         OPTIONS(.context = 524288), "524288 x 78: 44928.00 + 0.00");
    logs("glm-dsa",
         "block_count=78 context_length=202752 "
         "attention.indexer.key_length=128 " LATENT LATENT_HEADS,
         OPTIONS(.context = 4096),
         "4096 x 78: 351.00 + 0.00; 4096 x 78: 78.00 + 0.00");
}

/* ---- states ---- */

#define QWEN_35(blocks, embd, heads, kv, inner, steps)                         \
    "block_count=" blocks " context_length=262144 embedding_length=" embd      \
    " attention.head_count=" heads " attention.head_count_kv=" kv              \
    " attention.key_length=256 attention.value_length=256 "                    \
    "full_attention_interval=4 ssm.conv_kernel=4 ssm.inner_size=" inner        \
    " ssm.group_count=16 ssm.state_size=128 ssm.time_step_rank=" steps

static void states(void **state)
{
    (void)state;
    logs("falcon-h1",
         "block_count=24 context_length=131072 embedding_length=2048 "
         "attention.head_count=8 attention.head_count_kv=2 "
         "attention.key_length=128 attention.value_length=128 "
         "ssm.conv_kernel=4 ssm.inner_size=3072 ssm.group_count=1 "
         "ssm.state_size=256 ssm.time_step_rank=48",
         OPTIONS(.context = 32768),
         "32768 x 24: 384.00 + 384.00; R 0.98 S 72.00");
    logs("qwen35", QWEN_35("64", "5120", "24", "4", "6144", "48"),
         OPTIONS(.context = 24576),
         "24576 x 16: 768.00 + 768.00; R 5.62 S 144.00");
    logs("qwen35", QWEN_35("32", "4096", "16", "4", "4096", "32"),
         OPTIONS(.context = 135168, .sequences = 4, .unified = true),
         "135168 x 8: 2112.00 + 2112.00; R 9.00 S 192.00");
    logs("qwen35", QWEN_35("32", "4096", "16", "4", "4096", "32"),
         OPTIONS(.context = 135168),
         "135168 x 8: 2112.00 + 2112.00; R 2.25 S 48.00");
    logs("mamba",
         "block_count=64 context_length=1048576 embedding_length=2560 "
         "attention.head_count=0 ssm.conv_kernel=4 ssm.inner_size=5120 "
         "ssm.state_size=16 ssm.time_step_rank=160",
         OPTIONS(.context = 4096), "R 3.75 S 20.00");
    logs("rwkv7",
         "block_count=32 context_length=1048576 embedding_length=4096 "
         "attention.head_count=0 wkv.head_size=64",
         OPTIONS(.sequences = 2), "R 2.00 S 64.00");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(heads_in_every_block),    WITH_ENV(other_heads_and_types),
        WITH_ENV(a_shorter_context_saves), WITH_ENV(windows),
        WITH_ENV(windows_that_are_full),   WITH_ENV(padded_values),
        WITH_ENV(latent_attention),        WITH_ENV(states),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
