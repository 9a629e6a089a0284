/* SPDX-License-Identifier: MIT
 *
 * sums.h - what is summed up of a tensor's numbers, and what becomes of it
 *
 * Integers are summed up exactly, doubles as doubles, and all others as the
 * floats that they decode to.  Bins and rows are counts, and are left out
 * unless the caller asks for a histogram.
 */
#ifndef MF_LIB_SUMS_H
#define MF_LIB_SUMS_H

#include "lib/compare/bins.h"
#include "lib/compare/moments.h"
#include "lib/compare/same_rows.h"
#include "lib/compare/wide.h"

struct mf_tensor_sums {
    enum mf_type type;
    /* One of both has numbers. */
    struct mf_integers integers;
    struct mf_moments moments;
    uint64_t *bins;           /* counters of the type's exponents; or NULL */
    struct mf_same_rows rows; /* with bins */
};

/* Of no number yet.  bins become 0; columns of a row, and the first number's
 * place in the tensor. */
struct mf_tensor_sums mf_tensor_sums_from(enum mf_type type, uint64_t *bins,
                                          uint64_t columns, uint64_t number);

/* batch: of numbers that are not in sums->moments yet. */
void mf_tensor_sums_add(struct mf_tensor_sums *sums,
                        struct mf_moments_batch *batch,
                        const struct mf_numbers *numbers);

/* Adds numbers that come after the ones in sums. */
void mf_tensor_sums_join(struct mf_tensor_sums *sums,
                         const struct mf_tensor_sums *more);

/* Results of a whole tensor.  out has the bins of the sums. */
void mf_tensor_sums_finish(const struct mf_tensor_sums *sums,
                           struct mf_tensor_histogram *out);

#endif
