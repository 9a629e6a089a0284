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

static const mf_depths depths = {
    { { .scales = 1, .scale = 1000 },
      { .scales = 2, .scale = 900, .scale_step = 150 },
      { .scales = 64, .rounds = 1, .scale = 700, .scale_step = 10 } },
    { { .scales = 8, .scale = 850, .scale_step = 50 },
      { .scales = 32, .rounds = 1, .scale = 700, .scale_step = 20 },
      { .scales = 128, .rounds = 2, .scale = 600, .scale_step = 6 } }
};

MF_FAMILY_CODEC(scaled, q4_0, MF_SCALED_MAKEUP(18, 8));
