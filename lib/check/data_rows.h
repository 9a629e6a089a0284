/* SPDX-License-Identifier: MIT
 *
 * data_rows.h - finding matrices whose rows are all the same
 */
#ifndef MF_LIB_DATA_ROWS_H
#define MF_LIB_DATA_ROWS_H

#include "lib/base/parallel.h"
#include "lib/model/model.h"

/* Bytes of a row; 0 if rows are not compared: of vectors, of integers, of rows
 * so short that some are the same by chance or design. */
uint64_t mf_data_row(const struct mf_model *model,
                     const struct mf_record *record);

/* Whether bytes, which are of one tensor and begin anywhere in it, show that
 * not all of its rows are the same. */
bool mf_data_row_differs(const uint8_t *bytes, size_t size, uint64_t row);

/* *out: how many rows, if they are all the same; else 0.  Reads the tensor, as
 * far as its rows are. */
enum mf_status mf_data_rows_same(struct mf_crew *crew,
                                 const struct mf_model *model,
                                 const struct mf_record *record, uint64_t row,
                                 uint64_t *out);

#endif
