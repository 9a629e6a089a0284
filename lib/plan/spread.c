/* SPDX-License-Identifier: MIT
 *
 * spread.c - what each of several devices has of a graph
 *
 * What ggml's scheduler does when steps are on different devices: inputs are on
 * the host.  A device that reads a tensor of another one has a copy, made where
 * its steps begin, of which that reading is the last that the other one's
 * tensor sees.  Each device has memory of its own.
 */
#include "lib/plan/devices.h"
#include "lib/plan/place.h"

#include <string.h>

struct spread {
    struct mf_graph *graph;
    uint16_t node[MF_GRAPH_SHARED]; /* what each name is, wherever it is */
    uint32_t sent[MF_GRAPH_SHARED]; /* devices that have a copy of it */
    bool copy[MF_GRAPH_SHARED];     /* here is one */
};

static uint32_t bit(size_t number)
{
    return UINT32_C(1) << number;
}

static const struct mf_graph_part *part_at(const struct mf_graph *graph,
                                           size_t step)
{
    return &graph->part[graph->step[step]];
}

/* The step after those that are on the same device as this one. */
static size_t run_end(const struct mf_graph *graph, size_t step)
{
    uint8_t device = graph->where[step];

    while (step < graph->step_count && graph->where[step] == device)
        step++;
    return step;
}

/* Names that have another tensor after the step. */
static uint32_t given(const struct mf_graph *graph, size_t step)
{
    uint32_t names = 0;

    for (size_t name = 0; name < graph->shared_count; name++)
        if (part_at(graph, step)->gives[name] != MF_GRAPH_NONE)
            names |= bit(name);
    return names;
}

/* ---- copies ---- */

static uint64_t bytes_of(const struct mf_graph_node *node)
{
    const struct mf_type_row *row = &mf_types[node->type];
    uint64_t count = mf_plan_mul(mf_plan_mul(node->dim[0], node->dim[1]),
                                 mf_plan_mul(node->dim[2], node->dim[3]));

    return mf_plan_round(
        mf_plan_div(mf_plan_mul(count, row->bytes), row->block),
        MF_GRAPH_ALIGNMENT);
}

/* Another name of the same tensor that has a copy; MF_GRAPH_SHARED: none has */
static size_t same_tensor(const struct spread *spread, size_t name)
{
    size_t other = 0;

    while (other < MF_GRAPH_SHARED &&
           (spread->graph->record_of[other] == MF_GRAPH_NONE ||
            spread->node[other] != spread->node[name]))
        other++;
    return other;
}

static void copy_in(struct spread *spread, size_t name, size_t step)
{
    struct mf_graph *graph = spread->graph;
    size_t other = same_tensor(spread, name);
    struct mf_graph_node *record;

    if (spread->node[name] == MF_GRAPH_NONE)
        return;
    spread->copy[name] = true;
    if (other < MF_GRAPH_SHARED) {
        graph->record_of[name] = graph->record_of[other];
    } else {
        graph->record_of[name] =
            mf_place_free_record(mf_place_taken_records(graph));
        record = mf_place_node(graph, (uint16_t)name);
        *record = graph->node[spread->node[name]];
        record->view = record->output = false;
        record->root = MF_GRAPH_NONE;
        record->children = record->views = 0;
        record->bytes = bytes_of(record);
        record->at = mf_place_take(graph, record->bytes);
        record->allocated = true;
    }
    mf_place_add_use(graph, mf_place_node(graph, (uint16_t)name),
                     mf_place_future(graph, name, step));
}

/* Copies what a step reads that is elsewhere, in the order of reading. */
static void copy_for_step(struct spread *spread, size_t step, size_t begin,
                          uint32_t made)
{
    struct mf_graph *graph = spread->graph;
    const struct mf_graph_part *part = part_at(graph, step);

    for (uint32_t i = 0; i < part->count; i++) {
        const struct mf_graph_node *node =
            &graph->node[graph->order[part->first + i]];

        for (unsigned j = 0; j < node->source_count; j++) {
            uint16_t name = node->source[j];

            if (name < MF_GRAPH_SHARED && !(made >> name & 1) &&
                graph->record_of[name] == MF_GRAPH_NONE)
                copy_in(spread, name, begin);
        }
    }
    for (size_t name = 0; name < graph->shared_count; name++) {
        uint16_t from = part->gives[name];

        if (from < MF_GRAPH_SHARED && !(made >> from & 1) &&
            graph->record_of[from] == MF_GRAPH_NONE)
            copy_in(spread, from, begin);
    }
}

static void copy_for_run(struct spread *spread, size_t begin)
{
    size_t end = run_end(spread->graph, begin);
    uint32_t made = 0;

    for (size_t step = begin; step < end; step++) {
        copy_for_step(spread, step, begin, made);
        made |= given(spread->graph, step);
    }
}

/* Another device copies what it reads of this one's. */
static void send_to_run(struct spread *spread, size_t begin)
{
    struct mf_graph *graph = spread->graph;
    size_t end = run_end(graph, begin);
    uint32_t device = bit(graph->where[begin]), made = 0;

    for (size_t step = begin; step < end; step++) {
        for (size_t name = 0; name < graph->shared_count; name++) {
            struct mf_graph_node *record = mf_place_node(graph, (uint16_t)name);

            if (!record || !part_at(graph, step)->child[name] ||
                made >> name & 1 || spread->copy[name] ||
                spread->sent[name] & device)
                continue;
            spread->sent[name] |= device;
            mf_place_leave(graph, record);
        }
        made |= given(graph, step);
    }
}

/* ---- names after a step ---- */

static void rename_nodes(struct spread *spread, size_t step)
{
    struct mf_graph *graph = spread->graph;
    const struct mf_graph_part *part = part_at(graph, step);
    bool here = graph->where[step] == graph->device;
    struct spread before = *spread;
    uint16_t record_of[MF_GRAPH_SHARED];

    memcpy(record_of, graph->record_of, sizeof(record_of));
    for (size_t name = 0; name < graph->shared_count; name++) {
        uint16_t from = part->gives[name];
        bool shared = from < MF_GRAPH_SHARED;

        if (from == MF_GRAPH_NONE)
            continue;
        spread->node[name] = shared ? before.node[from] : from;
        spread->sent[name] = shared ? before.sent[from] : 0;
        spread->copy[name] = shared && before.copy[from];
        if (!here)
            graph->record_of[name] = shared ? record_of[from] : MF_GRAPH_NONE;
    }
}

/* ---- the whole graph ---- */

static void start(struct spread *spread)
{
    struct mf_graph *graph = spread->graph;

    memset(spread->node, 0xff, sizeof(spread->node));
    memset(spread->sent, 0, sizeof(spread->sent));
    memset(spread->copy, 0, sizeof(spread->copy));
    for (size_t i = 0; i < graph->leaf_count; i++)
        spread->node[graph->leaf[i]] = graph->leaf[i];
    mf_place_begin(graph);
    if (graph->device == 0)
        mf_place_inputs(graph);
}

static uint64_t place_on(struct mf_graph *graph, const uint8_t *where,
                         uint8_t device)
{
    struct spread spread = { .graph = graph };

    graph->where = where;
    graph->device = device;
    start(&spread);
    for (size_t step = 0; step < graph->step_count && !graph->unknown; step++) {
        bool here = where[step] == device;

        if (step == 0 || where[step - 1] != where[step]) {
            if (here)
                copy_for_run(&spread, step);
            else
                send_to_run(&spread, step);
        }
        if (here)
            mf_place_step(graph, step);
        rename_nodes(&spread, step);
        if (graph->most == MF_PLAN_HUGE)
            break;
    }
    graph->where = NULL;
    return graph->unknown ? MF_PLAN_UNKNOWN : graph->most;
}

/* The device of each step: what comes before the blocks is on the host, what
 * comes after them with the output. */
static void put_devices(const struct mf_graph *graph,
                        const struct mf_plan_split *split, uint8_t *where)
{
    for (size_t step = 0; step < graph->step_count; step++) {
        uint64_t block = graph->block[step];

        if (block == MF_GRAPH_NONE && step + 1 < graph->step_count)
            where[step] = step > 0 ? where[step - 1] : 0;
        else
            where[step] = (uint8_t)mf_plan_device_of(
                split, block == MF_GRAPH_NONE ? split->blocks : block);
    }
}

/* The first device computes large batches of the host's blocks, too: it is
 * faster with weights that it has to fetch than the host is. */
static void lend(const struct mf_graph *graph, uint8_t *where)
{
    for (size_t step = 1; step < graph->step_count; step++)
        if (where[step] == 0)
            where[step] = 1;
}

void mf_graph_place_on_all(struct mf_graph *graph,
                           const struct mf_plan_split *split, bool large,
                           uint64_t *bytes)
{
    uint8_t where[MF_GRAPH_STEPS_MAX];

    put_devices(graph, split, where);
    if (large && split->count > 0)
        lend(graph, where);
    for (size_t i = 0; i <= split->devices; i++)
        bytes[i] = place_on(graph, where, (uint8_t)i);
}
