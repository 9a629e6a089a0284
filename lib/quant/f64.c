/* SPDX-License-Identifier: MIT
 *
 * f64.c - floats of 64 bits
 */
#include "lib/quant/number.h"
#include "lib/quant/quant.h"

MF_DECODE_NUMBERS(double, 64)

const struct mf_codec MF_CODEC(f64) = { .decode = decode };
