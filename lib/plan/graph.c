/* SPDX-License-Identifier: MIT
 *
 * graph.c - what lives while tokens are computed
 *
 * An estimate: the logits of a batch with what leads to them, or without flash
 * attention the scores of one block, whichever is larger.
 */
#include "lib/plan/plan.h"

uint64_t mf_plan_compute(struct mf_planner *planner,
                         const struct mf_plan_settings *settings,
                         bool *estimated)
{
    uint64_t embd = mf_planner_number(planner, "embd", 0);
    uint64_t vocab = mf_planner_number(planner, "vocab", 0);
    uint64_t heads = mf_planner_number(planner, "heads", 0);
    uint64_t logits = mf_plan_add(vocab, embd);
    uint64_t scores = mf_plan_mul(embd, 4);
    uint64_t most;

    if (!settings->flash)
        scores = mf_plan_add(
            scores, mf_plan_mul(settings->cells, mf_plan_add(heads, 1)));
    most = logits == MF_PLAN_UNKNOWN || logits > scores ? logits : scores;
    *estimated = true;
    return mf_plan_mul(mf_plan_mul(settings->tokens, sizeof(float)), most);
}
