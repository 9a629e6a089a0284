/* SPDX-License-Identifier: MIT
 *
 * llama3.h - what Llama 3 divides the frequencies of RoPE by
 */
#ifndef MF_LIB_HUB_LLAMA3_H
#define MF_LIB_HUB_LLAMA3_H

#include <stdbool.h>
#include <stdint.h>

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
