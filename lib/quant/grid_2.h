/* SPDX-License-Identifier: MIT
 *
 * grid_2.h - the search that the types on grids of two bits have in common
 *
 * The magnitude of a number is a digit of 0 to 2, which stands for 1, 3 or 5
 * times a scale.
 */
#ifndef MF_LIB_QUANT_GRID_2_H
#define MF_LIB_QUANT_GRID_2_H

#include <float.h>
#include <math.h>

#include "lib/quant/grid.h"
#include "lib/quant/kblock.h"
#include "lib/quant/quant.h"

#define MF_GRID_2_SIZE  16 /* numbers with a scale of their own */
#define MF_GRID_2_STEPS 9  /* trials to either side of the first guess */

/* Of 16 numbers: magnitudes, or the negative of one whose sign had to be
 * turned; how much each counts, and the root of that. */
struct mf_grid_2 {
    float x[MF_GRID_2_SIZE], weight[MF_GRID_2_SIZE], root[MF_GRID_2_SIZE];
};

/* The digit that a number is rounded to. */
static inline unsigned mf_grid_2_digit(float scaled)
{
    int32_t digit = mf_k_round(0.5f * (scaled - 1));

    return digit < 0 ? 0 : digit > 2 ? 2 : (unsigned)digit;
}

static inline unsigned mf_grid_2_round(const float *x, float inverse)
{
    unsigned code = 0;

    for (int i = 0; i < 8; i++)
        code |= mf_grid_2_digit(inverse * x[i]) << 2 * i;
    return code;
}

static inline float mf_grid_2_level(unsigned code, int i)
{
    return (float)(2 * (code >> 2 * i & 3) + 1);
}

/* The code of the grid that is best in place of one that is not in it; -1 where
 * no distance is a number. */
static inline int mf_grid_2_nearest(struct mf_near near, const float *x,
                                    const float *root, float scale)
{
    float least = FLT_MAX;
    int best = -1;

    for (unsigned i = 0; i < near.count; i++) {
        float sum = 0;

        for (int j = 0; j < 8; j++) {
            float apart = scale * mf_grid_2_level(near.code[i], j) - x[j];

            sum += root[j] * apart * apart;
        }
        if (sum < least) {
            least = sum;
            best = near.code[i];
        }
    }
    return best;
}

/* Products of 16 numbers and those of a code's, and of its squares. */
static inline void mf_grid_2_sums(const struct mf_grid_2 *group,
                                  const unsigned code[2], float *with_x,
                                  float *squares)
{
    *with_x = *squares = 0;
    for (int i = 0; i < MF_GRID_2_SIZE; i++) {
        float level = mf_grid_2_level(code[i / 8], i % 8);

        *with_x += group->weight[i] * group->x[i] * level;
        *squares += group->weight[i] * level * level;
    }
}

#endif
