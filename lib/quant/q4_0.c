/* SPDX-License-Identifier: MIT
 *
 * q4_0.c - 32 numbers of 4 bits and a scale
 *
 * half scale, 16 bytes of numbers as in nibbles.h; (number - 8) * scale.
 */
#include "lib/quant/quant.h"
#include "lib/quant/scaled.h"

static const struct mf_scaled type = { 18, 8, mf_nibbles_load,
                                       mf_nibbles_store };

MF_FAMILY_CODEC(scaled, q4_0);
