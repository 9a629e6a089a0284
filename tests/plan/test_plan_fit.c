/* SPDX-License-Identifier: MIT
 *
 * test_plan_fit.c - what fits: the next larger one does not
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/plan/plan_image.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

static uint64_t total_of(struct mf_model *model,
                         const struct mf_plan_options *options,
                         const char *type, uint64_t context)
{
    struct mf_plan_options asked = *options;
    struct mf_plan plan;

    asked.context = context;
    asked.type_k = asked.type_v = type;
    assert_int_equal(mf_plan(model, &asked, &plan), MF_OK);
    return plan.total;
}

/* ---- contexts ---- */

#define LLAMA                                                                  \
    "block_count=32 context_length=8192 embedding_length=4096 "                \
    "attention.head_count=32 attention.head_count_kv=8 vocab_size=128256"
#define GEMMA                                                                  \
    "block_count=26 context_length=8192 embedding_length=2304 "                \
    "attention.head_count=8 attention.head_count_kv=4 vocab_size=256000 "      \
    "attention.key_length=256 attention.value_length=256 "                     \
    "attention.sliding_window=4096"

/* The answers are the largest ones, on straight lines and on bent ones. */
static void is_largest(const char *arch, const char *keys,
                       const struct mf_plan_options *options)
{
    struct mf_model *model = open_header(arch, keys);
    uint64_t sequences = options->sequences ? options->sequences : 1;
    uint64_t step = 256 * (options->unified ? 1 : sequences);

    for (uint64_t limit = 32 * MIB; limit < 64 * GIB; limit *= 2) {
        struct mf_fit fit = fit_of(model, options, limit, &none);

        for (size_t i = 0; i < MF_FIT_TYPES; i++) {
            uint64_t longest = fit.context[i].context;
            const char *type = fit.context[i].type;

            assert_int_equal(longest % step, 0);
            if (longest > 0)
                assert_true(total_of(model, options, type, longest) <= limit);
            assert_true(total_of(model, options, type, longest + step) > limit);
            assert_int_equal(fit.context[i].exceeds_model, longest > 8192);
        }
    }
    mf_model_close(model);
}

static void longest_context(void **state)
{
    (void)state;
    is_largest("llama", LLAMA, OPTIONS(.context = 4096));
    is_largest("llama", LLAMA, OPTIONS(.sequences = 3));
    is_largest("llama", LLAMA, OPTIONS(.sequences = 5, .unified = true));
    is_largest("gemma2", GEMMA, OPTIONS(.ubatch = 2048));
    is_largest("gemma2", GEMMA, OPTIONS(.full_windows = true));
    is_largest("gemma2", GEMMA, OPTIONS(.sequences = 4));
}

/* The margin stays free. */
static void margin(void **state)
{
    struct mf_model *model = open_header("llama", LLAMA);
    uint64_t limit = 4 * GIB, quarter = GIB / 4;
    struct mf_fit usual = fit_of(model, NULL, limit, NULL);
    struct mf_fit less = fit_of(model, NULL, limit, &quarter);
    struct mf_fit without = fit_of(model, NULL, limit - GIB, &none);

    (void)state;
    assert_int_equal(usual.margin, GIB);
    assert_int_equal(less.margin, quarter);
    assert_int_equal(usual.context[0].context, without.context[0].context);
    assert_true(less.context[0].context > usual.context[0].context);
    without = fit_of(model, NULL, GIB, NULL);
    assert_int_equal(without.context[2].context, 0);
    mf_model_close(model);
}

static void answers(void **state)
{
    struct mf_model *model = open_header("llama", LLAMA);
    struct mf_plan plan;
    struct mf_fit fit;

    (void)state;
    assert_int_equal(mf_plan(model, NULL, &plan), MF_OK);
    fit = fit_of(model, NULL, plan.total, &none);
    assert_int_equal(fit.fits, MF_FIT_YES);
    assert_int_equal(fit.needed, plan.total);
    assert_int_equal(fit.limit, plan.total);
    fit = fit_of(model, NULL, plan.total - 1, &none);
    assert_int_equal(fit.fits, MF_FIT_NO);
    fit = fit_of(model, NULL, MF_PLAN_HUGE - 1, NULL);
    assert_int_equal(fit.fits, MF_FIT_YES);
    fit = fit_of(model, NULL, UINT64_MAX, &(uint64_t){ UINT64_MAX });
    assert_int_equal(fit.fits, MF_FIT_UNKNOWN);
    mf_model_close(model);
}

/* Quantized values need flash attention. */
static void without_flash(void **state)
{
    struct mf_model *model = open_header("llama", LLAMA);
    struct mf_fit fit =
        fit_of(model, OPTIONS(.flash = MF_FLASH_OFF), 8 * GIB, NULL);

    (void)state;
    assert_true(fit.context[0].context > 0 &&
                fit.context[0].context < UINT32_MAX);
    assert_true(fit.context[1].context == MF_PLAN_UNKNOWN);
    assert_true(fit.context[2].context == MF_PLAN_UNKNOWN);
    assert_false(fit.context[2].exceeds_model);
    assert_string_equal(fit.context[1].type, "q8_0");
    assert_string_equal(mf_env_error(env)->message, "");
    mf_model_close(model);
}

/* A cache of unknown size fits into nothing, and nothing else fails. */
static void unknown_cache(void **state)
{
    struct mf_model *model =
        open_header("llama", "block_count=32 context_length=8192 "
                             "embedding_length=4096 vocab_size=1000");
    struct mf_fit fit = fit_of(model, NULL, 64 * GIB, NULL);

    (void)state;
    assert_int_equal(fit.fits, MF_FIT_UNKNOWN);
    assert_true(fit.needed == MF_PLAN_UNKNOWN);
    for (size_t i = 0; i < MF_FIT_TYPES; i++)
        assert_true(fit.context[i].context == MF_PLAN_UNKNOWN);
    assert_true(fit.mix_count > 20);
    assert_int_equal(fit.mix[0].fits, MF_FIT_UNKNOWN);
    mf_model_close(model);
}

/* Blocks that keep a state have no cells: any context fits. */
static void any_context(void **state)
{
    struct mf_model *model = open_header(
        "mamba", "block_count=24 context_length=1048576 embedding_length=768 "
                 "vocab_size=50280 ssm.conv_kernel=4 ssm.inner_size=1536 "
                 "ssm.state_size=16 ssm.time_step_rank=48");
    struct mf_fit fit = fit_of(model, NULL, 64 * GIB, NULL);

    (void)state;
    assert_int_equal(fit.fits, MF_FIT_YES);
    assert_int_equal(fit.context[0].context, UINT32_MAX / 256 * 256);
    mf_model_close(model);
}

/* ---- what is refused ---- */

static void refused(void **state)
{
    struct mf_model *model = open_header("llama", LLAMA);
    struct mf_fit_options how = { .size = sizeof(how) };
    struct mf_fit fit;

    (void)state;
    assert_int_equal(mf_plan_fit(model, NULL, &how, &fit), MF_ERR_ARGUMENT);
    assert_string_equal(mf_env_error(env)->message,
                        "no memory has a limit that anything could fit into");
    how.limit = GIB;
    assert_int_equal(mf_plan_fit(model, OPTIONS(.type_k = "q9_x"), &how, &fit),
                     MF_ERR_ARGUMENT);
    assert_int_equal(
        mf_plan_fit(model, OPTIONS(.type_v = "q8_0", .flash = MF_FLASH_OFF),
                    &how, &fit),
        MF_ERR_ARGUMENT);
    how.size = 0;
    assert_int_equal(mf_plan_fit(model, NULL, &how, &fit), MF_ERR_ARGUMENT);
    mf_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(longest_context), WITH_ENV(margin),
        WITH_ENV(answers),         WITH_ENV(without_flash),
        WITH_ENV(unknown_cache),   WITH_ENV(any_context),
        WITH_ENV(refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
