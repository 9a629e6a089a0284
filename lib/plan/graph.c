/* SPDX-License-Identifier: MIT
 *
 * graph.c - what lives while tokens are computed
 */
#include "lib/plan/graph.h"
#include "lib/plan/devices.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define NODES_FIRST 256 /* room for a model of usual blocks */

/* ---- numbers that rows may use ---- */

static void add_number(struct mf_graph *graph, const char *name,
                       uint64_t number)
{
    graph->run->let[graph->let_count++] = (struct mf_arch_let){
        .name = { name, strlen(name) },
        .fixed = true,
        .value = { number <= INT64_MAX, (int64_t)number },
    };
}

/* The group of numbers that are computed from these. */
static void add_rows(struct mf_graph *graph)
{
    const struct mf_rows_part *group = mf_rows_find(
        &mf_graph_rows, MF_ROWS_group, (struct mf_str){ "numbers", 7 });
    struct mf_code rows;

    assert(group);
    rows = mf_part_rows(&mf_graph_rows, group);
    while (mf_code_left(&rows)) {
        enum mf_code_row word;
        struct mf_code row = mf_code_row(&rows, &word);
        struct mf_str name = mf_code_text(&row);

        assert(word == MF_DO_LET && graph->let_count < MF_GRAPH_NUMBERS);
        mf_code_byte(&row);
        graph->run->let[graph->let_count++] =
            (struct mf_arch_let){ .name = name, .expression = row };
    }
}

/* Numbers of graphs come first, and hide others of lib/arch. */
static void make_room(struct mf_graph *graph)
{
    struct mf_arch_run *run = graph->run;

    assert(run->let_count + MF_GRAPH_NUMBERS <= run->let_room);
    memmove(run->let + MF_GRAPH_NUMBERS, run->let,
            run->let_count * sizeof(*run->let));
    run->let_count += MF_GRAPH_NUMBERS;
}

static void remove_numbers(struct mf_graph *graph, size_t let_count)
{
    struct mf_arch_run *run = graph->run;

    run->length = NULL;
    run->let_count = let_count;
    memmove(run->let, run->let + MF_GRAPH_NUMBERS,
            let_count * sizeof(*run->let));
}

/* docs/rows.md explains them. */
static void add_numbers(struct mf_graph *graph,
                        const struct mf_plan_settings *settings)
{
    uint64_t over = settings->tokens % settings->sequences;

    make_room(graph);
    add_number(graph, "sequences", settings->sequences);
    add_number(graph, "streams", settings->streams);
    add_number(
        graph, "tokens",
        mf_plan_add(settings->tokens, over ? settings->sequences - over : 0));
    add_number(graph, "outputs", settings->tokens);
    add_number(graph, "cells_full", settings->cells);
    add_number(graph, "cells_swa", settings->window_cells);
    add_number(graph, "flash_on", settings->flash);
    add_number(graph, "windows", graph->kinds->windows);
    add_number(graph, "v_most", graph->kinds->v_most);
    add_number(graph, "small_k", mf_type_is_quantized(settings->type_k));
    add_number(graph, "small_v", mf_type_is_quantized(settings->type_v));
    add_number(graph, "wide_k", settings->type_k == MF_TYPE_F32);
    add_number(graph, "wide_v", settings->type_v == MF_TYPE_F32);
    add_rows(graph);
    assert(graph->let_count == MF_GRAPH_NUMBERS);
    graph->run->length = mf_graph_length;
    graph->run->length_user = graph;
}

/* Values are kept for a block; they may depend on numbers of a graph. */
static void forget_values(struct mf_arch_run *run)
{
    for (size_t i = 0; i < run->let_count; i++)
        run->let[i].key_count = 0;
}

/* ---- a graph ---- */

static struct mf_graph *open_graph(struct mf_planner *planner)
{
    struct mf_env *env = mf_planner_env(planner);
    struct mf_graph *graph = mf_alloc(env, sizeof(*graph));

    if (!graph)
        return NULL;
    memset(graph, 0, sizeof(*graph));
    graph->env = env;
    graph->run = mf_planner_rows(planner);
    graph->kinds = mf_planner_kinds(planner);
    graph->node_room = NODES_FIRST;
    graph->node_count = MF_GRAPH_SHARED;
    graph->node = mf_alloc(env, NODES_FIRST * sizeof(*graph->node));
    graph->order = mf_alloc(env, NODES_FIRST * sizeof(*graph->order));
    graph->failed = !graph->kinds || !graph->node || !graph->order;
    for (size_t i = 0; i < MF_GRAPH_SHARED && graph->node; i++)
        graph->node[i] = (struct mf_graph_node){ .root = MF_GRAPH_NONE };
    return graph;
}

static void close_graph(struct mf_graph *graph)
{
    struct mf_env *env = graph->env;

    mf_release(env, graph->node, graph->node_room * sizeof(*graph->node));
    mf_release(env, graph->order, graph->node_room * sizeof(*graph->order));
    mf_release(env, graph->part, graph->part_room * sizeof(*graph->part));
    mf_release(env, graph, sizeof(*graph));
}

/* Of an architecture without a graph: the logits of a batch with what leads to
 * them, or without flash attention the scores of one block, whichever is
 * larger. */
static uint64_t estimate(struct mf_planner *planner,
                         const struct mf_plan_settings *settings)
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
    return mf_plan_mul(mf_plan_mul(settings->tokens, sizeof(float)), most);
}

/* bytes: of each device, or if split is NULL of one that has it all; they stay
 * as they are if rows need metadata or tensors that are missing. */
static void lay_out(struct mf_planner *planner,
                    const struct mf_plan_settings *settings,
                    struct mf_code rows, bool every_step,
                    const struct mf_plan_split *split, uint64_t *bytes,
                    bool *rough)
{
    struct mf_graph *graph = open_graph(planner);
    size_t lets;

    if (!graph)
        return;
    lets = graph->run->let_count;
    graph->every_step = every_step;
    graph->type_k = settings->type_k;
    graph->type_v = settings->type_v;
    if (!graph->failed) {
        add_numbers(graph, settings);
        forget_values(graph->run);
        mf_graph_build(graph, rows);
        if (!graph->failed && !graph->unknown && split)
            mf_graph_place_on_all(
                graph, split, settings->tokens >= MF_PLAN_LARGE_BATCH, bytes);
        else if (!graph->failed && !graph->unknown)
            *bytes = mf_graph_place(graph);
        remove_numbers(graph, lets);
        forget_values(graph->run);
    }
    *rough = graph->rough;
    close_graph(graph);
}

uint64_t mf_graph_lay_out(struct mf_planner *planner,
                          const struct mf_plan_settings *settings,
                          struct mf_code rows, bool every_step, bool *rough)
{
    uint64_t bytes = MF_PLAN_UNKNOWN;

    lay_out(planner, settings, rows, every_step, NULL, &bytes, rough);
    return bytes;
}

uint64_t mf_graph_bytes(struct mf_planner *planner,
                        const struct mf_plan_settings *settings,
                        bool every_step, bool *estimated)
{
    const struct mf_rows_part *part =
        mf_graph_find(mf_planner_rows(planner)->name);
    uint64_t bytes = MF_PLAN_UNKNOWN;

    *estimated = false;
    if (part && mf_plan_is_number(settings->tokens) &&
        mf_plan_is_number(settings->sequences))
        bytes = mf_graph_lay_out(planner, settings,
                                 mf_part_rows(&mf_graph_rows, part), every_step,
                                 estimated);
    if (bytes != MF_PLAN_UNKNOWN)
        return bytes;
    *estimated = true;
    return estimate(planner, settings);
}

uint64_t mf_plan_compute(struct mf_planner *planner,
                         const struct mf_plan_settings *settings,
                         bool *estimated)
{
    return mf_graph_bytes(planner, settings, false, estimated);
}

bool mf_plan_compute_on(struct mf_planner *planner,
                        const struct mf_plan_settings *settings,
                        const struct mf_plan_split *split, uint64_t *bytes)
{
    const struct mf_rows_part *part =
        mf_graph_find(mf_planner_rows(planner)->name);
    bool rough;

    for (size_t i = 0; i <= split->devices; i++)
        bytes[i] = MF_PLAN_UNKNOWN;
    if (part && mf_plan_is_number(settings->tokens) &&
        mf_plan_is_number(settings->sequences))
        lay_out(planner, settings, mf_part_rows(&mf_graph_rows, part), true,
                split, bytes, &rough);
    for (size_t i = 0; i <= split->devices; i++)
        if (bytes[i] == MF_PLAN_UNKNOWN)
            return false;
    return true;
}
