/* SPDX-License-Identifier: MIT
 *
 * grid_1.h - the grid of iq1_s and iq1_m
 */
#ifndef MF_LIB_QUANT_GRID_1_H
#define MF_LIB_QUANT_GRID_1_H

#include <stdbool.h>

#include "lib/quant/grid.h"

static const uint16_t mf_grid_1[2048] = {
#include "lib/quant/iq1.def"
};

/* Eight numbers of -1, 0 or 1, each an eighth more, or less. */
static inline void mf_grid_1_decode(uint32_t place, bool less, float scale,
                                    float *out)
{
    static const struct mf_grid_levels levels = { { -1, 0, 1, 0, -1, 0, 1 } };
    float shift = less ? -0.125f : 0.125f;

    for (int i = 0; i < 8; i += MF_GRID_LANES) {
        mf_grid_floats numbers = mf_grid_pick(&levels, 2, mf_grid_1[place], i);

        numbers = (numbers + shift) * scale;
        memcpy(out + i, &numbers, sizeof(numbers));
    }
}

#endif
