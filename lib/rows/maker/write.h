/* SPDX-License-Identifier: MIT
 *
 * write.h - rows as tables in C
 */
#ifndef MF_ROWS_WRITE_H
#define MF_ROWS_WRITE_H

#include "lib/rows/maker/rows.h"

enum rows_table { ROWS_LOADER, ROWS_GRAPH, ROWS_FAMILY };

void rows_write(const char *path, const struct source *source,
                enum rows_table which);

#endif
