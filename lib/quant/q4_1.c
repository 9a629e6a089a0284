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

static const mf_depths depths = {
    { { .scales = 1, .minimums = 1, .scale = 30, .minimum = 30 },
      { .scales = 2,
        .minimums = 1,
        .scale = 10,
        .scale_step = 40,
        .minimum = 30 },
      { .scales = 12,
        .minimums = 12,
        .rounds = 1,
        .scale = -20,
        .scale_step = 12,
        .minimum = -20,
        .minimum_step = 12 } },
    { { .scales = 6,
        .minimums = 6,
        .scale = -20,
        .scale_step = 30,
        .minimum = -20,
        .minimum_step = 30 },
      { .scales = 12,
        .minimums = 12,
        .rounds = 1,
        .scale = -40,
        .scale_step = 20,
        .minimum = -40,
        .minimum_step = 20 },
      { .scales = 32,
        .minimums = 32,
        .rounds = 2,
        .scale = -60,
        .scale_step = 10,
        .minimum = -60,
        .minimum_step = 10 } }
};

MF_FAMILY_CODEC(shifted, q4_1, MF_SHIFTED_MAKEUP(20, 15));
