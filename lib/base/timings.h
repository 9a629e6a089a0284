/* SPDX-License-Identifier: MIT
 *
 * timings.h - where the time of an env's work goes, in constant memory
 *
 * Work is made of phases (timings.def).  A phase that begins inside another one
 * stops the outer one's clock, so every nanosecond counts once, and the sum of
 * all phases is the time that has passed: on one thread the clock's time, on
 * several the time of all of them together.  Outside of every phase is the
 * program, whose time counts as well.
 *
 * A phase has a count, a sum, a least and a most, and how many of its entries
 * took 2^k to 2^(k+1)-1 ns, for each k.  That is all, however long the work.
 *
 *     struct mf_timed timed = mf_timed_begin(env, MF_PHASE_READ);
 *     ... every way out of here passes the next line ...
 *     mf_timed_end(env, timed);
 *
 * An env that was not asked for timings has none, and this is one branch.
 */
#ifndef MF_LIB_TIMINGS_H
#define MF_LIB_TIMINGS_H

#include "lib/base/heap.h"

enum mf_phase {
#define PHASE(NAME, name, meaning) MF_PHASE_##NAME,
#include "lib/base/timings.def"
#undef PHASE
    MF_PHASE_COUNT,
    /* Does not count at all: workers count this time. */
    MF_PHASE_NONE = MF_PHASE_COUNT
};

#define MF_BUCKETS 64

struct mf_phase_times {
    uint64_t count, total, least, most; /* ns */
    uint64_t bucket[MF_BUCKETS];
};

/* Belongs to one thread at a time. */
struct mf_timings {
    uint64_t born;
    /* ns of phases that ended inside the one that is open, or the program. */
    uint64_t inner;
    struct mf_phase_times phase[MF_PHASE_COUNT];
};

/* A phase that is open. */
struct mf_timed {
    uint64_t start;
    uint64_t inner; /* of the phase around it, so far */
    enum mf_phase phase;
};

/* ns of a clock that is never set. */
uint64_t mf_timings_now(void);

void mf_timings_init(struct mf_timings *timings);

/* Adds an entry of so many ns. */
void mf_timings_count(struct mf_timings *timings, enum mf_phase phase,
                      uint64_t ns);

/* Adds all entries of others, which were made on another thread. */
void mf_timings_add(struct mf_timings *timings,
                    const struct mf_timings *others);

/* The time that `percent` of the entries did not exceed: by nearest rank as far
 * as the bucket, and within it as if its entries were evenly spread; never
 * outside of least and most, which are the first and the last rank.  It is less
 * than twice as long as the true one, and more than half. */
uint64_t mf_phase_percentile(const struct mf_phase_times *times,
                             unsigned percent);

struct mf_timed mf_timings_begin(struct mf_timings *timings,
                                 enum mf_phase phase);
void mf_timings_end(struct mf_timings *timings, struct mf_timed timed);

static inline struct mf_timed mf_timed_begin(struct mf_env *env,
                                             enum mf_phase phase)
{
    return __builtin_expect(env->timings != NULL, 0)
               ? mf_timings_begin(env->timings, phase)
               : (struct mf_timed){ .phase = phase };
}

static inline void mf_timed_end(struct mf_env *env, struct mf_timed timed)
{
    if (__builtin_expect(env->timings != NULL, 0))
        mf_timings_end(env->timings, timed);
}

#endif
