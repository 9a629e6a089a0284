/* SPDX-License-Identifier: MIT
 *
 * test_plan_mixes.c - mixes that fit, and their sizes
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/plan/plan_tensors.h"

#define GIB UINT64_C(0x40000000)

/* ---- sizes that are published ---- */

#define LLAMA_2                                                                \
    "block_count=32 context_length=4096 embedding_length=4096 "                \
    "attention.head_count=32 feed_forward_length=11008 vocab_size=32000"
#define LLAMA_3_1                                                              \
    "block_count=32 context_length=131072 embedding_length=4096 "              \
    "attention.head_count=32 attention.head_count_kv=8 "                       \
    "feed_forward_length=14336 vocab_size=128256"

static const struct shape llama_2 = { 32, 4096, 4096, 11008, 32000, 0, false };
static const struct shape llama_3_1 = {
    32, 4096, 1024, 14336, 128256, 0, false
};

#define ROPE 256 /* rope_freqs, which the shapes have in addition */

/* tools/quantize/README.md of llama.cpp, and a file of Llama-2-7B. */
static void published_sizes(void **state)
{
    static const struct {
        const char *name, *bits;
    } rows[] = {
        { "IQ2_XS", "2.5882" }, { "Q2_K", "3.1593" },   { "Q3_K_S", "3.6429" },
        { "Q4_K_S", "4.6672" }, { "Q4_K_M", "4.8944" }, { "Q5_K_S", "5.5704" },
        { "Q5_K_M", "5.7036" }, { "Q6_K", "6.5633" },   { "Q8_0", "8.5008" },
        { "F16", "16.0005" },
    };
    struct mf_model *model = open_shape(LLAMA_3_1, &llama_3_1);
    struct mf_fit fit = fit_of(model, NULL, GIB, &none);
    const struct mf_fit_mix *mix;
    size_t found = 0;
    char bits[16];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        mix = mix_of(&fit, rows[i].name);
        if (!mix)
            continue;
        snprintf(bits, sizeof(bits), "%.4f", mix->bits_per_weight);
        assert_string_equal(bits, rows[i].bits);
        found++;
    }
    assert_true(found >= 9);
    mf_model_close(model);
    model = open_shape(LLAMA_2, &llama_2);
    fit = fit_of(model, NULL, GIB, &none);
    mix = mix_of(&fit, "Q4_K_M");
    assert_int_equal(mix->data_size, UINT64_C(4080263168) + ROPE);
    mf_model_close(model);
}

/* ---- the order ---- */

static void most_bits_first(void **state)
{
    struct mf_model *model = open_shape(LLAMA_3_1, &llama_3_1);
    struct mf_fit fit = fit_of(model, OPTIONS(.context = 8192), 8 * GIB, &none);
    struct mf_mix_info info;
    size_t available = 0;

    (void)state;
    for (size_t i = 0; mf_mix_at(i, &info); i++)
        available += info.available;
    assert_int_equal(fit.mix_count, available);
    assert_string_equal(fit.mix[0].name, "F32");
    for (size_t i = 1; i < fit.mix_count; i++) {
        assert_true(fit.mix[i].bits_per_weight <=
                    fit.mix[i - 1].bits_per_weight);
        assert_true(fit.mix[i].fits >= fit.mix[i - 1].fits);
    }
    assert_int_equal(fit.mix[0].fits, MF_FIT_NO);
    assert_int_equal(fit.mix[fit.mix_count - 1].fits, MF_FIT_YES);
    assert_true(mix_of(&fit, "Q2_K_S")->needs_imatrix);
    assert_false(mix_of(&fit, "Q2_K")->needs_imatrix);
    mf_model_close(model);
}

/* ---- blocks on devices ---- */

static void blocks_on_a_device(void **state)
{
    struct mf_model *model = open_shape(LLAMA_3_1, &llama_3_1);
    const struct mf_plan_options *options = OPTIONS(.context = 8192);
    struct mf_fit fit = fit_of(model, options, 8 * GIB, &none);
    uint64_t most = 0;

    (void)state;
    assert_int_equal(fit.offload[0].blocks, 33);
    assert_int_equal(fit.offload[fit.offload_count - 1].blocks, 0);
    for (size_t i = 0; i < fit.offload_count; i++) {
        const struct mf_fit_offload *row = &fit.offload[i];

        if (i > 0)
            assert_true(row->blocks < row[-1].blocks &&
                        row->host > row[-1].host &&
                        row->devices < row[-1].devices);
        assert_int_equal(row->fits,
                         row->devices <= 8 * GIB ? MF_FIT_YES : MF_FIT_NO);
        assert_int_equal(row->fits == MF_FIT_YES, row->context >= 8192);
        if (row->fits == MF_FIT_YES && most == 0)
            most = row->blocks;
    }
    assert_true(most > 1 && most < 33);
    for (uint64_t blocks = most; blocks <= most + 1; blocks++) {
        struct mf_plan plan;

        assert_int_equal(mf_plan(model,
                                 OPTIONS(.context = 8192, .offloaded = true,
                                         .offload = blocks),
                                 &plan),
                         MF_OK);
        assert_int_equal(plan.device[1].total <= 8 * GIB, blocks == most);
    }
    mf_model_close(model);
}

/* Each device has its own limit, and the host none. */
static void devices_with_limits(void **state)
{
    static const uint64_t limits[] = { 6 * GIB, 10 * GIB };
    struct mf_model *model = open_shape(LLAMA_3_1, &llama_3_1);
    const struct mf_plan_options *options =
        OPTIONS(.context = 8192, .device_limits = limits, .device_count = 2);
    struct mf_fit fit = fit_of(model, options, 0, &none);
    struct mf_plan plan;

    (void)state;
    assert_int_equal(mf_plan(model, options, &plan), MF_OK);
    assert_int_equal(fit.needed, plan.device[1].total + plan.device[2].total);
    assert_int_equal(fit.fits == MF_FIT_YES,
                     plan.device[1].total <= limits[0] &&
                         plan.device[2].total <= limits[1]);
    assert_int_equal(mix_of(&fit, "Q4_0")->fits, MF_FIT_YES);
    assert_int_equal(mix_of(&fit, "F32")->fits, MF_FIT_NO);
    assert_int_equal(fit_of(model, options, 1, &none).fits, MF_FIT_NO);
    mf_model_close(model);
}

/* ---- memory that is refused ---- */

static void refuse(uint64_t call, bool after, bool *done)
{
    struct test_heap heap = { 0 };
    struct mf_env *own = test_env(&heap);
    struct mf_model *model;
    struct mf_fit fit;

    assert_non_null(own);
    assert_int_equal(mf_model_open_memory(own, "made.gguf", image.at,
                                          image.size, NULL, &model),
                     MF_OK);
    heap.calls = 0;
    heap.fail_at = call;
    heap.fail_after = after;
    check_refused(&heap,
                  try_fit(model, OPTIONS(.context = 512), GIB, &none, &fit));
    *done = heap.calls < call;
    heap.fail_at = 0;
    mf_model_close(model);
    mf_env_free(own);
    assert_int_equal(heap.live, 0);
}

static void refused_memory(void **state)
{
    static const struct shape small = { 2, 64, 64, 128, 100, 0, false };
    struct mf_model *model =
        open_shape("block_count=2 context_length=512 embedding_length=64 "
                   "attention.head_count=2 feed_forward_length=128 "
                   "vocab_size=100",
                   &small);

    (void)state;
    mf_model_close(model);
    for (unsigned after = 0; after < 2; after++) {
        bool done = false;

        for (uint64_t call = 1; !done; call += call < 60 ? 1 : 17)
            refuse(call, after, &done);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(published_sizes),    WITH_ENV(most_bits_first),
        WITH_ENV(blocks_on_a_device), WITH_ENV(devices_with_limits),
        WITH_ENV(refused_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
