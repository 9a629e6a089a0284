/* SPDX-License-Identifier: MIT
 *
 * u8.c - natural numbers of 8 bits
 */
#include "lib/quant/number.h"
#include "lib/quant/quant.h"

MF_DECODE_NUMBERS(uint8_t, 8)

const struct mf_codec MF_CODEC(u8) = { .decode = decode };
