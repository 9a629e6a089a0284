/* SPDX-License-Identifier: MIT
 *
 * slope.h - the line through a series of counts, and whether it is a leak
 *
 * The series can be of any length: only sums and a few extremes are kept.
 *
 * A leak is growth that is never given back.  The slope of the line alone does
 * not show that: it is above zero as well for a cache that has grown and was
 * not dropped yet, and for a step that happens once.  So the series is divided
 * into four quarters, and it leaks if
 *
 *   - the lowest count of each quarter is above that of the quarter before,
 *   - the last of these is more than `noise` above the first, and
 *   - the slope is above `tolerance`.
 *
 * A cache that is dropped now and then has its lowest count again in some later
 * quarter, unless that takes longer than three quarters of the series.  A step
 * raises one quarter only.  What grows less often than in every quarter needs a
 * longer series to be found.
 */
#ifndef MF_CLI_SLOPE_H
#define MF_CLI_SLOPE_H

#include <stdbool.h>
#include <stdint.h>

#define SLOPE_QUARTERS 4

/* Fewer rounds do not tell a leak from chance. */
#define SLOPE_LEAST 8

/* Zero, but for rounds, is a series that has not begun. */
struct slope {
    uint64_t rounds; /* how many counts the series will have */
    uint64_t count;  /* how many it has */
    uint64_t first, last, most;
    uint64_t lowest[SLOPE_QUARTERS];
    double sum, weighted; /* of count - first, and of that times its index */
};

/* The next count.  After `rounds` of them further ones are ignored. */
void slope_add(struct slope *slope, uint64_t value);

/* How much the line by least squares rises from one count to the next; 0 for
 * fewer than two.  Exactly 0 if all counts are equal. */
double slope_of(const struct slope *slope);

/* Whether the complete series leaks. */
bool slope_leaks(const struct slope *slope, uint64_t noise, double tolerance);

#endif
