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

static const mf_depths depths = {
    { { .scales = 1, .scale = 1000 },
      { .scales = 3, .scale = 940, .scale_step = 60 },
      { .scales = 64, .rounds = 1, .scale = 700, .scale_step = 10 } },
    { { .scales = 8, .scale = 850, .scale_step = 50 },
      { .scales = 32, .rounds = 1, .scale = 700, .scale_step = 20 },
      { .scales = 128, .rounds = 2, .scale = 600, .scale_step = 6 } }
};

MF_FAMILY_CODEC(scaled, q5_0, MF_SCALED_MAKEUP(22, 16));
