/* SPDX-License-Identifier: MIT
 *
 * words.c - names, numbers and weights in the rows of a graph
 */
#include "lib/plan/graph.h"

#include <assert.h>
#include <string.h>

/* ---- names ---- */

/* What a parameter stands for; any other word for itself. */
struct mf_str mf_graph_argument(const struct mf_graph *graph,
                                struct mf_str word)
{
    const struct mf_arch_frame *frame = graph->run->frame;

    while (frame && mf_arch_find_argument(frame, word, &word)) {
        while (word.size > 0 && *word.at == ' ') {
            word.at++;
            word.size--;
        }
        frame = frame->up;
    }
    return word;
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

/* "cur[1]", "cur[0] * heads", "cur[0] / 2": a length of a tensor. */
static bool take_length(struct mf_graph *graph, struct mf_str text,
                        uint64_t *out)
{
    const struct mf_graph_name *name;
    size_t size = 0;
    uint64_t other;

    while (size < text.size && text.at[size] != '[')
        size++;
    if (size == text.size)
        return false;
    name = mf_graph_find_name(
        graph, mf_graph_argument(graph, (struct mf_str){ text.at, size }));
    assert(name && size + 2 < text.size && text.at[size + 2] == ']');
    assert(text.at[size + 1] >= '0' && text.at[size + 1] < '4');
    *out = name->value.dim[text.at[size + 1] - '0'];
    if (size + 3 == text.size)
        return true;
    assert(size + 6 < text.size);
    other = mf_graph_number(
        graph, (struct mf_str){ text.at + size + 6, text.size - size - 6 });
    if (text.at[size + 4] == '*')
        *out = mf_plan_mul(*out, other);
    else
        *out = other > 0 ? mf_plan_div(*out, other) : MF_PLAN_UNKNOWN;
    return true;
}

uint64_t mf_graph_number(struct mf_graph *graph, struct mf_str text)
{
    struct mf_arch_number number;
    uint64_t length;

    if (take_length(graph, text, &length))
        return length;
    number = mf_arch_number_of(graph->run, text);
    if (number.known && number.value >= 0)
        return (uint64_t)number.value;
    graph->unknown = true;
    return MF_PLAN_UNKNOWN;
}

/* The text up to the next comma outside of parentheses, which is taken. */
static struct mf_str take_item(struct mf_str *list)
{
    struct mf_str item = { list->at, 0 };
    size_t depth = 0;

    while (item.size < list->size && (depth > 0 || item.at[item.size] != ',')) {
        depth += item.at[item.size] == '(';
        depth -= item.at[item.size] == ')';
        item.size++;
    }
    list->at += item.size;
    list->size -= item.size;
    while (list->size > 0 && (*list->at == ',' || *list->at == ' ')) {
        list->at++;
        list->size--;
    }
    return item;
}

size_t mf_graph_numbers(struct mf_graph *graph, struct mf_str list,
                        uint64_t out[4])
{
    size_t count = 0;

    while (list.size > 0) {
        assert(count < 4);
        out[count++] = mf_graph_number(graph, take_item(&list));
    }
    return count;
}

/* ---- weights ---- */

/* A pattern with arguments instead of "{parameter}". */
static struct mf_str fill_in(struct mf_graph *graph, struct mf_str pattern,
                             char out[128])
{
    size_t size = 0;

    for (size_t i = 0; i < pattern.size; i++) {
        struct mf_str word = { pattern.at + i + 1, 0 };

        if (pattern.at[i] != '{') {
            assert(size < 128);
            out[size++] = pattern.at[i];
            continue;
        }
        while (word.at[word.size] != '}')
            word.size++;
        i += word.size + 1;
        word = mf_graph_argument(graph, word);
        assert(size + word.size <= 128);
        memcpy(out + size, word.at, word.size);
        size += word.size;
    }
    return (struct mf_str){ out, size };
}

/* The weight "a|b": the first of these names that the model has.  It lies
 * outside of the graph's memory; only its shape matters. */
bool mf_graph_find_weight(struct mf_graph *graph, struct mf_str names,
                          struct mf_graph_value *out)
{
    const struct mf_record *record = NULL;

    while (!record && names.size > 0) {
        struct mf_str name = { names.at, 0 };
        char filled[128];

        while (name.size < names.size && name.at[name.size] != '|')
            name.size++;
        names.at += name.size + (name.size < names.size);
        names.size -= name.size + (name.size < names.size);
        record = mf_arch_tensor(graph->run, fill_in(graph, name, filled));
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
