/* SPDX-License-Identifier: MIT
 *
 * u32.c - natural numbers of 32 bits
 */
#include "lib/quant/number.h"
#include "lib/quant/quant.h"

MF_DECODE_NUMBERS(uint32_t, 32)

const struct mf_codec MF_CODEC(u32) = { .decode = decode };
