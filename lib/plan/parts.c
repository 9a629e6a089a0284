/* SPDX-License-Identifier: MIT
 *
 * parts.c - the parts of a graph, and the order of their tensors
 *
 * A row only makes a tensor.  It becomes part of the graph when something is
 * expanded that is made of it, and comes after its sources then: first all
 * that its first source is made of, then the second's.  Names that rows hand to
 * the next part are expanded at the end of a part.
 */
#include "lib/plan/graph.h"

#include <assert.h>
#include <string.h>

/* ---- nodes ---- */

static bool grow(struct mf_graph *graph)
{
    size_t room = graph->node_room * 2;
    struct mf_graph_node *node;
    uint16_t *order;

    if (room > MF_GRAPH_NODES_MAX) {
        graph->unknown = true;
        return false;
    }
    node =
        mf_env_resize(graph->env, graph->node, graph->node_room * sizeof(*node),
                      room * sizeof(*node));
    if (node)
        graph->node = node;
    order =
        mf_env_resize(graph->env, graph->order,
                      graph->node_room * sizeof(*order), room * sizeof(*order));
    if (order)
        graph->order = order;
    graph->failed = !node || !order;
    if (!graph->failed)
        graph->node_room = room;
    return !graph->failed;
}

bool mf_graph_reserve(struct mf_graph *graph)
{
    if (graph->failed || graph->unknown)
        return false;
    return graph->node_count < graph->node_room || grow(graph);
}

/* ---- order ---- */

static void use_input(struct mf_graph *graph, uint16_t name)
{
    for (size_t i = 0; i < graph->leaf_count; i++)
        if (graph->leaf[i] == name)
            return;
    if (graph->inputs >> name & 1)
        graph->leaf[graph->leaf_count++] = name;
}

static void visit(struct mf_graph *graph, uint16_t node, uint16_t up)
{
    graph->node[node].listed = true;
    graph->node[node].next_source = 0;
    graph->node[node].up = up;
}

void mf_graph_expand(struct mf_graph *graph, uint16_t node)
{
    if (node == MF_GRAPH_NONE)
        return;
    if (node < MF_GRAPH_SHARED) {
        use_input(graph, node);
        return;
    }
    if (graph->node[node].listed)
        return;
    visit(graph, node, MF_GRAPH_NONE);
    while (node != MF_GRAPH_NONE) {
        struct mf_graph_node *now = &graph->node[node];
        uint16_t source;

        if (now->next_source == now->source_count) {
            graph->order[graph->order_count++] = node;
            node = now->up;
            continue;
        }
        source = now->source[now->next_source++];
        if (source < MF_GRAPH_SHARED)
            use_input(graph, source);
        else if (!graph->node[source].listed) {
            visit(graph, source, node);
            node = source;
        }
    }
}

/* ---- parts ---- */

static void enter(struct mf_graph *graph, size_t name)
{
    struct mf_graph_value *value = &graph->name[name].value;

    if (value->node == MF_GRAPH_NONE)
        return;
    graph->node[name].type = value->type;
    graph->node[name].whole = value->whole;
    memcpy(graph->node[name].dim, value->dim, sizeof(value->dim));
    value->node = (uint16_t)name;
}

static bool grow_parts(struct mf_graph *graph)
{
    size_t room = graph->part_room + 8;
    struct mf_graph_part *part =
        mf_env_resize(graph->env, graph->part, graph->part_room * sizeof(*part),
                      room * sizeof(*part));

    graph->failed = !part;
    if (part) {
        graph->part = part;
        graph->part_room = room;
    }
    return part;
}

static void begin_part(struct mf_graph *graph, uint64_t kind)
{
    struct mf_graph_part *part;

    if (graph->part_count == graph->part_room && !grow_parts(graph))
        return;
    part = &graph->part[graph->part_count++];
    memset(part, 0, sizeof(*part));
    memset(part->gives, 0xff, sizeof(part->gives));
    part->kind = kind;
    part->first = (uint32_t)graph->order_count;
    graph->name_count = graph->shared_count;
    for (size_t name = 0; name < graph->shared_count; name++)
        enter(graph, name);
}

/* What the part reads of names that it was handed. */
static void count_shared(struct mf_graph *graph, struct mf_graph_part *part)
{
    for (uint32_t i = 0; i < part->count; i++) {
        const struct mf_graph_node *node =
            &graph->node[graph->order[part->first + i]];

        for (unsigned j = 0; j < node->source_count; j++)
            if (node->source[j] < MF_GRAPH_SHARED)
                part->child[node->source[j]]++;
        if (node->view && node->root < MF_GRAPH_SHARED)
            part->view[node->root]++;
    }
}

/* The part that was begun last. */
static void end_part(struct mf_graph *graph)
{
    struct mf_graph_part *part = &graph->part[graph->part_count - 1];

    for (size_t name = 0; name < graph->shared_count; name++) {
        uint16_t node = graph->name[name].value.node;

        if (node == name || node == MF_GRAPH_NONE)
            continue;
        mf_graph_expand(graph, node);
        part->gives[name] = node;
    }
    part->count = (uint32_t)(graph->order_count - part->first);
    count_shared(graph, part);
}

/* The names as a part leaves them. */
static void leave_part(struct mf_graph *graph, const struct mf_graph_part *part)
{
    struct mf_graph_value value[MF_GRAPH_SHARED];

    for (size_t name = 0; name < graph->shared_count; name++) {
        uint16_t index = part->gives[name];
        const struct mf_graph_node *node;

        value[name] = graph->name[name].value;
        if (index == MF_GRAPH_NONE)
            continue;
        if (index < MF_GRAPH_SHARED) {
            value[name] = graph->name[index].value;
            continue;
        }
        node = &graph->node[index];
        value[name] =
            (struct mf_graph_value){ index, node->type, node->whole, { 0 } };
        memcpy(value[name].dim, node->dim, sizeof(node->dim));
    }
    for (size_t name = 0; name < graph->shared_count; name++)
        graph->name[name].value = value[name];
}

static void add_step(struct mf_graph *graph, size_t part, uint64_t block)
{
    assert(graph->step_count < MF_GRAPH_STEPS_MAX);
    graph->block[graph->step_count] = (uint16_t)block;
    graph->step[graph->step_count++] = (uint16_t)part;
}

/* ---- steps ---- */

static size_t find_part(const struct mf_graph *graph, uint64_t kind)
{
    size_t part = 0;

    while (part < graph->part_count && graph->part[part].kind != kind)
        part++;
    return part;
}

/* Runs rows as a new part, unless there is one of this kind. */
static struct mf_code run_part(struct mf_graph *graph, struct mf_code *rows,
                               uint64_t kind, uint64_t block)
{
    size_t at = kind ? find_part(graph, kind) : graph->part_count;
    struct mf_code each = { NULL, NULL, NULL };

    if (kind && at == MF_GRAPH_PARTS_MAX) {
        graph->rough = true;
        at--;
    }
    if (at == graph->part_count) {
        begin_part(graph, kind);
        if (graph->failed)
            return each;
        each = mf_graph_run_rows(graph, rows);
        end_part(graph);
    }
    if (!graph->failed && !graph->unknown) {
        leave_part(graph, &graph->part[at]);
        add_step(graph, at, block);
    }
    return each;
}

/* "each FROM .. TO" */
static void run_blocks(struct mf_graph *graph, struct mf_code row)
{
    struct mf_arch_run *run = graph->run;
    struct mf_arch_number from = mf_arch_take_number(run, &row);
    struct mf_arch_number to = mf_arch_take_number(run, &row);

    if (!from.known || !to.known || from.value < 0 ||
        to.value > MF_ARCH_BLOCKS_MAX)
        graph->unknown = true;
    for (int64_t i = from.value;
         !graph->unknown && !graph->failed && i < to.value; i++) {
        struct mf_code rows = row;

        run->block = (uint64_t)i;
        run_part(graph, &rows, mf_graph_kind(graph, (uint64_t)to.value),
                 run->block);
    }
    run->block = 0;
}

void mf_graph_build(struct mf_graph *graph, struct mf_code rows)
{
    while (mf_code_left(&rows) && !graph->unknown && !graph->failed) {
        struct mf_code each = run_part(graph, &rows, 0, MF_GRAPH_NONE);

        if (each.at)
            run_blocks(graph, each);
    }
}
