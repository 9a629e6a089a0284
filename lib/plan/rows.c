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

static const struct mf_arch_text *find_text(bool is_graph, struct mf_str name)
{
    for (size_t i = 0; i < mf_graph_text_count; i++)
        if (mf_arch_text_is_arch(&mf_graph_texts[i]) == is_graph &&
            mf_str_is(name, mf_arch_text_name(&mf_graph_texts[i])))
            return &mf_graph_texts[i];
    return NULL;
}

const struct mf_arch_text *mf_graph_text(struct mf_str name)
{
    const struct mf_arch_text *text = find_text(true, name);

    while (text && strncmp(mf_arch_text_rows(text), "like ", 5) == 0)
        text = find_text(
            true,
            (struct mf_str){ mf_arch_text_rows(text) + 5,
                             strcspn(mf_arch_text_rows(text) + 5, "\n") });
    return text;
}

/* ---- operations ---- */

static bool is_weight(struct mf_str word)
{
    return memchr(word.at, '.', word.size) != NULL;
}

struct call {
    struct mf_str to, op, numbers;
    struct mf_graph_value source[MF_GRAPH_SOURCES];
    size_t count;
    enum mf_type type;
    bool optional; /* "op?": without its weight the row does nothing */
    bool lacks;    /* a weight is missing */
};

static bool take_type(struct mf_graph *graph, struct mf_str word,
                      enum mf_type *out)
{
    static const enum mf_type types[] = { MF_TYPE_F32, MF_TYPE_F16, MF_TYPE_I32,
                                          MF_TYPE_I64 };

    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        if (mf_str_is(word, mf_types[types[i]].name)) {
            *out = types[i];
            return true;
        }
    if (mf_str_is(word, "masks"))
        *out =
            mf_graph_number(graph, str("flash_on")) ? MF_TYPE_F16 : MF_TYPE_F32;
    else if (mf_str_is(word, "keys"))
        *out = graph->type_k;
    else if (mf_str_is(word, "values"))
        *out = graph->type_v;
    else
        return false;
    return true;
}

static void take_source(struct mf_graph *graph, struct call *call,
                        struct mf_str word)
{
    const struct mf_graph_name *name;
    struct mf_graph_value *value = &call->source[call->count];

    if (take_type(graph, word, &call->type))
        return;
    assert(call->count < MF_GRAPH_SOURCES);
    word = mf_graph_argument(graph, word);
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
static void replace_weight(struct mf_graph *graph, struct call *call)
{
    bool matrix = mf_str_begins(call->op, "mul_mat");
    uint64_t number[4];

    if (!matrix && !mf_str_is(call->op, "get_rows"))
        return; /* its shape does not matter */
    if (call->numbers.size == 0)
        graph->unknown = true;
    else if (mf_graph_numbers(graph, call->numbers, number) > 0)
        call->source[0].dim[matrix] = number[0];
}

static struct mf_graph_value apply(struct mf_graph *graph, const char *op,
                                   const struct mf_graph_value *source,
                                   size_t count, const uint64_t *number,
                                   size_t numbers)
{
    return mf_graph_apply(graph, mf_graph_find_op(str(op)), source, count,
                          number, numbers, MF_TYPE_F32);
}

/* A tensor in another shape: a view, or a copy if it has gaps. */
static struct mf_graph_value pack(struct mf_graph *graph,
                                  const struct mf_graph_value *source,
                                  const uint64_t *number, size_t count)
{
    return apply(graph, source->whole ? "reshape" : "cont", source, 1, number,
                 count);
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
    pair[0] = apply(graph, "mul_mat", pair, 2, NULL, 0);
    return apply(graph, "reshape", pair, 1, dim, 4);
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
        pair[1] = apply(graph, "view", source, 1, dim, 2);
        mf_graph_expand(graph, pair[1].node);
        pair[0] = i == 0 ? pair[1] : pair[0];
    }
    if (used == 1)
        return apply(graph, "cont", pair, 1, NULL, 0);
    first = pair[0].node;
    for (uint64_t i = 1; i < used && !is_stopped(graph); i++) {
        pair[1].node = (uint16_t)(first + i);
        pair[0] = apply(graph, "add", pair, 2, NULL, 0);
        mf_graph_expand(graph, pair[0].node);
    }
    return pair[0];
}

static struct mf_graph_value call_op(struct mf_graph *graph,
                                     const struct call *call)
{
    const struct mf_graph_op *op = mf_graph_find_op(call->op);
    struct mf_graph_value out = {
        MF_GRAPH_NONE, (uint8_t)call->type, true, { 1, 1, 1, 1 }
    };
    uint64_t number[4] = { 1, 1, 1, 1 };
    size_t count = mf_graph_numbers(graph, call->numbers, number);

    if (is_stopped(graph))
        return out;
    if (op)
        return mf_graph_apply(graph, op, call->source, call->count, number,
                              count, call->type);
    if (mf_str_is(call->op, "pack"))
        return pack(graph, call->source, number, count);
    if (mf_str_is(call->op, "rotate"))
        return rotate(graph, call->source);
    if (mf_str_is(call->op, "sum_experts"))
        return sum_experts(graph, call->source, number[0]);
    if (mf_str_is(call->op, "same"))
        return call->source[0];
    assert(mf_str_is(call->op, "outside"));
    memcpy(out.dim, number, sizeof(out.dim));
    return out;
}

/* Runs a row "NAME = OP SOURCE ... : NUMBER, ..." */
static void run_call(struct mf_graph *graph, struct mf_str to,
                     struct mf_str row)
{
    struct call call = { .to = mf_graph_argument(graph, to),
                         .type = MF_TYPE_F32 };
    struct mf_graph_value value;

    memset(call.source, 0, sizeof(call.source));
    call.op = mf_arch_word(&row);
    if (call.op.at[call.op.size - 1] == ':') {
        call.op.size--;
        call.numbers = row;
        row.size = 0;
    }
    if (call.op.at[call.op.size - 1] == '?') {
        call.op.size--;
        call.optional = true;
    }
    while (row.size > 0) {
        struct mf_str word = mf_arch_word(&row);
        bool last = word.at[word.size - 1] == ':';

        word.size -= last;
        take_source(graph, &call, word);
        if (last) {
            call.numbers = row;
            break;
        }
    }
    if (call.lacks && call.optional)
        return;
    if (call.lacks)
        replace_weight(graph, &call);
    value = call_op(graph, &call);
    mf_graph_set_name(graph, call.to, &value);
}

/* ---- rows ---- */

/* "input NAME TYPE: LENGTH, ...": a tensor that is filled in before. */
static void run_input(struct mf_graph *graph, struct mf_str row)
{
    struct mf_str name = mf_arch_word(&row), word = mf_arch_word(&row);
    uint64_t dim[4] = { 1, 1, 1, 1 };
    enum mf_type type = MF_TYPE_F32;
    size_t shared, room = graph->node_count;
    bool known;

    assert(word.at[word.size - 1] == ':');
    word.size--;
    known = take_type(graph, word, &type);
    assert(known);
    (void)known;
    mf_graph_numbers(graph, row, dim);
    if (is_stopped(graph))
        return;
    shared = mf_graph_add_shared(graph, mf_graph_argument(graph, name));
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
static void run_let(struct mf_graph *graph, struct mf_str row)
{
    struct mf_arch_run *run = graph->run;
    struct mf_str name = mf_arch_word(&row);
    size_t at = 0;

    while (at < run->let_count && !mf_str_same(run->let[at].name, name))
        at++;
    assert(at == run->let_count);
    mf_arch_add_let(run, name, row);
}

static struct mf_graph_value value_of(struct mf_graph *graph,
                                      struct mf_str word)
{
    const struct mf_graph_name *name =
        mf_graph_find_name(graph, mf_graph_argument(graph, word));

    assert(name);
    return name->value;
}

/* "output NAME": also of what an earlier part has made. */
static void run_output(struct mf_graph *graph, struct mf_str row)
{
    uint16_t node = value_of(graph, row).node;

    if (node < MF_GRAPH_SHARED)
        graph->part[graph->part_count - 1].outputs |= UINT32_C(1) << node;
    else if (node != MF_GRAPH_NONE)
        graph->node[node].output = true;
}

static void run_group(struct mf_graph *graph, struct mf_str row)
{
    const struct mf_arch_text *text = find_text(false, mf_arch_word(&row));
    struct mf_arch_frame frame = { .up = graph->run->frame, .arguments = row };
    struct mf_str rows;

    assert(text);
    frame.parameters = str(mf_arch_text_parameters(text));
    rows = str(mf_arch_text_rows(text));
    graph->run->frame = &frame;
    mf_graph_run_rows(graph, &rows);
    graph->run->frame = frame.up;
}

static void run_row(struct mf_graph *graph, struct mf_str word,
                    struct mf_str row)
{
    if (mf_str_is(word, "use"))
        run_group(graph, row);
    else if (mf_str_is(word, "let"))
        run_let(graph, row);
    else if (mf_str_is(word, "rough"))
        graph->rough = true;
    else if (mf_str_is(word, "vary")) {
        assert(graph->vary_count < MF_GRAPH_VARY_MAX);
        graph->vary[graph->vary_count++] = row;
    } else if (mf_str_is(word, "input"))
        run_input(graph, row);
    else if (mf_str_is(word, "carry"))
        while (row.size > 0)
            mf_graph_add_shared(graph, mf_arch_word(&row));
    else if (mf_str_is(word, "expand"))
        mf_graph_expand(graph, value_of(graph, row).node);
    else if (mf_str_is(word, "output"))
        run_output(graph, row);
    else {
        struct mf_str sign = mf_arch_word(&row);

        assert(mf_str_is(sign, "="));
        (void)sign;
        run_call(graph, word, row);
    }
}

void mf_graph_skip_rows(struct mf_str *rows)
{
    size_t depth = 0;

    while (rows->size > 0) {
        struct mf_str row = mf_arch_take_line(rows), word = mf_arch_word(&row);

        if (depth == 0 && mf_str_is(word, "else"))
            return;
        if (mf_str_is(word, "end") && depth-- == 0)
            return;
        depth += mf_str_is(word, "if");
    }
}

struct mf_str mf_graph_run_rows(struct mf_graph *graph, struct mf_str *rows)
{
    while (rows->size > 0 && !is_stopped(graph)) {
        struct mf_str row = mf_arch_take_line(rows), whole = row,
                      word = mf_arch_word(&row);

        if (mf_str_is(word, "each"))
            return whole;
        if (mf_str_is(word, "if")) {
            if (mf_graph_number(graph, row) == 0)
                mf_graph_skip_rows(rows);
        } else if (mf_str_is(word, "else"))
            mf_graph_skip_rows(rows);
        else if (!mf_str_is(word, "end"))
            run_row(graph, word, row);
    }
    return (struct mf_str){ NULL, 0 };
}
