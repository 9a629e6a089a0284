/* SPDX-License-Identifier: MIT
 *
 * effort_bound_affine.h - the least error of numbers that are a scale times
 * codes, and a minimum
 *
 * Private to effort_bound.c.
 */
#ifndef TESTS_EFFORT_BOUND_AFFINE_H
#define TESTS_EFFORT_BOUND_AFFINE_H

#include <math.h>
#include <stdbool.h>

#include "lib/quant/floats.h"

enum {
    GROUP_MOST = 256, /* numbers with one scale */
    PER_OCTAVE = 512  /* scales that are tried, where they are any number */
};

/* Numbers with one scale. */
struct group {
    const float *x, *w;
    int count;
};

static double square(double number)
{
    return number * number;
}

/* The sums with which codes suit a minimum. */
struct sums {
    double w, wr, wrr; /* of the rests: numbers less scale times code */
};

struct affine {
    const struct group *group;
    double scale;
    int levels; /* the last code */
    int order[GROUP_MOST], code[GROUP_MOST];
    double part[GROUP_MOST];
    int whole[GROUP_MOST];
};

/* What the codes give with the best minimum: of 16 bits; of no sign, or of one.
 */
struct least {
    double half, any, negative, positive;
};

static void take_best(const struct sums *sums, struct least *least)
{
    double best = sums->wr / sums->w, error = sums->wrr - best * sums->wr;
    double at_zero = error + sums->w * square(best);

    least->any = fmin(least->any, error);
    least->negative = fmin(least->negative, best <= 0 ? error : at_zero);
    least->positive = fmin(least->positive, best >= 0 ? error : at_zero);
    if (error < least->half) {
        uint16_t half = mf_float_to_half((float)best);
        double rounded = (double)mf_half_to_float(half);

        least->half =
            fmin(least->half, error + sums->w * square(best - rounded));
    }
}

static void sort(struct affine *affine)
{
    int *order = affine->order;

    for (int i = 1; i < affine->group->count; i++)
        for (int k = i;
             k > 0 && affine->part[order[k - 1]] < affine->part[order[k]];
             k--) {
            int other = order[k];

            order[k] = order[k - 1];
            order[k - 1] = other;
        }
}

/* From a minimum above all numbers down, each code is raised where a number is
 * halfway between two: so all codes that any minimum gives are met. */
static void sweep(struct affine *affine, struct least *least)
{
    const struct group *group = affine->group;
    struct sums sums = { 0 };
    int from = -1000000, to = 1000000;

    for (int i = 0; i < group->count; i++) {
        double at = (double)group->x[i] / affine->scale;
        double weight = (double)group->w[i];

        affine->whole[i] = (int)floor(at);
        affine->part[i] = at - floor(at);
        affine->code[i] = 0;
        from = affine->whole[i] > from ? affine->whole[i] : from;
        to = affine->whole[i] < to ? affine->whole[i] : to;
        sums.w += weight;
        sums.wr += weight * (double)group->x[i];
        sums.wrr += weight * square((double)group->x[i]);
    }
    sort(affine);
    take_best(&sums, least);
    for (int level = from; level >= to - affine->levels; level--)
        for (int k = 0; k < group->count; k++) {
            int i = affine->order[k], code = affine->whole[i] - level;
            double rest = (double)group->x[i] - affine->scale * code;
            double weight = (double)group->w[i];

            if (code < 0 || code >= affine->levels)
                continue;
            sums.wr -= weight * affine->scale;
            sums.wrr += weight * (square(rest - affine->scale) - square(rest));
            take_best(&sums, least);
        }
}

/* With -x the same codes have a negative scale. */
static struct least of_scales(const struct group *group, int levels, bool halfs)
{
    struct least least = { INFINITY, INFINITY, INFINITY, INFINITY };
    struct affine affine = { .group = group, .levels = levels };
    double low = INFINITY, high = -INFINITY;

    for (int i = 0; i < group->count; i++) {
        low = fmin(low, (double)group->x[i]);
        high = fmax(high, (double)group->x[i]);
        affine.order[i] = i;
    }
    low = fmin(low, 0);
    high = fmax(high, 0);
    if (low == high)
        return (struct least){ 0 };
    if (halfs) {
        double span = (high - low) / levels;

        for (unsigned bits = 1; bits < 0x7c00; bits++) {
            affine.scale = (double)mf_half_to_float((uint16_t)bits);
            if (affine.scale > span / 6 && affine.scale < span * 1.5)
                sweep(&affine, &least);
        }
        return least;
    }
    for (int i = -5 * PER_OCTAVE / 2; i <= PER_OCTAVE / 2; i++) {
        affine.scale = (high - low) / levels * exp2((double)i / PER_OCTAVE);
        sweep(&affine, &least);
    }
    return least;
}

static struct least of_both_signs(const struct group *group, int levels,
                                  bool halfs, struct least *mirrored)
{
    float negated[GROUP_MOST];
    struct group other = *group;

    for (int i = 0; i < group->count; i++)
        negated[i] = -group->x[i];
    other.x = negated;
    *mirrored = of_scales(&other, levels, halfs);
    return of_scales(group, levels, halfs);
}

#endif
