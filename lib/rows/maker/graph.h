/* SPDX-License-Identifier: MIT
 *
 * graph.h - rows about what an architecture computes: section graph
 */
#ifndef MF_ROWS_GRAPH_H
#define MF_ROWS_GRAPH_H

#include "lib/rows/maker/loader.h"

extern const struct language graph_language;

/* The types of sources and inputs. */
extern const char *const graph_types[];

struct graph_operation {
    const char *name;
    size_t least, most; /* sources */
};

/* In the order of enum mf_graph_op_name; ends with a name of NULL. */
extern const struct graph_operation graph_operations[];

/* NULL: there is none. */
const struct graph_operation *graph_operation_find(struct text name);

/* loader: rows of sections loader, whose names numbers may have.  used: gets
 * those of them that do. */
void graph_check(struct source *source, const struct source *loader,
                 struct words *used);

/* The numbers that the library gives to graphs, besides the group "numbers". */
extern const size_t graph_given;

/* An error if the group "numbers" has not as many rows as the library counts on
 * (graph_counts.c). */
void graph_check_numbers(const struct source *source);

/* The second half of it, once all rows of both are right: counts. */
void graph_check_counts(const struct source *source,
                        const struct source *loader);

#endif
