/* SPDX-License-Identifier: MIT
 *
 * graph.h - rows about what an architecture computes: section graph
 */
#ifndef MF_ROWS_GRAPH_H
#define MF_ROWS_GRAPH_H

#include "lib/rows/maker/loader.h"

extern const struct language graph_language;

/* loader: rows of sections loader, whose names numbers may have.  used: gets
 * those of them that do. */
void graph_check(struct source *source, const struct source *loader,
                 struct words *used);

#endif
