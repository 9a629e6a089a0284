/* SPDX-License-Identifier: MIT
 *
 * q4_1.c - 32 numbers of 4 bits, a scale and a minimum
 *
 * half scale, half minimum, 16 bytes of numbers as in nibbles.h;
 * number * scale + minimum.
 */
#include "lib/quant/quant.h"
#include "lib/quant/shifted.h"

static const struct mf_shifted type = { 20, 15, mf_nibbles_load,
                                        mf_nibbles_store };

MF_FAMILY_CODEC(shifted, q4_1, MF_SHIFTED_MAKEUP(20, 15));
