/* SPDX-License-Identifier: MIT
 *
 * graph_words.c - operations and types, for those who check rows of graphs and
 * those who write them
 */
#include "lib/rows/maker/graph.h"

const char *const graph_types[] = { MF_GRAPH_TYPES, NULL };

const struct graph_operation graph_operations[] = {
#define OP(name, rule, kind, least, most, inplace) { #name, least, most },
#include "lib/plan/ops.def"
#undef OP
#define OP(name, least, most) { #name, least, most },
    MF_GRAPH_MORE_OPS(OP)
#undef OP
        { NULL, 0, 0 },
};

const struct graph_operation *graph_operation_find(struct text name)
{
    const struct graph_operation *each = graph_operations;

    while (each->name && !text_is(name, each->name))
        each++;
    return each->name ? each : NULL;
}
