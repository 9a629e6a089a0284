/* SPDX-License-Identifier: MIT
 *
 * watch.h - the inside of a watch
 */
#ifndef MF_LIB_WATCH_H
#define MF_LIB_WATCH_H

#include <string.h>

#include "lib/program.h"

/* ---- what the system says about this process, and what it allows ---- */

/* From /proc/self, without a byte of heap that stays. */

struct mf_self {
    uint64_t resident; /* bytes of its own in memory: not of mapped files */
    uint64_t threads;
    uint64_t files; /* open file descriptors */
};

/* False, and out unchanged, where /proc does not say so. */
bool mf_self_look(struct mf_self *out);

/* Limits of the system, UINT64_MAX if there is none. */
uint64_t mf_self_file_limit(void);
uint64_t mf_self_thread_limit(void);

/* ---- the line through a series of counts, and whether it is a leak ---- */

/* The series can be of any length: only sums and a few extremes are kept.
 *
 * modelfile.h says what a leak is.  What grows less often than in every quarter
 * needs a longer series to be found. */

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

/* ---- energy from samples of power ---- */

/* The power at a moment: energy grows by the trapezoid between it and the
 * sample before.  A clock that went back counts as no time. */
void mf_energy_add(struct mf_energy *energy, double watts, uint64_t at_us);

/* The mean power of the time from one moment to another, as a counter of energy
 * tells it: one sample. */
void mf_energy_add_span(struct mf_energy *energy, double watts,
                        uint64_t from_us, uint64_t to_us);

/* ---- the watch ---- */

struct mf_watched {
    bool known;
    uint64_t high_water, limit;
    struct mf_watch_threshold threshold;
    struct mf_slope slope;
};

struct mf_watch {
    struct mf_env *env;
    size_t size;
    uint64_t rounds, warm_up, done;
    bool in_round, sampled, keep_times;
    uint64_t begun; /* nanoseconds */
    bool (*own)(void *user, uint64_t *now, uint64_t *most);
    void *own_user;
    int spare; /* a descriptor; see watch.c */
    struct mf_power power;
    struct mf_energy energy;
    struct mf_watched row[MF_WATCH_KINDS];
    size_t time_count;
    double time[]; /* nanoseconds; none without keep_times */
};

#endif
