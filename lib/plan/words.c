/* SPDX-License-Identifier: MIT
 *
 * words.c - names, numbers and weights in the rows of a graph
 */
#include "lib/plan/graph.h"

#include <assert.h>
#include <string.h>

/* ---- names ---- */

struct mf_str mf_graph_word(const struct mf_graph *graph, struct mf_code *row)
{
    return mf_frame_word(graph->run->frame, mf_code_word(row));
}

struct mf_graph_name *mf_graph_find_name(struct mf_graph *graph,
                                         struct mf_str text)
{
    for (size_t i = 0; i < graph->name_count; i++)
        if (mf_str_same(graph->name[i].text, text))
            return &graph->name[i];
    return NULL;
}

void mf_graph_set_name(struct mf_graph *graph, struct mf_str text,
                       const struct mf_graph_value *value)
{
    struct mf_graph_name *name = mf_graph_find_name(graph, text);

    if (!name) {
        assert(graph->name_count < MF_GRAPH_NAMES);
        name = &graph->name[graph->name_count++];
        name->text = text;
    }
    name->value = *value;
}

/* A name that goes from part to part: the first ones of the table. */
size_t mf_graph_add_shared(struct mf_graph *graph, struct mf_str text)
{
    struct mf_graph_name *name = &graph->name[graph->shared_count];

    assert(graph->shared_count < MF_GRAPH_SHARED);
    assert(!mf_graph_find_name(graph, text) &&
           graph->name_count < MF_GRAPH_NAMES);
    graph->name[graph->name_count++] = *name;
    name->text = text;
    name->value = (struct mf_graph_value){ .node = MF_GRAPH_NONE };
    return graph->shared_count++;
}

/* ---- numbers ---- */

struct mf_arch_number mf_graph_length(void *user, struct mf_code_word word,
                                      unsigned dimension)
{
    struct mf_graph *graph = user;
    const struct mf_graph_name *name =
        mf_graph_find_name(graph, mf_frame_word(graph->run->frame, word));
    uint64_t length;

    assert(name && dimension < 4); /* in a row, not in a file */
    length = name->value.dim[dimension];
    return (struct mf_arch_number){ length <= INT64_MAX, (int64_t)length };
}

uint64_t mf_graph_number(struct mf_graph *graph, struct mf_code *row)
{
    struct mf_arch_number number = mf_arch_take_number(graph->run, row);

    if (number.known && number.value >= 0)
        return (uint64_t)number.value;
    graph->unknown = true;
    return MF_PLAN_UNKNOWN;
}

size_t mf_graph_numbers(struct mf_graph *graph, struct mf_code *row,
                        uint64_t out[4])
{
    unsigned count = mf_code_byte(row);

    assert(count <= 4);
    for (unsigned i = 0; i < count; i++)
        out[i] = mf_graph_number(graph, row);
    return count;
}

/* ---- weights ---- */

/* The weight "a|b": the first of these names that the model has.  It lies
 * outside of the graph's memory; only its shape matters. */
bool mf_graph_find_weight(struct mf_graph *graph, struct mf_str names,
                          struct mf_graph_value *out)
{
    const struct mf_record *record = NULL;

    while (!record && names.size > 0) {
        struct mf_str name = { names.at, 0 };

        while (name.size < names.size && name.at[name.size] != '|')
            name.size++;
        names.at += name.size + (name.size < names.size);
        names.size -= name.size + (name.size < names.size);
        record = mf_arch_tensor(graph->run, name);
    }
    *out = (struct mf_graph_value){ MF_GRAPH_NONE, 0, true, { 1, 1, 1, 1 } };
    if (!record)
        return false;
    out->type = (uint8_t)(record->type < MF_TYPE_COUNT ? record->type : 0);
    for (unsigned i = 0; i < record->rank && i < 4; i++) {
        bool first = graph->run->model->info.fastest_first;

        out->dim[i] = record->dim[first ? i : record->rank - 1u - i];
    }
    return true;
}
