/* SPDX-License-Identifier: MIT
 *
 * imatrix.h - the importance matrices that llama-imatrix wrote before 2025
 *
 * Little-endian; no magic, no version, no alignment:
 *
 *     i32              entries
 *     for each entry
 *       i32, bytes     length of its name, name
 *       i32            calls: how often the tensor was used
 *       i32, f32...    count of values, values: sums over the calls
 *     in later versions
 *       i32            chunks of text that it was made from
 *       i32, bytes     length of the name of that text, name
 *
 * In the index an entry is a tensor with its name and one dimension.  What else
 * the file says has the keys of the GGUF files that came after it, and
 * "imatrix.calls", an array with a number for each entry.
 */
#ifndef MF_IMATRIX_IMATRIX_H
#define MF_IMATRIX_IMATRIX_H

#include "lib/model/format.h"

/* The fewest bytes of an entry: three numbers, a name of one byte, a value. */
#define IMATRIX_ENTRY_MIN (3 * 4 + 1 + 4)

enum mf_status mf_imatrix_parse(struct mf_reader *reader,
                                struct mf_index *index, struct mf_part *part);

enum mf_status mf_imatrix_value_next(struct mf_values *values,
                                     struct mf_value *out);

#endif
