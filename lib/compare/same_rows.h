/* SPDX-License-Identifier: MIT
 *
 * same_rows.h - which rows have numbers that are all equal
 *
 * A tensor is read in pieces that may begin and end within a row, and a row may
 * be longer than many of them.  So of each piece three things are kept: its
 * numbers up to the first end of a row, a count of the whole rows after that,
 * and its numbers after the last end.
 */
#ifndef MF_LIB_SAME_ROWS_H
#define MF_LIB_SAME_ROWS_H

#include <stdbool.h>

#include "lib/compare/bins.h"

/* Numbers that are adjacent. */
struct mf_same {
    bool any;      /* there are some */
    bool differ;   /* they are not all equal */
    uint64_t bits; /* else of all of them; 0 are zeros */
};

/* Of a piece, or of a tensor from its start on: all zero but for columns and
 * left. */
struct mf_same_rows {
    uint64_t columns;          /* numbers of a row: at least 1 */
    uint64_t left;             /* until the next end of a row; at least 1 */
    bool ends;                 /* a row has ended */
    struct mf_same head, tail; /* head: up to that; tail: after the last end */
    uint64_t zero, constant;   /* rows, without head and tail */
};

/* From that number of a tensor on. */
struct mf_same_rows mf_same_rows_from(uint64_t columns, uint64_t number);

void mf_same_rows_add(struct mf_same_rows *rows,
                      const struct mf_numbers *numbers);

/* Adds a piece to the tensor, of which all before it was added. */
void mf_same_rows_join(struct mf_same_rows *tensor,
                       const struct mf_same_rows *piece);

#endif
