/* SPDX-License-Identifier: MIT
 *
 * u64.c - natural numbers of 64 bits
 */
#include "lib/quant/number.h"
#include "lib/quant/quant.h"

MF_DECODE_NUMBERS(uint64_t, 64)

const struct mf_codec MF_CODEC(u64) = { .decode = decode };
