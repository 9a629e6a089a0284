/* SPDX-License-Identifier: MIT
 *
 * test_plan.c - caches and states against what llama.cpp's logs say
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/plan_image.h"

#define OPTIONS(...)                                                           \
    (&(const struct mf_plan_options){ .size = sizeof(struct mf_plan_options),  \
                                      __VA_ARGS__ })

static struct mf_plan plan_of(const char *arch, const char *keys,
                              const struct mf_plan_options *options)
{
    struct mf_model *model = open_header(arch, keys);
    struct mf_plan plan;

    if (mf_plan(model, options, &plan) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    mf_model_close(model);
    return plan;
}

static double mib(uint64_t bytes)
{
    return (double)bytes / (1024 * 1024);
}

/* ---- as the logs print it ---- */

/* "4096 x 32: 1024.00 + 1024.00; R 0.98 S 72.00" */
static void log_text(const struct mf_plan *plan, char *out, size_t room)
{
    size_t used = 0;

    *out = '\0';
    for (size_t i = 0; i < plan->cache_count; i++)
        used += (size_t)snprintf(
            out + used, room - used, "%s%llu x %llu: %.2f + %.2f",
            i > 0 ? "; " : "", (unsigned long long)plan->cache[i].cells,
            (unsigned long long)plan->cache[i].layers,
            mib(plan->cache[i].k_bytes), mib(plan->cache[i].v_bytes));
    if (plan->state_conv || plan->state_ssm)
        snprintf(out + used, room - used, "%sR %.2f S %.2f",
                 used > 0 ? "; " : "", mib(plan->state_conv),
                 mib(plan->state_ssm));
}

static void logs(const char *arch, const char *keys,
                 const struct mf_plan_options *options, const char *expected)
{
    struct mf_plan plan = plan_of(arch, keys, options);
    char text[512];

    log_text(&plan, text, sizeof(text));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(heads_in_every_block),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
