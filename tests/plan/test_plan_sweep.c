/* SPDX-License-Identifier: MIT
 *
 * test_plan_sweep.c - plans of files that lie, and with a heap that fails
 *
 * Whatever the file, a plan ends, and its numbers are consistent: a line is a
 * number, unknown with a reason, or more than 16 EiB, and never wraps.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/plan/plan_image.h"

/* ---- what holds of any plan ---- */

static uint64_t sum_of(uint64_t a, uint64_t b)
{
    if (a == MF_PLAN_UNKNOWN || b == MF_PLAN_UNKNOWN)
        return MF_PLAN_UNKNOWN;
    if (a == MF_PLAN_HUGE || b == MF_PLAN_HUGE || a > MF_PLAN_HUGE - b)
        return MF_PLAN_HUGE;
    return a + b;
}

static void check_plan(const struct mf_plan *plan)
{
    uint64_t total = 0, kv = 0;

    for (int i = 0; i < MF_PLAN_LINE_COUNT; i++) {
        bool unknown = plan->line[i] == MF_PLAN_UNKNOWN;

        assert_int_equal(unknown, plan->unknown >> i & 1);
        assert_false(unknown && plan->estimated >> i & 1);
        total = sum_of(total, plan->line[i]);
    }
    assert_true(plan->total == total);
    assert_true(plan->cache_count <= MF_PLAN_CACHES);
    for (size_t i = 0; i < plan->cache_count; i++)
        kv = sum_of(kv, sum_of(plan->cache[i].k_bytes, plan->cache[i].v_bytes));
    if (plan->line[MF_PLAN_KV] != MF_PLAN_UNKNOWN)
        assert_true(plan->line[MF_PLAN_KV] == kv);
    if (plan->unknown & (1U << MF_PLAN_KV | 1U << MF_PLAN_STATE))
        assert_true(*plan->reason);
    assert_true(mf_text_clean(plan->reason, strlen(plan->reason)) ==
                strlen(plan->reason));
    assert_true(plan->device_count <= 1 + MF_PLAN_DEVICES);
}

#define DEVICES 2

/* Options from usual to absurd. */
static struct mf_plan_options options_of(unsigned number)
{
    static const uint64_t devices[DEVICES] = { UINT64_C(24) << 30, 1 };
    const struct mf_plan_options all[] = {
        { .context = 4096 },
        { .context = 1,
          .type_k = "q8_0",
          .type_v = "q4_0",
          .flash = MF_FLASH_ON,
          .sequences = 4,
          .unified = true },
        { .context = UINT64_MAX,
          .sequences = 256,
          .ubatch = UINT64_MAX,
          .full_windows = true },
        { .context = 8192,
          .flash = MF_FLASH_OFF,
          .offloaded = true,
          .offload = UINT64_MAX,
          .cpu_experts = true,
          .device_limits = devices,
          .device_count = DEVICES },
        { .context = 0, .sequences = 3, .ubatch = 1, .type_k = "f32" },
    };
    struct mf_plan_options options = all[number % COUNT(all)];

    options.size = sizeof(options);
    return options;
}

#define OPTIONS_COUNT 5

/* Of the first ones what fits is asked for, too, which takes longer: for bytes
 * that are flipped only here and there. */
static unsigned options_for(size_t at)
{
    return at % 64 == 0 ? 0 : 1 + (unsigned)at % (OPTIONS_COUNT - 1);
}

static enum mf_status fit_into(struct mf_env *with, struct mf_model *model,
                               const struct mf_plan_options *options)
{
    struct mf_fit_options how = { .size = sizeof(how),
                                  .limit = UINT64_C(8) << 30 };
    struct mf_fit fit;
    enum mf_status status = mf_plan_fit(model, options, &how, &fit);

    assert_int_equal(mf_env_error(with)->status, status);
    if (status == MF_OK)
        assert_true(fit.mix_count <= MF_FIT_MIXES &&
                    fit.offload_count <= MF_FIT_OFFLOADS);
    return status;
}

/* Plans with that heap; the model is closed after it. */
static enum mf_status try(struct test_heap *heap, const uint8_t *bytes,
                          size_t size, unsigned options_number)
{
    struct mf_plan_options options = options_of(options_number);
    struct mf_env *with = test_env(heap);
    struct mf_model *model = NULL;
    struct mf_plan plan;
    enum mf_status status;

    if (!with)
        return MF_ERR_MEMORY;
    status = mf_model_open_memory(with, "made.gguf", bytes, size, NULL, &model);
    if (status == MF_OK) {
        status = mf_plan(model, &options, &plan);
        if (status == MF_OK)
            check_plan(&plan);
        assert_int_equal(mf_env_error(with)->status, status);
        if (status == MF_OK && options_number == 0)
            status = fit_into(with, model, &options);
    }
    mf_model_close(model);
    mf_env_free(with);
    assert_int_equal(heap->live, 0);
    return status;
}

/* ---- headers ---- */

static const struct {
    const char *arch, *keys;
} headers[] = {
    { "llama", "block_count=2 context_length=4096 embedding_length=256 "
               "feed_forward_length=512 attention.head_count=4 "
               "attention.head_count_kv=2 vocab_size=1000 "
               "rope.dimension_count=64 "
               "attention.layer_norm_rms_epsilon=0.1" },
    { "gpt-oss", "block_count=4 context_length=4096 embedding_length=256 "
                 "feed_forward_length=256 attention.head_count=[4,4,4,4] "
                 "attention.head_count_kv=[2,2,2,2] attention.key_length=64 "
                 "attention.value_length=64 attention.sliding_window=128 "
                 "attention.sliding_window_pattern=[true,false,true,false] "
                 "expert_count=4 expert_used_count=2 vocab_size=1000 "
                 "expert_feed_forward_length=256 "
                 "attention.layer_norm_rms_epsilon=0.1" },
    { "deepseek2", "block_count=3 context_length=4096 embedding_length=256 "
                   "feed_forward_length=512 attention.head_count=4 "
                   "attention.head_count_kv=1 attention.key_length=96 "
                   "attention.value_length=64 attention.key_length_mla=64 "
                   "attention.value_length_mla=32 attention.kv_lora_rank=64 "
                   "attention.q_lora_rank=48 rope.dimension_count=32 "
                   "expert_count=4 expert_used_count=2 expert_shared_count=1 "
                   "expert_feed_forward_length=128 "
                   "leading_dense_block_count=1 vocab_size=1000 "
                   "attention.layer_norm_rms_epsilon=0.1" },
    { "qwen3next", "block_count=4 context_length=4096 embedding_length=256 "
                   "feed_forward_length=512 attention.head_count=4 "
                   "attention.head_count_kv=2 full_attention_interval=4 "
                   "ssm.conv_kernel=4 ssm.inner_size=256 ssm.state_size=64 "
                   "ssm.group_count=2 ssm.time_step_rank=4 expert_count=4 "
                   "expert_used_count=2 expert_feed_forward_length=128 "
                   "expert_shared_feed_forward_length=128 vocab_size=1000 "
                   "attention.layer_norm_rms_epsilon=0.1" },
    { "rwkv7", "block_count=2 context_length=4096 embedding_length=256 "
               "feed_forward_length=512 attention.head_count=0 "
               "wkv.head_size=64 attention.decay_lora_rank=32 "
               "attention.iclr_lora_rank=32 "
               "attention.value_residual_mix_lora_rank=32 "
               "attention.gate_lora_rank=32 vocab_size=1000 "
               "attention.layer_norm_epsilon=0.1" },
    { "nothing", "block_count=2 context_length=4096 embedding_length=256 "
                 "attention.head_count=4 vocab_size=1000" },
};

static void headers_are_planned(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(headers); i++)
        for (unsigned k = 0; k < OPTIONS_COUNT; k++) {
            struct test_heap heap = { 0 };

            make_header(headers[i].arch, headers[i].keys);
            try(&heap, image.at, image.size, k);
        }
}

static void every_prefix(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(headers); i++) {
        make_header(headers[i].arch, headers[i].keys);
        for (size_t size = 0; size < image.size; size++) {
            struct test_heap heap = { 0 };

            try(&heap, image.at, size, options_for(size));
        }
    }
}

static void every_byte_flipped(void **state)
{
    static const uint8_t masks[] = { 0xff, 0x01, 0x80, 0x20 };

    (void)state;
    for (size_t i = 0; i < COUNT(headers); i++) {
        make_header(headers[i].arch, headers[i].keys);
        for (size_t at = 0; at < image.size; at++)
            for (size_t m = 0; m < COUNT(masks); m++) {
                struct test_heap heap = { 0 };

                image.at[at] ^= masks[m];
                try(&heap, image.at, image.size, options_for(at + m));
                image.at[at] ^= masks[m];
            }
    }
}

/* ---- each key with values of its own ---- */

/* The keys with another value for the one at that place; false after the last
 * one. */
static bool replace(const char *keys, size_t place, const char *value,
                    char *out, size_t room)
{
    const char *at = keys;
    size_t size;

    while (place-- > 0 && *at) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    if (!*at)
        return false;
    size = (size_t)(at - keys) + strcspn(at, "=") + 1;
    at += strcspn(at, " ");
    snprintf(out, room, "%.*s%s%s", (int)size, keys, value, at);
    return true;
}

static void every_value_replaced(void **state)
{
    static const char *const values[] = {
        "0",          "1",
        "3",          "65537",
        "2147483647", "2147483648",
        "4294967295", "-1",
        "0.5",        "text",
        "true",       "[1]",
        "[-1,0]",     "[1,2,3,4,5,6,7]",
    };
    char keys[2048];

    (void)state;
    for (size_t i = 0; i < COUNT(headers); i++)
        for (size_t v = 0; v < COUNT(values); v++)
            for (size_t k = 0;
                 replace(headers[i].keys, k, values[v], keys, sizeof(keys));
                 k++) {
                struct test_heap heap = { 0 };

                make_header(headers[i].arch, keys);
                try(&heap, image.at, image.size, (unsigned)(k + v));
            }
}

static void every_value_missing(void **state)
{
    char keys[2048], *at;

    (void)state;
    for (size_t i = 0; i < COUNT(headers); i++)
        for (size_t k = 0; replace(headers[i].keys, k, "7", keys, sizeof(keys));
             k++) {
            struct test_heap heap = { 0 };

            /* Under another name. */
            at = keys;
            for (size_t n = k; n > 0; n--)
                at = strchr(at, ' ') + 1;
            *at = '_';
            make_header(headers[i].arch, keys);
            try(&heap, image.at, image.size, (unsigned)k);
        }
}

/* ---- a heap that fails ---- */

static void fail_allocations(const char *name, const uint8_t *bytes,
                             size_t size)
{
    for (int after = 0; after < 2; after++)
        for (uint64_t call = 1;; call++) {
            struct test_heap heap = { .fail_at = call, .fail_after = after };
            enum mf_status status = try(&heap, bytes, size, 0);

            if (heap.calls < call)
                break;
            if ((after || status != MF_OK) && status != MF_ERR_MEMORY)
                fail_msg("%s: %s after %llu allocations", name,
                         mf_status_name(status), (unsigned long long)call);
        }
}

static void every_allocation_failed(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(headers); i++) {
        make_header(headers[i].arch, headers[i].keys);
        fail_allocations(headers[i].arch, image.at, image.size);
    }
    assert_true(each_fixture("good-hf", fail_allocations) == 0);
    assert_true(each_fixture("good-m", fail_allocations) > 3);
    assert_true(each_fixture("good-llama", fail_allocations) > 0);
}

/* ---- fixtures ---- */

static void plan_fixture(const char *name, const uint8_t *bytes, size_t size)
{
    (void)name;
    for (unsigned k = 0; k < OPTIONS_COUNT; k++) {
        struct test_heap heap = { 0 };

        try(&heap, bytes, size, k);
    }
}

static void every_fixture(void **state)
{
    (void)state;
    assert_true(each_fixture("", plan_fixture) > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_are_planned),
        cmocka_unit_test(every_prefix),
        cmocka_unit_test(every_byte_flipped),
        cmocka_unit_test(every_value_replaced),
        cmocka_unit_test(every_value_missing),
        cmocka_unit_test(every_allocation_failed),
        cmocka_unit_test(every_fixture),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
