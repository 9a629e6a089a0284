/* SPDX-License-Identifier: MIT
 *
 * i32.c - integers of 32 bits
 */
#include "lib/quant/number.h"
#include "lib/quant/quant.h"

MF_DECODE_NUMBERS(int32_t, 32)

const struct mf_codec MF_CODEC(i32) = { .decode = decode };
