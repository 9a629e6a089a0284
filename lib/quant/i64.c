/* SPDX-License-Identifier: MIT
 *
 * i64.c - integers of 64 bits
 */
#include "lib/quant/number.h"
#include "lib/quant/quant.h"

MF_DECODE_NUMBERS(int64_t, 64)

const struct mf_codec MF_CODEC(i64) = { .decode = decode };
