/* SPDX-License-Identifier: MIT
 *
 * plan_fit.h - options of plans, and what fits
 */
#ifndef TESTS_PLAN_FIT_H
#define TESTS_PLAN_FIT_H

#include "tests/with_env.h"

#define OPTIONS(...)                                                           \
    (&(const struct mf_plan_options){ .size = sizeof(struct mf_plan_options),  \
                                      __VA_ARGS__ })

static const uint64_t none = 0; /* a margin */

static inline enum mf_status try_fit(struct mf_model *model,
                                     const struct mf_plan_options *options,
                                     uint64_t limit, const uint64_t *margin,
                                     struct mf_fit *out)
{
    struct mf_fit_options how = { .size = sizeof(how),
                                  .limit = limit,
                                  .margin = margin };

    return mf_plan_fit(model, options, &how, out);
}

static inline struct mf_fit fit_of(struct mf_model *model,
                                   const struct mf_plan_options *options,
                                   uint64_t limit, const uint64_t *margin)
{
    struct mf_fit fit;

    if (try_fit(model, options, limit, margin, &fit) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    return fit;
}

/* NULL: the library does not have it. */
static inline const struct mf_fit_mix *mix_of(const struct mf_fit *fit,
                                              const char *name)
{
    for (size_t i = 0; i < fit->mix_count; i++)
        if (strcmp(fit->mix[i].name, name) == 0)
            return &fit->mix[i];
    return NULL;
}

#endif
