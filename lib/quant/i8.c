/* SPDX-License-Identifier: MIT
 *
 * i8.c - integers of 8 bits
 */
#include "lib/quant/number.h"
#include "lib/quant/quant.h"

MF_DECODE_NUMBERS(int8_t, 8)

const struct mf_codec MF_CODEC(i8) = { .decode = decode };
