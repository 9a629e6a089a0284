/* SPDX-License-Identifier: MIT
 *
 * chunks.h - what `tensors info` lists of a table
 */
#ifndef MF_CLI_TENSORS_CHUNKS_H
#define MF_CLI_TENSORS_CHUNKS_H

#include "cli/cli.h"

/* Which chunks, in which order. */
struct chunk_choice {
    const struct mf_model *model;
    const char *pattern; /* of paths; NULL: all */
    bool sorted, totals; /* by order; only their sums */
    bool tsv;            /* only the chunks, for scripts */
    enum mf_order order;
    uint64_t limit;
};

/* False for a model, which has no chunks. */
bool chunks_show(struct run *run, const struct chunk_choice *choice);

#endif
