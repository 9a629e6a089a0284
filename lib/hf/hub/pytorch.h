/* SPDX-License-Identifier: MIT
 *
 * pytorch.h - what the converter computes, bit for bit as PyTorch does
 */
#ifndef MF_LIB_HUB_PYTORCH_H
#define MF_LIB_HUB_PYTORCH_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/derive/derive.h"

/* ---- a vector whose numbers have the mean 0 ---- */

#define MF_CENTRE_MAX 16384 /* numbers */

/* The vector without its mean, which is read here; it has at most that many
 * numbers.  NULL after mf_fail. */
const struct mf_derived *mf_hub_centre(struct mf_derivation *derive,
                                       const struct mf_derived *node);

/* The sum of at least one number, in the order of PyTorch. */
float mf_hub_sum(const float *x, size_t count);

/* ---- what Llama 3 divides the frequencies of RoPE by ---- */

struct mf_llama3 {
    double theta;
    int64_t width; /* of a head */
    double factor, low, high, original;
    bool wide; /* lengths of waves are doubles */
};

#define MF_LLAMA3_WIDTH 4096

/* width / 2 factors, one more for an odd width. */
void mf_llama3_factors(const struct mf_llama3 *llama3, float *out);

/* theta ** part as PyTorch computes it for most elements of a vector; theta is
 * positive and part from 0 to 1. */
float mf_llama3_power(float theta, float part);

#endif
