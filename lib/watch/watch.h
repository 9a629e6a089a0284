/* SPDX-License-Identifier: MIT
 *
 * watch.h - the inside of a watch
 */
#ifndef MF_LIB_WATCH_H
#define MF_LIB_WATCH_H

#include <string.h>

#include "lib/watch/slope.h"

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
