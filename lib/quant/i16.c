/* SPDX-License-Identifier: MIT
 *
 * i16.c - integers of 16 bits
 */
#include "lib/quant/number.h"
#include "lib/quant/quant.h"

MF_DECODE_NUMBERS(int16_t, 16)

const struct mf_codec MF_CODEC(i16) = { .decode = decode };
