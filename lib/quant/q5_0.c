/* SPDX-License-Identifier: MIT
 *
 * q5_0.c - 32 numbers of 5 bits and a scale
 *
 * half scale, 4 bytes of fifth bits and 16 of the others as in nibbles.h;
 * (number - 16) * scale.
 */
#include "lib/quant/quant.h"
#include "lib/quant/scaled.h"

static const struct mf_scaled type = { 22, 16, mf_fives_load, mf_fives_store };

MF_FAMILY_CODEC(scaled, q5_0);
