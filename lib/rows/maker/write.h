/* SPDX-License-Identifier: MIT
 *
 * write.h - rows as tables in C
 */
#ifndef MF_ROWS_WRITE_H
#define MF_ROWS_WRITE_H

#include <stdio.h>

#include "lib/rows/maker/rows.h"

enum rows_table { ROWS_LOADER, ROWS_GRAPH, ROWS_FAMILY };

/* A table that is being written; it becomes a file only if that changes. */
struct output {
    FILE *file;
    char *text;
    size_t size;
};

void output_begin(struct output *output);
void output_end(struct output *output, const char *path);

void rows_write(const char *path, const struct source *source,
                enum rows_table which);

#endif
