/* SPDX-License-Identifier: MIT
 *
 * repeat.c - steps that begin alike
 *
 * Blocks that are alike and find the same memory do the same with it.  So
 * when a step begins like an earlier one, and what comes is what came then, it
 * is left out: 80 blocks are placed in the time of five.
 */
#include "lib/plan/place.h"

#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t number)
{
    hash = (hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* The memory as a step finds it. */
static uint64_t state(const struct mf_graph *graph)
{
    uint64_t hash = 1;

    for (size_t i = 0; i < graph->hole_count; i++)
        hash = mix(mix(hash, graph->hole[i].at), graph->hole[i].size);
    for (size_t name = 0; name < graph->shared_count; name++) {
        uint16_t at = graph->record_of[name];
        const struct mf_graph_node *record;

        if (at == MF_GRAPH_NONE)
            continue;
        record = &graph->record[at];
        hash = mix(mix(hash, record->at), record->allocated);
        hash = mix(hash, record->view && record->root != MF_GRAPH_NONE
                             ? graph->record[record->root].at
                             : 0);
        for (size_t other = 0; other < name; other++)
            if (graph->record_of[other] == at)
                hash = mix(hash, other);
    }
    return hash;
}

/* Whether the parts from one step on, up to and with the one after `period`,
 * are those from another step on. */
static bool repeats(const struct mf_graph *graph, size_t from, size_t step,
                    size_t period)
{
    if (step + period >= graph->step_count)
        return false;
    return memcmp(&graph->step[from], &graph->step[step],
                  (period + 1) * sizeof(*graph->step)) == 0;
}

static bool is_given(const struct mf_graph *graph, size_t name, size_t step)
{
    return graph->part[graph->step[step]].gives[name] != MF_GRAPH_NONE;
}

/* The last step that reads a name's tensor; the end if none does. */
static size_t last_reader(const struct mf_graph *graph, size_t name,
                          size_t step)
{
    size_t last = graph->step_count;

    for (; step < graph->step_count; step++) {
        const struct mf_graph_part *part = &graph->part[graph->step[step]];

        if (part->child[name] + part->view[name] > 0)
            last = step;
        if (is_given(graph, name, step))
            break;
    }
    return last;
}

/* The first step that is the last reader of a tensor that is handed through
 * periods. */
static size_t first_end(const struct mf_graph *graph, size_t from,
                        size_t period)
{
    size_t first = graph->step_count;

    for (size_t name = 0; name < graph->shared_count; name++) {
        size_t step = from, last;

        while (step < from + period && !is_given(graph, name, step))
            step++;
        last = step < from + period ? first : last_reader(graph, name, from);
        if (last < first)
            first = last;
    }
    return first;
}

/* Makes what is left to be read of each record right, after steps were left
 * out.  A view without readers keeps its root for ever: that stays so. */
static void pass_over(struct mf_graph *graph, size_t from, size_t to)
{
    for (int sign = -1; sign <= 1; sign += 2)
        for (size_t name = 0; name < graph->shared_count; name++) {
            struct mf_graph_node *record = mf_place_node(graph, (uint16_t)name);
            struct mf_place_use use =
                mf_place_future(graph, name, sign < 0 ? from : to);

            if (!record)
                continue;
            if (sign < 0)
                use = (struct mf_place_use){ 0 - use.children, 0 - use.views,
                                             false };
            mf_place_add_use(graph, record, use);
        }
}

/* The step to go on with: this one, or a later one that finds the same
 * memory. */
static size_t next_step(struct mf_graph *graph, size_t step)
{
    uint64_t now = state(graph);
    size_t begin = step;

    for (size_t period = 1; period < MF_GRAPH_PAST && period <= step; period++)
        if (graph->past[(step - period) % MF_GRAPH_PAST] == now &&
            repeats(graph, step - period, step, period)) {
            size_t end = first_end(graph, step, period);

            while (step + period <= end &&
                   repeats(graph, begin - period, step, period))
                step += period;
            break;
        }
    if (step > begin) {
        pass_over(graph, begin, step);
        memset(graph->past, 0, sizeof(graph->past));
    }
    graph->past[step % MF_GRAPH_PAST] = now;
    return step;
}

/* ---- the whole graph ---- */

uint64_t mf_graph_place(struct mf_graph *graph)
{
    mf_place_begin(graph);
    mf_place_inputs(graph);
    for (size_t step = 0; step < graph->step_count; step++) {
        if (!graph->every_step)
            step = next_step(graph, step);
        mf_place_step(graph, step);
        if (graph->unknown || graph->most == MF_PLAN_HUGE)
            break;
    }
    return graph->unknown ? MF_PLAN_UNKNOWN : graph->most;
}
