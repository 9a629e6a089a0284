/* SPDX-License-Identifier: MIT
 *
 * effort_bound_grid.h - the least error of a type on a grid, with any scale
 *
 * Private to effort_bound.c.  With a scale s, numbers x of a group and a point
 * of the grid whose numbers are l, the error is the sum of w x x, less 2 s P,
 * plus s s Q, where P is the sum of w |x| l and Q that of w l l: neither
 * depends on s.  Of a block, the points of all groups that are best for some s
 * give its P and Q; with the scale that suits these best, the error is less by
 * P P / Q.
 */
#ifndef TESTS_EFFORT_BOUND_GRID_H
#define TESTS_EFFORT_BOUND_GRID_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* How signs are stored: each, seven of eight, or with the numbers. */
enum grid_signs { SIGNS_ALL, SIGNS_EVEN, SIGNS_NONE };

struct grid {
    const uint16_t *code;
    int codes, size, bits; /* numbers of a code, and bits of each */
    float level[8];
    enum grid_signs signs;
    int block; /* numbers with one scale */
};

enum { POINTS_MOST = 2048, BLOCK_MOST = 32, EIGHT = 8, GRID_PER_OCTAVE = 48 };

static const uint16_t codes_iq2_xxs[] = {
#include "lib/quant/iq2_xxs.def"
};
static const uint16_t codes_iq2_xs[] = {
#include "lib/quant/iq2_xs.def"
};
static const uint16_t codes_iq2_s[] = {
#include "lib/quant/iq2_s.def"
};
static const uint16_t codes_iq3_xxs[] = {
#include "lib/quant/iq3_xxs.def"
};
static const uint16_t codes_iq3_s[] = {
#include "lib/quant/iq3_s.def"
};
static const uint16_t codes_iq1[] = {
#include "lib/quant/iq1.def"
};

static const struct grid grids[] = {
    { codes_iq2_xxs, 256, 8, 2, { 8, 25, 43 }, SIGNS_EVEN, 32 },
    { codes_iq2_xs, 512, 8, 2, { 8, 25, 43 }, SIGNS_EVEN, 16 },
    { codes_iq2_s, 1024, 8, 2, { 8, 25, 43 }, SIGNS_ALL, 16 },
    { codes_iq3_xxs,
      256,
      4,
      3,
      { 4, 12, 20, 28, 36, 44, 52, 62 },
      SIGNS_EVEN,
      32 },
    { codes_iq3_s, 512, 4, 3, { 1, 3, 5, 7, 9, 11, 13, 15 }, SIGNS_ALL, 32 },
    { codes_iq1, 2048, 8, 2, { -1, 0, 1 }, SIGNS_NONE, 32 },
};

/* The sums of each point, for one group; with one sign that is wrong, too. */
struct points {
    float p[2][POINTS_MOST], q[POINTS_MOST];
};

static void find_points(const struct grid *grid, float shift, const float *x,
                        const float *w, struct points *out)
{
    for (int i = 0; i < grid->codes; i++) {
        float p = 0, q = 0, wrong = INFINITY;

        for (int k = 0; k < grid->size; k++) {
            int place =
                grid->code[i] >> k * grid->bits & ((1 << grid->bits) - 1);
            float level = grid->level[place] + shift;
            float part =
                w[k] * level * (grid->signs == SIGNS_NONE ? x[k] : fabsf(x[k]));

            p += part;
            q += w[k] * level * level;
            wrong = part < wrong ? part : wrong;
        }
        out->p[0][i] = p;
        out->p[1][i] = p - 2 * wrong;
        out->q[i] = q;
    }
}

/* The point that is best with the scale; what it adds to the error. */
static float best_point(const struct grid *grid, const struct points *points,
                        int wrong, float scale, int *at)
{
    float least = INFINITY;

    for (int i = 0; i < grid->codes; i++) {
        float adds = scale * (scale * points->q[i] - 2 * points->p[wrong][i]);

        if (adds < least) {
            least = adds;
            *at = i;
        }
    }
    return least;
}

/* Of eight numbers that need an even number of signs, and have an odd one, one
 * group has the wrong sign. */
static void add_eight(const struct grid *grid, const struct points *points,
                      bool odd, float scale, double *p, double *q)
{
    int groups = EIGHT / grid->size, at[2][2], wrong = -1;
    float adds[2][2], least = INFINITY;

    for (int g = 0; g < groups; g++)
        for (int k = 0; k <= odd; k++)
            adds[g][k] = best_point(grid, &points[g], k, scale, &at[g][k]);
    for (int g = 0; g < groups && odd; g++)
        if (adds[g][1] - adds[g][0] < least) {
            least = adds[g][1] - adds[g][0];
            wrong = g;
        }
    for (int g = 0; g < groups; g++) {
        int k = g == wrong;

        *p += (double)points[g].p[k][at[g][k]];
        *q += (double)points[g].q[at[g][k]];
    }
}

static bool is_odd(const struct grid *grid, const float *x)
{
    int signs = 0;

    for (int i = 0; i < EIGHT; i++)
        signs += x[i] < 0;
    return grid->signs == SIGNS_EVEN && signs % 2 == 1;
}

/* By how much a block's error is less than with zeros. */
static double gain_of(const struct grid *grid, float shift, const float *x,
                      const float *w)
{
    static struct points points[BLOCK_MOST / 4];
    float top = grid->level[(1 << grid->bits) - 1 - (grid->bits == 2)];
    double most = 0, gain = 0;

    for (int i = 0; i < grid->block; i++)
        most = fmax(most, fabs((double)x[i]));
    for (int g = 0; g < grid->block / grid->size; g++)
        find_points(grid, shift, x + g * grid->size, w + g * grid->size,
                    &points[g]);
    for (int i = -7 * GRID_PER_OCTAVE / 2; i <= GRID_PER_OCTAVE; i++)
        for (int sign = 1; sign >= (grid->signs == SIGNS_NONE ? -1 : 1);
             sign -= 2) {
            float scale = (float)(sign * most / (double)top *
                                  exp2((double)i / GRID_PER_OCTAVE));
            double p = 0, q = 0;

            for (int at = 0; at < grid->block; at += EIGHT)
                add_eight(grid, &points[at / grid->size], is_odd(grid, x + at),
                          scale, &p, &q);
            if (q > 0)
                gain = fmax(gain, p * p / q);
        }
    return gain;
}

/* The least error of a block. */
static double of_grid(const struct grid *grid, const float *x, const float *w)
{
    double all = 0;

    for (int i = 0; i < grid->block; i++)
        all += (double)w[i] * (double)x[i] * (double)x[i];
    if (grid->signs != SIGNS_NONE)
        return all - gain_of(grid, 0, x, w);
    return all -
           fmax(gain_of(grid, 0.125F, x, w), gain_of(grid, -0.125F, x, w));
}

#endif
