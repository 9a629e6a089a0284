/* SPDX-License-Identifier: MIT
 *
 * pre_of.h - the name of a folder's pre-tokenizer, leaving nothing behind
 */
#ifndef TESTS_PRE_OF_H
#define TESTS_PRE_OF_H

#include "lib/hf/encode/encode.h"
#include "lib/hf/encode/fast.h"

static inline enum mf_status pre_of(const struct mf_model *model,
                                    const char **pre)
{
    struct mf_arena arena;
    struct mf_fast *fast;
    enum mf_status status;

    mf_arena_init(&arena, model->env);
    fast = mf_arena_take(&arena, sizeof(*fast));
    status = fast ? mf_fast_open(fast, model, &arena, NULL)
                  : model->env->error.status;
    if (status == MF_OK)
        status = mf_encoder_pre(fast, pre);
    mf_arena_release(&arena);
    return status;
}

#endif
