/* SPDX-License-Identifier: MIT
 *
 * slope.h - the line through a series of counts, and whether it is a leak
 *
 * The series can be of any length: only sums and a few extremes are kept.
 *
 * modelfile.h says what a leak is.  What grows less often than in every quarter
 * needs a longer series to be found.
 */
#ifndef MF_LIB_SLOPE_H
#define MF_LIB_SLOPE_H

#include "lib/program.h"

#define MF_SLOPE_QUARTERS 4

/* Zero, but for rounds, is a series that has not begun. */
struct mf_slope {
    uint64_t rounds; /* how many counts the series will have */
    uint64_t count;  /* how many it has */
    uint64_t first, last, most;
    uint64_t lowest[MF_SLOPE_QUARTERS];
    double sum, weighted; /* of count - first, and of that times its index */
};

/* The next count.  After `rounds` of them further ones are ignored. */
void mf_slope_add(struct mf_slope *slope, uint64_t value);

/* How much the line by least squares rises from one count to the next; 0 for
 * fewer than two.  Exactly 0 if all counts are equal. */
double mf_slope_of(const struct mf_slope *slope);

/* Whether the complete series leaks. */
bool mf_slope_leaks(const struct mf_slope *slope, uint64_t noise,
                    double tolerance);

#endif
