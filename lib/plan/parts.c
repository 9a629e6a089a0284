/* SPDX-License-Identifier: MIT
 *
 * parts.c - the parts of a graph, and the order of their tensors
 *
 * A row only makes a tensor.  It becomes part of the graph when something is
 * expanded that is made of it, and stands behind its sources then: first all
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

static struct mf_graph_part *begin_part(struct mf_graph *graph)
{
    struct mf_graph_part *part = &graph->part[graph->part_count++];

    memset(part, 0, sizeof(*part));
    memset(part->gives, 0xff, sizeof(part->gives));
    part->first = (uint32_t)graph->order_count;
    graph->name_count = graph->shared_count;
    for (size_t name = 0; name < graph->shared_count; name++)
        enter(graph, name);
    return part;
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

static void end_part(struct mf_graph *graph, struct mf_graph_part *part)
{
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

/* ---- kinds of blocks ---- */

static uint64_t mix(uint64_t hash, uint64_t number)
{
    hash = (hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* The number between dots in a tensor's name; *rest: what follows it. */
static bool block_of(const struct mf_record *record, uint64_t *block,
                     size_t *rest)
{
    const char *name = record->name;
    size_t at = 0;

    for (; at + 1 < record->name_size; at++) {
        size_t digit = at + 1;

        if (name[at] != '.')
            continue;
        *block = 0;
        while (digit < record->name_size && digit < at + 6 &&
               name[digit] >= '0' && name[digit] <= '9')
            *block = *block * 10 + (uint64_t)(name[digit++] - '0');
        if (digit > at + 1 && digit < record->name_size && name[digit] == '.') {
            *rest = digit;
            return *block < MF_ARCH_BLOCKS_MAX;
        }
    }
    return false;
}

/* Makes a digest of each block's tensors: no matter in which order they are. */
static void digest_tensors(struct mf_graph *graph)
{
    const struct mf_index *index = graph->run->index;
    uint64_t block;
    size_t rest;

    for (size_t i = 0; i < index->tensor_count; i++) {
        const struct mf_record *record = &index->tensor[i];
        uint64_t hash = 1;

        if (!block_of(record, &block, &rest))
            continue;
        for (; rest < record->name_size; rest++)
            hash = (hash ^ (unsigned char)record->name[rest]) *
                   UINT64_C(0x100000001b3);
        for (unsigned j = 0; j < record->rank; j++)
            hash = mix(hash, record->dim[j]);
        graph->tensors[block] += mix(hash, record->rank);
    }
}

static uint64_t known_number(struct mf_graph *graph, struct mf_str text)
{
    struct mf_arch_number number = mf_arch_number_of(graph->run, text);

    return number.known ? (uint64_t)number.value : UINT64_MAX;
}

/* What a block's part depends on: its tensors, what lib/arch says of it, the
 * shapes of what it is handed, and whether it is the first or last one. */
static uint64_t kind_of(struct mf_graph *graph, uint64_t end)
{
    static const char *const names[] = { "swa",      "recurrent", "heads",
                                         "heads_kv", "ff",        "used" };
    uint64_t block = graph->run->block, hash = graph->tensors[block];

    hash = mix(mix(hash, block == 0), block + 1 == end);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        hash = mix(hash, known_number(graph, (struct mf_str){
                                                 names[i], strlen(names[i]) }));
    for (size_t i = 0; i < graph->vary_count; i++)
        hash = mix(hash, known_number(graph, graph->vary[i]));
    for (size_t name = 0; name < graph->shared_count; name++)
        for (size_t i = 0; i < 4; i++)
            hash = mix(hash, graph->name[name].value.dim[i]);
    return hash | 1; /* 0: not of a block */
}

static size_t find_part(const struct mf_graph *graph, uint64_t kind)
{
    size_t part = 0;

    while (part < graph->part_count && graph->part[part].kind != kind)
        part++;
    return part;
}

/* ---- steps ---- */

static void run_block(struct mf_graph *graph, struct mf_str rows, uint64_t end)
{
    uint64_t kind = kind_of(graph, end);
    size_t at = find_part(graph, kind);
    struct mf_graph_part *part;

    if (at == MF_GRAPH_PARTS_MAX - 1) { /* one is for what follows */
        graph->rough = true;
        at--;
    }
    part = &graph->part[at];
    if (at == graph->part_count) {
        begin_part(graph);
        part->kind = kind;
        mf_graph_run_rows(graph, &rows);
        end_part(graph, part);
    }
    if (graph->failed || graph->unknown)
        return;
    leave_part(graph, part);
    add_step(graph, at, graph->run->block);
}

/* "each FROM .. TO" */
static void run_blocks(struct mf_graph *graph, struct mf_str row,
                       struct mf_str rows)
{
    struct mf_arch_number from, to;

    mf_arch_word(&row);
    from = mf_arch_take_number(graph->run, &row);
    mf_arch_word(&row); /* ".." */
    to = mf_arch_number_of(graph->run, row);
    if (!from.known || !to.known || from.value < 0 ||
        to.value > MF_ARCH_BLOCKS_MAX)
        graph->unknown = true;
    for (int64_t i = from.value;
         !graph->unknown && !graph->failed && i < to.value; i++) {
        graph->run->block = (uint64_t)i;
        run_block(graph, rows, (uint64_t)to.value);
    }
    graph->run->block = 0;
}

void mf_graph_build(struct mf_graph *graph, const struct mf_arch_text *text)
{
    struct mf_str rows = { text->rows, strlen(text->rows) }, each;

    digest_tensors(graph);
    while (rows.size > 0 && !graph->unknown && !graph->failed) {
        struct mf_graph_part *part = begin_part(graph);

        each = mf_graph_run_rows(graph, &rows);
        end_part(graph, part);
        leave_part(graph, part);
        add_step(graph, (size_t)(part - graph->part), MF_GRAPH_NONE);
        if (each.size > 0) {
            struct mf_str body = rows;

            mf_graph_skip_rows(&rows);
            body.size = (size_t)(rows.at - body.at) - strlen("end\n");
            run_blocks(graph, each, body);
        }
    }
}
