/* SPDX-License-Identifier: MIT
 *
 * grid_cells.h - makes the lists of lib/quant/grid_cells.h
 */
#ifndef MF_LIB_GRID_CELLS_H
#define MF_LIB_GRID_CELLS_H

#include <stddef.h>

#include "lib/quant/grid_cells.h"
#include "lib/quant/grid_map.h"

/* Lists by their content: where they begin, plus 1; 0: none. */
struct mf_cells_found {
    uint16_t start[1 << 15];
};

/* From the map's place and near.  Writes so many parts of lists at most, and
 * returns how many there are.  found: zeros. */
size_t mf_grid_cells_make(const struct mf_grid_map *map, size_t room,
                          struct mf_cells_found *found,
                          struct mf_grid_cells *cells);

#endif
