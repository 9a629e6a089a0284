/* SPDX-License-Identifier: MIT
 *
 * q5_1.c - 32 numbers of 5 bits, a scale and a minimum
 *
 * half scale, half minimum, 4 bytes of fifth bits and 16 of the others as in
 * nibbles.h; number * scale + minimum.
 */
#include "lib/quant/quant.h"
#include "lib/quant/shifted.h"

static const struct mf_shifted type = { 24, 31, mf_fives_load, mf_fives_store };

MF_FAMILY_CODEC(shifted, q5_1, MF_SHIFTED_MAKEUP(24, 31));
