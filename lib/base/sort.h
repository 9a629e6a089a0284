/* SPDX-License-Identifier: MIT
 *
 * sort.h - sorts row numbers of a table
 */
#ifndef MF_LIB_SORT_H
#define MF_LIB_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True where row a of the table comes before row b. */
typedef bool mf_before(const void *table, uint32_t a, uint32_t b);

/* Heapsort: n log n steps for any input, and no memory, unlike qsort.  Equal
 * rows end in any order. */
void mf_sort(uint32_t *row, size_t count, mf_before *before, const void *table);

#endif
