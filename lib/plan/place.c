/* SPDX-License-Identifier: MIT
 *
 * place.c - where each tensor of a graph lies, and how much memory that takes
 *
 * What ggml's graph allocator does on one device, step by step:
 *
 * - Inputs have places from the beginning, in the order of their use.
 * - A tensor goes into the smallest hole that is large enough, of equal ones
 *   the last; if there is none, behind everything.
 * - Some operations write into a source of the same type and shape that nothing
 *   else reads: no view, and neither an input of others nor an output.
 * - When the last reader of a tensor is done, and all its views are, its place
 *   is a hole.  Outputs keep theirs.
 */
#include "lib/plan/place.h"

#include <assert.h>
#include <string.h>

#define ENDLESS (UINT64_C(1) << 62) /* memory behind everything */

/* ---- holes ---- */

static void remove_hole(struct mf_graph *graph, size_t at)
{
    graph->hole_count--;
    memmove(&graph->hole[at], &graph->hole[at + 1],
            (graph->hole_count - at) * sizeof(*graph->hole));
}

/* Takes memory out of the smallest hole that fits; the last one is endless. */
uint64_t mf_place_take(struct mf_graph *graph, uint64_t size)
{
    struct mf_graph_hole *hole;
    size_t best = graph->hole_count - 1;
    uint64_t at;

    for (size_t i = 0; i + 1 < graph->hole_count; i++)
        if (graph->hole[i].size >= size &&
            graph->hole[i].size <= graph->hole[best].size)
            best = i;
    hole = &graph->hole[best];
    at = hole->at;
    if (hole->size < size) {
        graph->most = MF_PLAN_HUGE;
        return at;
    }
    hole->at += size;
    hole->size -= size;
    if (hole->size == 0)
        remove_hole(graph, best);
    if (at + size > graph->most)
        graph->most = at + size;
    return at;
}

static void insert_hole(struct mf_graph *graph, uint64_t at, uint64_t size)
{
    size_t i = 0;

    if (graph->hole_count == MF_GRAPH_HOLES_MAX) {
        graph->unknown = true;
        return;
    }
    while (i < graph->hole_count && graph->hole[i].at < at)
        i++;
    memmove(&graph->hole[i + 1], &graph->hole[i],
            (graph->hole_count - i) * sizeof(*graph->hole));
    graph->hole[i] = (struct mf_graph_hole){ at, size };
    graph->hole_count++;
}

/* Gives memory back; holes that touch become one. */
static void give(struct mf_graph *graph, uint64_t at, uint64_t size)
{
    for (size_t i = 0; i < graph->hole_count; i++) {
        struct mf_graph_hole *hole = &graph->hole[i];

        if (hole->at + hole->size == at) {
            hole->size += size;
            if (i + 1 < graph->hole_count &&
                hole->at + hole->size == hole[1].at) {
                hole->size += hole[1].size;
                remove_hole(graph, i + 1);
            }
            return;
        }
        if (at + size == hole->at) {
            hole->at = at;
            hole->size += size;
            return;
        }
    }
    insert_hole(graph, at, size);
}

/* ---- tensors of this step and of earlier ones ---- */

/* The tensor at an index of a part: a shared name stands for a record. */
struct mf_graph_node *mf_place_node(struct mf_graph *graph, uint16_t index)
{
    if (index < MF_GRAPH_SHARED)
        return graph->record_of[index] == MF_GRAPH_NONE
                   ? NULL
                   : &graph->record[graph->record_of[index]];
    return &graph->node[index];
}

static bool is_record(const struct mf_graph *graph,
                      const struct mf_graph_node *node)
{
    return node >= graph->record && node < graph->record + 2 * MF_GRAPH_SHARED;
}

/* The tensor whose memory a view is, or NULL: it is not in the graph's. */
static struct mf_graph_node *root_of(struct mf_graph *graph,
                                     const struct mf_graph_node *view)
{
    struct mf_graph_node *root;

    if (view->root == MF_GRAPH_NONE)
        return NULL;
    if (is_record(graph, view))
        return &graph->record[view->root];
    root = mf_place_node(graph, view->root);
    return root && root->view ? root_of(graph, root) : root;
}

/* ---- how often a shared name will be read ---- */

struct mf_place_use mf_place_future(const struct mf_graph *graph, size_t name,
                                    size_t step)
{
    struct mf_place_use out = { 0, 0, false };
    uint32_t sent = 0; /* devices that have a copy */

    for (; step < graph->step_count; step++) {
        const struct mf_graph_part *part = &graph->part[graph->step[step]];

        if (!graph->where || graph->where[step] == graph->device) {
            out.children += part->child[name];
            out.views += part->view[name];
        } else if (part->child[name] && !(sent >> graph->where[step] & 1)) {
            sent |= UINT32_C(1) << graph->where[step];
            out.children++;
        }
        out.output = out.output || (part->outputs >> name & 1);
        if (part->gives[name] != MF_GRAPH_NONE)
            break;
    }
    return out;
}

void mf_place_add_use(struct mf_graph *graph, struct mf_graph_node *node,
                      struct mf_place_use use)
{
    struct mf_graph_node *root = node->view ? root_of(graph, node) : node;

    node->children += use.children;
    node->kept = node->kept || use.output;
    if (root)
        root->views += use.views;
}

/* ---- one node ---- */

static bool same_layout(const struct mf_graph_node *a,
                        const struct mf_graph_node *b)
{
    return a->type == b->type && memcmp(a->dim, b->dim, sizeof(a->dim)) == 0;
}

/* The source whose memory the node may take; NULL if there is none.  A view has
 * none that could be taken. */
static struct mf_graph_node *reusable(struct mf_graph *graph,
                                      const struct mf_graph_node *node)
{
    for (unsigned i = 0; i < node->source_count; i++) {
        struct mf_graph_node *source = mf_place_node(graph, node->source[i]);

        if (source && source->allocated && !source->output && !source->kept &&
            source->children == 1 && source->views == 0 &&
            same_layout(node, source))
            return source;
    }
    return NULL;
}

static void allocate(struct mf_graph *graph, struct mf_graph_node *node)
{
    struct mf_graph_node *source;

    if (node->view)
        return;
    source = node->inplace ? reusable(graph, node) : NULL;
    if (source) {
        node->at = source->at;
        source->allocated = false;
    } else
        node->at = mf_place_take(graph, node->bytes);
    node->allocated = true;
}

static void release(struct mf_graph *graph, struct mf_graph_node *node)
{
    if (!node->allocated || node->output || node->kept)
        return;
    give(graph, node->at, node->bytes);
    node->allocated = false;
}

/* One reader of the tensor is done. */
void mf_place_leave(struct mf_graph *graph, struct mf_graph_node *node)
{
    struct mf_graph_node *root;

    if (--node->children > 0 || node->views > 0)
        return;
    if (!node->view) {
        release(graph, node);
        return;
    }
    root = root_of(graph, node);
    if (root && --root->views == 0 && root->children == 0)
        release(graph, root);
}

/* ---- one step ---- */

static void count_uses(struct mf_graph *graph, const struct mf_graph_part *part,
                       size_t step)
{
    for (uint32_t i = 0; i < part->count; i++) {
        struct mf_graph_node *node =
            &graph->node[graph->order[part->first + i]];

        node->children = node->views = 0;
        node->allocated = node->kept = false;
    }
    for (uint32_t i = 0; i < part->count; i++) {
        const struct mf_graph_node *node =
            &graph->node[graph->order[part->first + i]];

        for (unsigned j = 0; j < node->source_count; j++)
            if (node->source[j] >= MF_GRAPH_SHARED)
                graph->node[node->source[j]].children++;
        if (node->view && node->root != MF_GRAPH_NONE &&
            node->root >= MF_GRAPH_SHARED)
            graph->node[node->root].views++;
    }
    for (size_t name = 0; name < graph->shared_count; name++)
        if (part->gives[name] != MF_GRAPH_NONE)
            mf_place_add_use(graph, mf_place_node(graph, part->gives[name]),
                             mf_place_future(graph, name, step + 1));
}

/* ---- records ---- */

uint16_t mf_place_free_record(uint64_t taken)
{
    uint16_t i = 0;

    while (taken >> i & 1)
        i++;
    assert(i < 2 * MF_GRAPH_SHARED);
    return i;
}

static uint64_t bit(uint16_t record)
{
    return UINT64_C(1) << record;
}

/* Keeps a tensor of the part: returns its record.  made: records that were made
 * for nodes of the part. */
static uint16_t keep(struct mf_graph *graph, uint16_t index, uint16_t *made,
                     uint64_t *taken)
{
    struct mf_graph_node *node = mf_place_node(graph, index), *root;
    uint16_t record;

    for (uint16_t i = 0; i < 2 * MF_GRAPH_SHARED; i++)
        if (made[i] == index)
            return i;
    record = mf_place_free_record(*taken);
    *taken |= bit(record);
    made[record] = index;
    graph->record[record] = *node;
    if (!node->view)
        return record;
    root = root_of(graph, node);
    graph->record[record].root = !root ? MF_GRAPH_NONE
                                 : is_record(graph, root)
                                     ? (uint16_t)(root - graph->record)
                                     : keep(graph, node->root, made, taken);
    return record;
}

uint64_t mf_place_taken_records(const struct mf_graph *graph)
{
    uint64_t taken = 0;

    for (size_t name = 0; name < graph->shared_count; name++) {
        uint16_t record = graph->record_of[name];

        if (record == MF_GRAPH_NONE)
            continue;
        taken |= bit(record);
        if (graph->record[record].view &&
            graph->record[record].root != MF_GRAPH_NONE)
            taken |= bit(graph->record[record].root);
    }
    return taken;
}

/* Hands what the part gives to the next one. */
static void hand_on(struct mf_graph *graph, const struct mf_graph_part *part)
{
    uint16_t next[MF_GRAPH_SHARED], made[2 * MF_GRAPH_SHARED];
    uint64_t taken = mf_place_taken_records(graph);

    memcpy(next, graph->record_of, sizeof(next));
    memset(made, 0xff, sizeof(made));
    for (size_t name = 0; name < graph->shared_count; name++) {
        uint16_t node = part->gives[name];

        if (node == MF_GRAPH_NONE)
            continue;
        next[name] = node < MF_GRAPH_SHARED ? graph->record_of[node]
                                            : keep(graph, node, made, &taken);
    }
    memcpy(graph->record_of, next, sizeof(next));
}

void mf_place_step(struct mf_graph *graph, size_t step)
{
    const struct mf_graph_part *part = &graph->part[graph->step[step]];

    count_uses(graph, part, step);
    for (uint32_t i = 0; i < part->count; i++) {
        struct mf_graph_node *node =
            &graph->node[graph->order[part->first + i]];

        allocate(graph, node);
        for (unsigned j = 0; j < node->source_count; j++) {
            struct mf_graph_node *source =
                mf_place_node(graph, node->source[j]);

            if (source)
                mf_place_leave(graph, source);
        }
    }
    hand_on(graph, part);
}

/* ---- inputs ---- */

void mf_place_begin(struct mf_graph *graph)
{
    graph->hole[0] = (struct mf_graph_hole){ 0, ENDLESS };
    graph->hole_count = 1;
    graph->most = 0;
    memset(graph->past, 0, sizeof(graph->past));
    memset(graph->record_of, 0xff, sizeof(graph->record_of));
    memset(graph->record, 0, sizeof(graph->record));
}

void mf_place_inputs(struct mf_graph *graph)
{
    for (size_t i = 0; i < graph->leaf_count; i++) {
        uint16_t name = graph->leaf[i];
        struct mf_graph_node *record = &graph->record[name];

        *record = graph->node[name];
        graph->record_of[name] = name;
        record->children = record->views = 0;
        mf_place_add_use(graph, record, mf_place_future(graph, name, 0));
        allocate(graph, record);
    }
}
