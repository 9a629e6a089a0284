/* SPDX-License-Identifier: MIT
 *
 * test_plan_devices.c - weights, and what is on which device
 *
 * Figures come from llama.cpp v0.5.0, which was given devices of these
 * sizes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/plan/plan_tensors.h"

#define U64S(...) ((const uint64_t[]){ __VA_ARGS__ })
#define GIB       ((uint64_t)1 << 30)

/* Sums that always hold; returns the sum of the weights. */
static uint64_t check_sums(const struct mf_plan *plan)
{
    uint64_t weights = 0, kv = 0, state = 0, compute = 0, total = 0;

    for (size_t i = 0; i < plan->device_count; i++) {
        const struct mf_plan_device *device = &plan->device[i];

        assert_int_equal(device->total, device->weights + device->kv +
                                            device->state + device->compute +
                                            device->output);
        weights += device->weights;
        kv += device->kv;
        state += device->state;
        compute += device->compute;
        total += device->total;
    }
    assert_int_equal(weights, plan->line[MF_PLAN_WEIGHTS]);
    assert_int_equal(kv, plan->line[MF_PLAN_KV]);
    assert_int_equal(state, plan->line[MF_PLAN_STATE]);
    assert_int_equal(compute, plan->line[MF_PLAN_COMPUTE]);
    assert_int_equal(plan->device[0].output, plan->line[MF_PLAN_OUTPUT]);
    assert_int_equal(plan->device[0].weights, plan->mapped);
    assert_int_equal(total, plan->total);
    return weights;
}

static struct mf_plan plan_of(const char *keys, const struct shape *shape,
                              const struct mf_plan_options *options)
{
    struct mf_model *model = open_shape(keys, shape);
    const struct mf_model_info *info;
    struct mf_plan plan;

    info = mf_model_info(model);
    if (mf_plan(model, options, &plan) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    if (plan.device_count == 1)
        assert_int_equal(check_sums(&plan), info->data_size);
    else
        assert_true(check_sums(&plan) >= info->data_size);
    mf_model_close(model);
    return plan;
}

/* ---- Llama-2-7B ---- */

#define LLAMA_2                                                                \
    "block_count=32 context_length=4096 embedding_length=4096 "                \
    "attention.head_count=32 feed_forward_length=11008 vocab_size=32000"

static const struct shape llama_2 = { 32, 4096, 4096, 11008, 32000, 0, false };

#define EMBEDDING UINT64_C(262144000)   /* 250.00 MiB */
#define REST      UINT64_C(13215219712) /* 12603.02 MiB */
#define ROPE      256                   /* rope_freqs, which is added here */

static void the_host_has_it_all(void **state)
{
    struct mf_plan plan = plan_of(LLAMA_2, &llama_2, NULL);

    (void)state;
    assert_int_equal(plan.device_count, 1);
    assert_string_equal(plan.device[0].name, "host");
    assert_int_equal(plan.mapped, EMBEDDING + REST + ROPE);
    assert_int_equal(plan.line[MF_PLAN_OUTPUT], 32000 * 4);
}

static void all_blocks_on_a_device(void **state)
{
    struct mf_plan plan =
        plan_of(LLAMA_2, &llama_2, OPTIONS(.offloaded = true, .offload = 99));

    (void)state;
    assert_int_equal(plan.device_count, 2);
    assert_string_equal(plan.device[1].name, "device0");
    assert_int_equal(plan.device[0].weights, EMBEDDING);
    assert_int_equal(plan.device[1].weights, REST + ROPE);
    assert_int_equal(plan.device[0].kv, 0);
    assert_int_equal(plan.device[1].kv, 2 * GIB);
    assert_int_equal(plan.device[1].limit, 0);
}

/* The last blocks go first, the output after all of them. */
static void some_blocks_on_a_device(void **state)
{
    uint64_t block = (REST - EMBEDDING - 4096 * 4) / 32;

    (void)state;
    for (uint64_t n = 0; n <= 34; n++) {
        struct mf_plan plan = plan_of(LLAMA_2, &llama_2,
                                      OPTIONS(.offloaded = true, .offload = n));
        uint64_t blocks = n < 32 ? n : 32;
        uint64_t expected = blocks * block + (n > 32 ? EMBEDDING + 16384 : 0);

        if (n == 0) {
            assert_int_equal(plan.device_count, 1);
            continue;
        }
        assert_int_equal(plan.device[1].weights, expected + ROPE);
        assert_int_equal(plan.device[1].kv, blocks * GIB / 16);
        assert_int_equal(plan.device[0].kv, (32 - blocks) * GIB / 16);
    }
}

static void devices_share_by_their_size(void **state)
{
    struct mf_plan plan = plan_of(
        LLAMA_2, &llama_2,
        OPTIONS(.device_limits = U64S(24 * GIB, 12 * GIB), .device_count = 2));

    (void)state;
    assert_int_equal(plan.device[0].weights, EMBEDDING);
    assert_int_equal(plan.device[1].weights, UINT64_C(8905228288) + ROPE);
    assert_int_equal(plan.device[2].weights, UINT64_C(4309991424) + ROPE);
    assert_int_equal(plan.device[1].kv, UINT64_C(1476395008));
    assert_int_equal(plan.device[2].kv, UINT64_C(671088640));
    assert_int_equal(plan.device[1].limit, 24 * GIB);
    assert_int_equal(plan.device[2].limit, 12 * GIB);
    plan = plan_of(LLAMA_2, &llama_2,
                   OPTIONS(.device_limits = U64S(8 * GIB, 24 * GIB, 16 * GIB),
                           .device_count = 3));
    assert_int_equal(plan.device[1].kv, 6 * GIB / 16);
    assert_int_equal(plan.device[2].kv, 16 * GIB / 16);
    assert_int_equal(plan.device[3].kv, 10 * GIB / 16);
}

/* The host has the inputs, and looks up the embedding. */
static void every_device_computes_its_blocks(void **state)
{
    static const uint64_t one[] = { 24 * GIB }, two[] = { 24 * GIB, 12 * GIB };
    struct mf_plan plan =
        plan_of(LLAMA_2, &llama_2,
                OPTIONS(.context = 8192, .flash = MF_FLASH_ON,
                        .device_limits = one, .device_count = 1));

    (void)state;
    assert_int_equal(plan.device[0].compute, 25180160);
    assert_int_equal(plan.device[1].compute, 101199872);
    plan = plan_of(LLAMA_2, &llama_2,
                   OPTIONS(.context = 8192, .flash = MF_FLASH_ON,
                           .device_limits = two, .device_count = 2));
    assert_int_equal(plan.device[0].compute, 25180160);
    assert_int_equal(plan.device[1].compute, 101197824);
    assert_int_equal(plan.device[2].compute, 101199872);
    assert_true(plan.estimated & 1U << MF_PLAN_COMPUTE);
}

/* The largest of them, 250 MiB, is the output's matrix. */
static void a_device_computes_with_weights_of_the_host(void **state)
{
    struct mf_plan plan =
        plan_of(LLAMA_2, &llama_2,
                OPTIONS(.context = 8192, .offloaded = true, .offload = 10));

    (void)state;
    assert_int_equal(plan.device[0].compute, 33568768);
    assert_int_equal(plan.device[1].compute, 101199872 + 262144000);
    /* Too few tokens for that. */
    plan = plan_of(LLAMA_2, &llama_2,
                   OPTIONS(.context = 8192, .offloaded = true, .offload = 10,
                           .ubatch = 31));
    assert_true(plan.device[1].compute < 32 << 20);
}

/* ---- experts, tied embeddings, missing metadata ---- */

#define MIXTRAL                                                                \
    "block_count=32 context_length=32768 embedding_length=4096 "               \
    "attention.head_count=32 attention.head_count_kv=8 "                       \
    "feed_forward_length=14336 expert_count=8 expert_used_count=2 "            \
    "vocab_size=32000"

static void experts_stay_on_the_host(void **state)
{
    static const struct shape mixtral = {
        32, 4096, 1024, 14336, 32000, 8, false
    };
    struct mf_plan plan =
        plan_of(MIXTRAL, &mixtral,
                OPTIONS(.context = 4096, .cpu_experts = true, .device_count = 2,
                        .device_limits = U64S(24 * GIB, 24 * GIB)));

    (void)state;
    assert_int_equal(plan.device[0].weights, UINT64_C(90456457216));
    assert_int_equal(plan.device[1].weights, UINT64_C(1428848640) + ROPE);
    assert_int_equal(plan.device[2].weights, UINT64_C(1522909184) + ROPE);
    assert_int_equal(plan.device[1].kv, UINT64_C(285212672));
    assert_int_equal(plan.device[2].kv, UINT64_C(251658240));
}

#define LLAMA_3_2                                                              \
    "block_count=16 context_length=131072 embedding_length=2048 "              \
    "attention.head_count=32 attention.head_count_kv=8 "                       \
    "feed_forward_length=8192 vocab_size=128256"

static void a_tied_embedding_counts_twice(void **state)
{
    static const struct shape tied = { 16, 2048, 512, 8192, 128256, 0, true };
    struct mf_plan plan =
        plan_of(LLAMA_3_2, &tied,
                OPTIONS(.context = 4096, .device_count = 2,
                        .device_limits = U64S(24 * GIB, 24 * GIB)));

    (void)state;
    assert_int_equal(plan.device[0].weights, UINT64_C(525336576));
    assert_int_equal(plan.device[1].weights, UINT64_C(1094860800) + ROPE);
    assert_int_equal(plan.device[2].weights, UINT64_C(1376903168) + ROPE);
    assert_int_equal(plan.device[1].kv, UINT64_C(75497472));
    assert_int_equal(plan.device[2].kv, UINT64_C(58720256));
    /* Blocks alone do not take the output with them. */
    plan = plan_of(LLAMA_3_2, &tied, OPTIONS(.offloaded = true, .offload = 16));
    assert_int_equal(plan.device[0].weights, UINT64_C(525336576) + 8192);
}

static void without_a_number_of_blocks_nothing_is_placed(void **state)
{
    static const struct shape shape = { 1, 64, 64, 128, 100, 0, false };
    struct mf_model *model = open_shape("context_length=64", &shape);
    const struct mf_model_info *info;
    struct mf_plan plan;

    (void)state;
    info = mf_model_info(model);
    assert_int_equal(
        mf_plan(model, OPTIONS(.offloaded = true, .offload = 1), &plan), MF_OK);
    assert_int_equal(plan.device_count, 2);
    assert_int_equal(plan.line[MF_PLAN_WEIGHTS], info->data_size);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(plan.device[i].weights, MF_PLAN_UNKNOWN);
    assert_int_equal(plan.mapped, MF_PLAN_UNKNOWN);
    mf_model_close(model);
}

/* A block that is not loaded stays where it is: in the file. */
static void blocks_that_are_not_loaded_stay_on_the_host(void **state)
{
    static const struct shape shape = { 3, 64, 64, 128, 100, 0, false };
    struct mf_plan plan =
        plan_of("block_count=2 context_length=64 embedding_length=64 "
                "attention.head_count=1 vocab_size=100",
                &shape, OPTIONS(.offloaded = true, .offload = 3));
    uint64_t block = (4 * 64 * 64 + 3 * 64 * 128) * 2 + 2 * 64 * 4;

    (void)state;
    assert_int_equal(plan.device[0].weights, 100 * 64 * 2 + block);
}

/* Tensors of Hugging Face's names are found, too. */
static void tensors_under_other_names_have_places(void **state)
{
    struct mf_model *model = open_fixture("good-hf-llama");
    uint64_t embedding =
        tensor_of(model, "model.embed_tokens.weight").data.size;
    struct mf_plan plan;

    (void)state;
    assert_int_equal(
        mf_plan(model, OPTIONS(.offloaded = true, .offload = 99), &plan),
        MF_OK);
    assert_int_equal(plan.device[0].weights, embedding);
    assert_int_equal(plan.device[1].weights,
                     plan.line[MF_PLAN_WEIGHTS] - embedding);
    check_sums(&plan);
    mf_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(the_host_has_it_all),
        WITH_ENV(all_blocks_on_a_device),
        WITH_ENV(some_blocks_on_a_device),
        WITH_ENV(devices_share_by_their_size),
        WITH_ENV(every_device_computes_its_blocks),
        WITH_ENV(a_device_computes_with_weights_of_the_host),
        WITH_ENV(experts_stay_on_the_host),
        WITH_ENV(a_tied_embedding_counts_twice),
        WITH_ENV(without_a_number_of_blocks_nothing_is_placed),
        WITH_ENV(tensors_under_other_names_have_places),
        WITH_ENV(blocks_that_are_not_loaded_stay_on_the_host),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
