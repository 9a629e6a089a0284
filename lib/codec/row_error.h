/* SPDX-License-Identifier: MIT
 *
 * row_error.h - how far the numbers of a row are from what they were
 */
#ifndef MF_LIB_ROW_ERROR_H
#define MF_LIB_ROW_ERROR_H

#include <stddef.h>

/* The sum of the squared differences, each times the weight of its column;
 * weights NULL: times 1.  The same for every instruction set. */
double mf_row_error(const float *before, const float *after,
                    const float *weights, size_t columns);

#endif
