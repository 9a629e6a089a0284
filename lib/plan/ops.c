/* SPDX-License-Identifier: MIT
 *
 * ops.c - operations of a graph: the shape of what they give
 *
 * ops.def lists them.  A shape has four lengths, the contiguous one first; a
 * length that a row does not give is 1.
 */
#include "lib/plan/graph.h"

#include <assert.h>
#include <string.h>

/* How the result's shape follows. */
enum rule {
    SAME,      /* the first source's */
    HALF,      /* the same, half as long */
    SUM,       /* the same, of length 1 */
    NUMBERS,   /* the row's numbers */
    PADDED,    /* the first source's lengths, each plus a number */
    JOINED,    /* of two sources, one after the other along a dimension */
    MATRIX,    /* a matrix times columns */
    EXPERTS,   /* matrices times columns, chosen by indices */
    ROWS,      /* rows of the first source, chosen by the second */
    ATTENTION, /* queries, keys, values */
    VIEW,      /* the row's numbers, in the first source's memory */
    SWAPPED,   /* the first source's dimensions in another order */
    TARGET     /* the first source, into which others are written */
};

/* The type of the result. */
enum kind { LIKE, FLOAT, INDEX, GIVEN };

struct mf_graph_op {
    enum rule rule;
    enum kind kind;
    uint8_t least, most; /* sources */
    bool inplace;
};

static const struct mf_graph_op ops[] = {
#define OP(name, rule, kind, least, most, inplace)                             \
    { rule, kind, least, most, inplace },
#include "lib/plan/ops.def"
#undef OP
};

/* ---- lengths ---- */

static uint64_t product(const uint64_t dim[4])
{
    return mf_plan_mul(mf_plan_mul(dim[0], dim[1]),
                       mf_plan_mul(dim[2], dim[3]));
}

static void set_dims(uint64_t out[4], uint64_t a, uint64_t b, uint64_t c,
                     uint64_t d)
{
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
}

static void take_numbers(uint64_t out[4], const uint64_t *number, size_t count)
{
    for (size_t i = 0; i < 4; i++)
        out[i] = i < count ? number[i] : 1;
}

static void join(uint64_t out[4], const struct mf_graph_value *other,
                 uint64_t place)
{
    if (place < 4)
        out[place] = mf_plan_add(out[place], other->dim[place]);
}

static void swap(uint64_t out[4], const struct mf_graph_value *source,
                 const uint64_t *number, size_t count)
{
    for (size_t i = 0; i < count && i < 4; i++)
        if (number[i] < 4)
            out[number[i]] = source->dim[i];
}

static void shape(enum rule rule, const struct mf_graph_value *source,
                  const uint64_t *number, size_t count, uint64_t out[4])
{
    const uint64_t *a = source[0].dim, *b = source[1].dim;

    memcpy(out, a, 4 * sizeof(*out));
    switch (rule) {
    case SAME:
    case TARGET:
        break;
    case HALF:
        out[0] = mf_plan_div(a[0], 2);
        break;
    case SUM:
        out[0] = 1;
        break;
    case NUMBERS:
    case VIEW:
        if (count > 0)
            take_numbers(out, number, count);
        break;
    case PADDED:
        for (size_t i = 0; i < count && i < 4; i++)
            out[i] = mf_plan_add(a[i], number[i]);
        break;
    case JOINED:
        join(out, &source[1], count > 0 ? number[0] : 0);
        break;
    case MATRIX:
        set_dims(out, a[1], b[1], b[2], b[3]);
        break;
    case EXPERTS:
        set_dims(out, a[1], source[2].dim[0], b[2], 1);
        break;
    case ROWS:
        set_dims(out, a[0], b[0], b[1], b[2]);
        break;
    case ATTENTION:
        set_dims(out, source[2].dim[0], a[2], a[1], a[3]);
        break;
    case SWAPPED:
        swap(out, source, number, count);
        break;
    }
}

/* Whether a view of these lengths has all its elements in order: all of a
 * tensor that has, or a piece of one row. */
static bool is_whole(const struct mf_graph_value *source, const uint64_t dim[4])
{
    uint64_t count = product(dim);

    return source->whole &&
           (count == product(source->dim) || count <= source->dim[0]);
}

/* Whether dimensions in another order leave the elements in order: those longer
 * than 1 keep theirs. */
static bool is_order_kept(const struct mf_graph_value *source,
                          const uint64_t *number, size_t count)
{
    uint64_t last = 0;

    for (size_t i = 0; i < count && i < 4; i++)
        if (source->dim[i] > 1) {
            if (number[i] < last)
                return false;
            last = number[i];
        }
    return source->whole;
}

/* ---- nodes ---- */

uint16_t mf_graph_add(struct mf_graph *graph, enum mf_type type,
                      const uint64_t dim[4])
{
    struct mf_graph_node *node;

    if (!mf_graph_reserve(graph))
        return MF_GRAPH_NONE;
    node = &graph->node[graph->node_count];
    memset(node, 0, sizeof(*node));
    memcpy(node->dim, dim, sizeof(node->dim));
    node->type = (uint8_t)type;
    node->root = MF_GRAPH_NONE;
    node->whole = true;
    node->bytes = mf_plan_round(
        mf_plan_mul(mf_plan_div(product(dim), mf_types[type].block),
                    mf_types[type].bytes),
        MF_GRAPH_ALIGNMENT);
    if (node->bytes == MF_PLAN_UNKNOWN)
        graph->unknown = true;
    return (uint16_t)graph->node_count++;
}

/* What is written into is ggml's last source. */
static void add_sources(struct mf_graph_node *node, bool target_last,
                        const struct mf_graph_value *source, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = target_last ? (i + 1) % count : i;

        if (source[at].node != MF_GRAPH_NONE)
            node->source[node->source_count++] = source[at].node;
    }
}

/* Makes the node a view of the value: in its memory, or in none of the
 * graph's. */
static void make_view(struct mf_graph *graph, struct mf_graph_node *node,
                      const struct mf_graph_value *of)
{
    node->view = true;
    node->bytes = 0;
    node->root = of->node;
    if (of->node != MF_GRAPH_NONE && graph->node[of->node].view)
        node->root = graph->node[of->node].root;
}

static enum mf_type type_of(const struct mf_graph_op *op,
                            const struct mf_graph_value *source,
                            enum mf_type given)
{
    switch (op->kind) {
    case LIKE:
        return (enum mf_type)source[0].type;
    case FLOAT:
        /* Rows of indices are indices. */
        return op->rule == ROWS && source[0].type == MF_TYPE_I32 ? MF_TYPE_I32
                                                                 : MF_TYPE_F32;
    case INDEX:
        return MF_TYPE_I32;
    case GIVEN:
        break;
    }
    return given;
}

struct mf_graph_value
mf_graph_apply(struct mf_graph *graph, enum mf_graph_op_name name,
               const struct mf_graph_value *source, size_t source_count,
               const uint64_t *number, size_t number_count, enum mf_type type)
{
    const struct mf_graph_op *op = &ops[name];
    struct mf_graph_value all[MF_GRAPH_SOURCES], out;
    bool view = op->rule == VIEW || op->rule == SWAPPED || op->rule == TARGET;
    struct mf_graph_node *node;

    assert(source_count >= op->least && source_count <= op->most);
    memset(all, 0, sizeof(all));
    memcpy(all, source, source_count * sizeof(*source));
    out = (struct mf_graph_value){ MF_GRAPH_NONE, 0, true, { 1, 1, 1, 1 } };
    out.type = (uint8_t)type_of(op, all, type);
    shape(op->rule, all, number, number_count, out.dim);
    if (op->rule == VIEW)
        out.whole = is_whole(source, out.dim);
    else if (op->rule == SWAPPED)
        out.whole = is_order_kept(source, number, number_count);
    if (view && op->rule != TARGET && source->node == MF_GRAPH_NONE)
        return out; /* of a weight or a cache */
    out.node = mf_graph_add(graph, (enum mf_type)out.type, out.dim);
    if (out.node == MF_GRAPH_NONE)
        return out;
    node = &graph->node[out.node];
    node->inplace = op->inplace;
    node->whole = out.whole;
    add_sources(node, op->rule == TARGET, source, source_count);
    if (view)
        make_view(graph, node, source);
    return out;
}
