/* SPDX-License-Identifier: MIT
 *
 * u16.c - natural numbers of 16 bits
 */
#include "lib/quant/number.h"
#include "lib/quant/quant.h"

MF_DECODE_NUMBERS(uint16_t, 16)

const struct mf_codec MF_CODEC(u16) = { .decode = decode };
