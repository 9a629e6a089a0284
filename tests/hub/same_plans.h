/* SPDX-License-Identifier: MIT
 *
 * same_plans.h - a folder of Hugging Face is planned as the file made of it
 */
#ifndef TESTS_SAME_PLANS_H
#define TESTS_SAME_PLANS_H

#include <inttypes.h>

#include "tests/with_scratch.h"

/* Numbers that differ, as a text; "" if none does. */
struct plan_differences {
    char text[400];
};

static inline void compare_number(struct plan_differences *out,
                                  const char *what, uint64_t a, uint64_t b)
{
    size_t at = strlen(out->text);

    if (a != b)
        snprintf(out->text + at, sizeof(out->text) - at,
                 " %s %" PRIu64 " and %" PRIu64, what, a, b);
}

static inline void compare_plans(const struct mf_plan *a,
                                 const struct mf_plan *b,
                                 struct plan_differences *out)
{
    compare_number(out, "context", a->model_context, b->model_context);
    compare_number(out, "caches", a->cache_count, b->cache_count);
    for (size_t i = 0; i < a->cache_count && i < b->cache_count; i++) {
        compare_number(out, "cells", a->cache[i].cells, b->cache[i].cells);
        compare_number(out, "layers", a->cache[i].layers, b->cache[i].layers);
        compare_number(out, "keys", a->cache[i].k_bytes, b->cache[i].k_bytes);
        compare_number(out, "values", a->cache[i].v_bytes, b->cache[i].v_bytes);
    }
    compare_number(out, "R", a->state_conv, b->state_conv);
    compare_number(out, "S", a->state_ssm, b->state_ssm);
    for (int i = 0; i < MF_PLAN_LINE_COUNT; i++)
        compare_number(out, mf_plan_line_name((enum mf_plan_line)i), a->line[i],
                       b->line[i]);
    compare_number(out, "estimated", a->estimated, b->estimated);
    compare_number(out, "unknown", a->unknown, b->unknown);
    for (size_t i = 0; i < a->device_count && i < b->device_count; i++)
        compare_number(out, a->device[i].name, a->device[i].total,
                       b->device[i].total);
}

/* Where there are more or fewer tokens than embeddings, nothing loads the file,
 * and only the folder's plan is of any use. */
static inline bool has_right_vocabulary(const struct mf_model *model)
{
    static const char tokens[] = "tokenizer.ggml.tokens",
                      rows[] = "token_embd.weight";
    struct mf_tensor tensor;
    struct mf_meta meta;

    return !mf_meta_find(model, tokens, strlen(tokens), &meta, NULL) ||
           !mf_tensor_find(model, rows, strlen(rows), &tensor, NULL) ||
           tensor.dim[1] == meta.count;
}

static inline struct plan_differences plans_differ(const char *a, const char *b)
{
    const struct mf_plan_options options[] = {
        { .size = sizeof(*options) },
        { .size = sizeof(*options), .context = 2048, .sequences = 2 },
        { .size = sizeof(*options),
          .context = 4096,
          .flash = MF_FLASH_OFF,
          .offloaded = true,
          .offload = 2 },
    };
    struct mf_model *model[] = { open_model(a), open_model(b) };
    struct plan_differences out = { "" };

    for (size_t i = 0; has_right_vocabulary(model[1]) && i < COUNT(options);
         i++) {
        struct mf_plan plan[2];

        for (size_t m = 0; m < 2; m++)
            assert_int_equal(mf_plan(model[m], &options[i], &plan[m]), MF_OK);
        compare_plans(&plan[0], &plan[1], &out);
    }
    mf_model_close(model[0]);
    mf_model_close(model[1]);
    return out;
}

#endif
