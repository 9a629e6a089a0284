/* SPDX-License-Identifier: MIT
 *
 * model.h - a model in memory, for the fuzzers that do something with it
 */
#ifndef MF_TESTS_FUZZ_MODEL_H
#define MF_TESTS_FUZZ_MODEL_H

#include <stdlib.h>

#include "lib/modelfile.h"

/* Uses the model, if the bytes are one; false where something of it is left on
 * the heap. */
static inline bool use_model(const uint8_t *data, size_t size,
                             void (*use)(struct mf_model *model,
                                         const uint8_t *data, size_t size))
{
    struct mf_options one = { .size = sizeof(struct mf_options), .threads = 1 };
    struct mf_env *env = mf_env_new(&one);
    struct mf_model *model;
    struct mf_heap_stats before, after;

    if (!env)
        abort();
    mf_env_heap(env, &before);
    if (mf_model_open_memory(env, "fuzz", data, size, NULL, &model) == MF_OK) {
        use(model, data, size);
        mf_model_close(model);
    }
    mf_env_heap(env, &after);
    mf_env_free(env);
    return after.live == before.live;
}

#endif
