/* SPDX-License-Identifier: MIT
 *
 * sort.h - putting rows of a table in order
 */
#ifndef MF_LIB_SORT_H
#define MF_LIB_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True where row a of the table comes before row b. */
typedef bool mf_before(const void *table, uint32_t a, uint32_t b);

/* Sorts row numbers: n log n steps whatever the input, and no memory, unlike
 * qsort.  Rows of which neither comes before the other end in any order. */
void mf_sort(uint32_t *row, size_t count, mf_before *before, const void *table);

#endif
