/* SPDX-License-Identifier: MIT
 *
 * grid_cells.h - the few codes of a grid that can be best in a cell
 *
 * Of grids with four digits of three bits.  A digit l stands for 2 * l + 1
 * times a scale; a number that is rounded to it is from 2 * l to 2 * l + 2.
 * Half of that is a side of a cell, so cells are numbered by four digits of
 * four bits: the whole numbers below what is rounded.  0 and what is below are
 * as 1, 15 and what is above as 14.
 *
 * In a cell it is known which of two digits is nearer, for all four.  A code
 * that is near (mf_grid_near) cannot be best if one before it has no digit that
 * is farther: whatever the weights, its error is no less, and of the same
 * errors the first wins.  What is left is a list of 4 codes on average, where
 * mf_grid_near has 10.
 */
#ifndef MF_LIB_QUANT_GRID_CELLS_H
#define MF_LIB_QUANT_GRID_CELLS_H

#include <stdint.h>

/* Two codes to a word, the first at its lowest bits; four words to a part of a
 * list.  Where a list is shorter its first code is repeated. */
#define MF_CELL_WORDS  4
#define MF_CELL_SECOND 12
#define MF_CELL_OFF                                                            \
    (UINT32_C(1) << 24)  /* the cell's code is not in the grid                 \
                          */
#define MF_CELL_COUNT 25 /* in the first word: how many codes there are */

struct mf_grid_cells {
    uint16_t start[1 << 16]; /* by cell, the first part of its list */
    uint32_t part[][MF_CELL_WORDS];
};

#endif
