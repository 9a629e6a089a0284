/* SPDX-License-Identifier: MIT
 *
 * rows.c - the rows of a graph, from the first to the last
 *
 * docs/rows.md explains them.  Numbers are expressions of
 * lib/arch; names of tensors and operations are looked up here.
 */
#include "lib/plan/graph.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define USED_MAX 1024 /* experts that one token may have */

static struct mf_str str(const char *text)
{
    return (struct mf_str){ text, strlen(text) };
}

static bool is_stopped(const struct mf_graph *graph)
{
    return graph->unknown || graph->failed;
}

const struct mf_rows_part *mf_graph_find(struct mf_str name)
{
    const struct mf_rows_part *part =
        mf_rows_find(&mf_graph_rows, MF_ROWS_graph, name);

    while (part) {
        struct mf_code rows = mf_part_rows(&mf_graph_rows, part);
        enum mf_code_row word;
        struct mf_code row = mf_code_row(&rows, &word);

        if (word != MF_DO_LIKE)
            return part;
        part = &mf_graph_rows.part[mf_code_two(&row)];
    }
    return NULL;
}

/* ---- operations ---- */

static bool is_weight(struct mf_str word)
{
    return memchr(word.at, '.', word.size) != NULL;
}

struct call {
    enum mf_graph_op_name op;
    struct mf_graph_value source[MF_GRAPH_SOURCES];
    size_t count;
    enum mf_type type;
    bool lacks; /* a weight is missing */
};

/* In the order of MF_GRAPH_TYPES. */
static enum mf_type type_at(struct mf_graph *graph, unsigned index)
{
    static const enum mf_type types[] = { MF_TYPE_F32, MF_TYPE_F16, MF_TYPE_I32,
                                          MF_TYPE_I64 };
    static const char flash[] = "flash_on";

    if (index < sizeof(types) / sizeof(*types))
        return types[index];
    if (index == 4)
        return graph->type_k;
    if (index == 5)
        return graph->type_v;
    return mf_arch_name_value(graph->run, str(flash)).value ? MF_TYPE_F16
                                                            : MF_TYPE_F32;
}

static void take_source(struct mf_graph *graph, struct call *call,
                        struct mf_code *row)
{
    struct mf_graph_value *value = &call->source[call->count];
    unsigned type = mf_code_byte(row);
    char text[MF_ARCH_PATTERN_MAX];
    const struct mf_graph_name *name;
    struct mf_str word;

    if (type > 0) {
        call->type = type_at(graph, type - 1);
        return;
    }
    assert(call->count < MF_GRAPH_SOURCES);
    word = mf_arch_pattern(graph->run, row, text);
    call->count++;
    if (is_weight(word)) {
        call->lacks = !mf_graph_find_weight(graph, word, value) || call->lacks;
        return;
    }
    name = mf_graph_find_name(graph, word);
    assert(name);
    *value = name->value;
}

/* A weight that the file does not have, or in other pieces, has the length that
 * the row says. */
static void replace_weight(struct mf_graph *graph, struct call *call,
                           struct mf_code row)
{
    bool matrix = call->op == MF_OP_mul_mat || call->op == MF_OP_mul_mat_id;
    uint64_t number[4];

    if (!matrix && call->op != MF_OP_get_rows)
        return; /* its shape does not matter */
    if (*row.at == 0)
        graph->unknown = true;
    else if (mf_graph_numbers(graph, &row, number) > 0)
        call->source[0].dim[matrix] = number[0];
}

static struct mf_graph_value apply(struct mf_graph *graph,
                                   enum mf_graph_op_name op,
                                   const struct mf_graph_value *source,
                                   size_t count, const uint64_t *number,
                                   size_t numbers)
{
    return mf_graph_apply(graph, op, source, count, number, numbers,
                          MF_TYPE_F32);
}

/* A tensor in another shape: a view, or a copy if it has gaps. */
static struct mf_graph_value pack(struct mf_graph *graph,
                                  const struct mf_graph_value *source,
                                  const uint64_t *number, size_t count)
{
    return apply(graph, source->whole ? MF_OP_reshape : MF_OP_cont, source, 1,
                 number, count);
}

/* Rotation of what goes into a quantized cache, by a small matrix. */
static struct mf_graph_value rotate(struct mf_graph *graph,
                                    const struct mf_graph_value *source)
{
    struct mf_graph_value pair[2] = { source[1], source[0] };
    const uint64_t *dim = source->dim;
    uint64_t size = source[1].dim[0], flat[2] = { size, MF_PLAN_UNKNOWN };

    if (size > 0)
        flat[1] = mf_plan_div(mf_plan_mul(mf_plan_mul(dim[0], dim[1]),
                                          mf_plan_mul(dim[2], dim[3])),
                              size);
    pair[1] = pack(graph, source, flat, 2);
    pair[0] = apply(graph, MF_OP_mul_mat, pair, 2, NULL, 0);
    return apply(graph, MF_OP_reshape, pair, 1, dim, 4);
}

/* The sum over the experts that a token has used. */
static struct mf_graph_value sum_experts(struct mf_graph *graph,
                                         const struct mf_graph_value *source,
                                         uint64_t used)
{
    const uint64_t dim[2] = { source->dim[0], source->dim[2] };
    struct mf_graph_value pair[2] = { *source, *source };
    uint16_t first;

    if (used == 0 || used > USED_MAX) {
        graph->unknown = true;
        return *source;
    }
    for (uint64_t i = 0; i < used && !is_stopped(graph); i++) {
        pair[1] = apply(graph, MF_OP_view, source, 1, dim, 2);
        mf_graph_expand(graph, pair[1].node);
        pair[0] = i == 0 ? pair[1] : pair[0];
    }
    if (used == 1)
        return apply(graph, MF_OP_cont, pair, 1, NULL, 0);
    first = pair[0].node;
    for (uint64_t i = 1; i < used && !is_stopped(graph); i++) {
        pair[1].node = (uint16_t)(first + i);
        pair[0] = apply(graph, MF_OP_add, pair, 2, NULL, 0);
        mf_graph_expand(graph, pair[0].node);
    }
    return pair[0];
}

static struct mf_graph_value
call_op(struct mf_graph *graph, const struct call *call, struct mf_code row)
{
    struct mf_graph_value out = {
        MF_GRAPH_NONE, (uint8_t)call->type, true, { 1, 1, 1, 1 }
    };
    uint64_t number[4] = { 1, 1, 1, 1 };
    size_t count = mf_graph_numbers(graph, &row, number);

    if (is_stopped(graph))
        return out;
    switch (call->op) {
    case MF_OP_pack:
        return pack(graph, call->source, number, count);
    case MF_OP_rotate:
        return rotate(graph, call->source);
    case MF_OP_sum_experts:
        return sum_experts(graph, call->source, number[0]);
    case MF_OP_same:
        return call->source[0];
    case MF_OP_outside:
        memcpy(out.dim, number, sizeof(out.dim));
        return out;
    default:
        return mf_graph_apply(graph, call->op, call->source, call->count,
                              number, count, call->type);
    }
}

/* Runs a row "NAME = OP SOURCE ... : NUMBER, ..." */
static void run_call(struct mf_graph *graph, struct mf_code row)
{
    bool optional = mf_code_byte(&row);
    struct call call = { .type = MF_TYPE_F32 };
    struct mf_graph_value value;
    struct mf_str to;

    memset(call.source, 0, sizeof(call.source));
    call.op = (enum mf_graph_op_name)mf_code_byte(&row);
    to = mf_graph_word(graph, &row);
    for (unsigned left = mf_code_byte(&row); left > 0; left--)
        take_source(graph, &call, &row);
    if (call.lacks && optional)
        return;
    if (call.lacks)
        replace_weight(graph, &call, row);
    value = call_op(graph, &call, row);
    mf_graph_set_name(graph, to, &value);
}

/* ---- rows ---- */

/* "input NAME TYPE: LENGTH, ...": a tensor that is filled in before. */
static void run_input(struct mf_graph *graph, struct mf_code row)
{
    struct mf_str name = mf_graph_word(graph, &row);
    enum mf_type type = type_at(graph, mf_code_byte(&row));
    uint64_t dim[4] = { 1, 1, 1, 1 };
    size_t shared, room = graph->node_count;

    mf_graph_numbers(graph, &row, dim);
    if (is_stopped(graph))
        return;
    shared = mf_graph_add_shared(graph, name);
    graph->node_count = shared; /* it has its place among the first nodes */
    mf_graph_add(graph, type, dim);
    graph->node_count = room;
    graph->inputs |= UINT32_C(1) << shared;
    graph->name[shared].value = (struct mf_graph_value){
        (uint16_t)shared, (uint8_t)type, true, { 0, 0, 0, 0 }
    };
    memcpy(graph->name[shared].value.dim, dim, sizeof(dim));
}

/* "let NAME EXPRESSION": a number that lib/arch does not have. */
static void run_let(struct mf_graph *graph, struct mf_code row)
{
    struct mf_str name = mf_code_text(&row);

    mf_code_byte(&row);
    mf_arch_add_let(graph->run, name, row);
}

static struct mf_graph_value value_of(struct mf_graph *graph,
                                      struct mf_code row)
{
    const struct mf_graph_name *name =
        mf_graph_find_name(graph, mf_graph_word(graph, &row));

    assert(name);
    return name->value;
}

/* "output NAME": also of what an earlier part has made. */
static void run_output(struct mf_graph *graph, struct mf_code row)
{
    uint16_t node = value_of(graph, row).node;

    if (node < MF_GRAPH_SHARED)
        graph->part[graph->part_count - 1].outputs |= UINT32_C(1) << node;
    else if (node != MF_GRAPH_NONE)
        graph->node[node].output = true;
}

static void run_group(struct mf_graph *graph, struct mf_code row)
{
    struct mf_frame frame = { .up = graph->run->frame };
    struct mf_code rows = mf_code_use(row, &frame);

    graph->run->frame = &frame;
    mf_graph_run_rows(graph, &rows);
    graph->run->frame = frame.up;
}

static void run_if(struct mf_graph *graph, struct mf_code row)
{
    bool holds = mf_graph_number(graph, &row) != 0;
    struct mf_code rows = mf_code_part(&row);

    mf_graph_run_rows(graph, holds ? &rows : &row);
}

static void run_carry(struct mf_graph *graph, struct mf_code row)
{
    for (unsigned left = mf_code_byte(&row); left > 0; left--)
        mf_graph_add_shared(graph, mf_code_text(&row));
}

static void run_row(struct mf_graph *graph, enum mf_code_row word,
                    struct mf_code row)
{
    switch (word) {
    case MF_DO_IF:
        run_if(graph, row);
        return;
    case MF_DO_USE:
        run_group(graph, row);
        return;
    case MF_DO_LET:
        run_let(graph, row);
        return;
    case MF_DO_ROUGH:
        graph->rough = true;
        return;
    case MF_DO_VARY:
        assert(graph->vary_count < MF_GRAPH_VARY_MAX);
        graph->vary[graph->vary_count++] = row;
        return;
    case MF_DO_INPUT:
        run_input(graph, row);
        return;
    case MF_DO_CARRY:
        run_carry(graph, row);
        return;
    case MF_DO_EXPAND:
        mf_graph_expand(graph, value_of(graph, row).node);
        return;
    case MF_DO_OUTPUT:
        run_output(graph, row);
        return;
    default:
        assert(word == MF_DO_CALL);
        run_call(graph, row);
        return;
    }
}

struct mf_code mf_graph_run_rows(struct mf_graph *graph, struct mf_code *rows)
{
    while (mf_code_left(rows) && !is_stopped(graph)) {
        enum mf_code_row word;
        struct mf_code row = mf_code_row(rows, &word);

        if (word == MF_DO_EACH)
            return row;
        run_row(graph, word, row);
    }
    return (struct mf_code){ NULL, NULL, NULL };
}
