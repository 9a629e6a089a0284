/* SPDX-License-Identifier: MIT
 *
 * watch.c - what grows while a program does the same work again and again
 *
 * The room watch/ measures the process that the library is part of: what it
 * holds, how long its rounds take, and what power the machine takes.  Of a
 * round nothing is kept but its time, if that is asked for, so a million of
 * them take the memory of ten.
 */
#include "lib/watch/watch.h"

#include <math.h>
#include <time.h>

#include "lib/base/heap.h"
#include "lib/base/options.h"
#include "lib/io/system.h"

static const struct mf_watch_threshold usual[MF_WATCH_KINDS] = {
    /* Linux since 6.2 adds resident memory up only now and then, and malloc
     * finds other places for the same blocks. */
    [MF_WATCH_RESIDENT] = { .growth = 64 * 1024, .per_round = 1 },
};

static const char *const names[MF_WATCH_KINDS] = {
    [MF_WATCH_HEAP] = "library_heap", [MF_WATCH_OWN] = "own",
    [MF_WATCH_RESIDENT] = "resident", [MF_WATCH_FILES] = "open_files",
    [MF_WATCH_THREADS] = "threads",
};

static uint64_t nanoseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- opening ---- */

static uint64_t system_limit(const struct mf_env *env, enum mf_watch_kind kind)
{
    size_t heap = kind == MF_WATCH_HEAP ? env->heap.limit : 0;
    uint64_t memory;

    if (kind == MF_WATCH_FILES)
        return mf_self_file_limit();
    if (kind == MF_WATCH_THREADS)
        return mf_self_thread_limit();
    memory = mf_self_memory_limit();
    return heap > 0 && heap < memory ? heap : memory;
}

static void set_up(struct mf_watch *watch, const struct mf_watch_options *how)
{
    for (size_t i = 0; i < MF_WATCH_KINDS; i++) {
        struct mf_watched *row = &watch->row[i];
        uint64_t own = i < how->limit_count ? how->limits[i] : 0;

        row->slope.rounds = watch->rounds;
        row->threshold =
            i < how->threshold_count ? how->thresholds[i] : usual[i];
        row->limit = i == MF_WATCH_OWN
                         ? UINT64_MAX
                         : system_limit(watch->env, (enum mf_watch_kind)i);
        if (own > 0 && own < row->limit)
            row->limit = own;
    }
}

static enum mf_status check(struct mf_env *env,
                            const struct mf_watch_options *how)
{
    MF_NEED(env, how->thresholds || how->threshold_count == 0);
    MF_NEED(env, how->limits || how->limit_count == 0);
    if (how->rounds > 0 && how->rounds < MF_WATCH_LEAST)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "%" PRIu64 " rounds do not tell a leak from chance: at "
                       "least %d are needed",
                       how->rounds, MF_WATCH_LEAST);
    for (size_t i = 0; i < how->threshold_count && i < MF_WATCH_KINDS; i++)
        if (!(how->thresholds[i].per_round >= 0))
            return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                           "the threshold of '%s' is not a number from 0 on",
                           names[i]);
    return MF_OK;
}

static enum mf_status open_power(struct mf_watch *watch,
                                 const struct mf_watch_options *how)
{
    const char *power = how->power ? how->power : "none";

    if (mf_power_open(&watch->power, power, how->power_root,
                      nanoseconds() / 1000))
        return MF_OK;
    mf_power_close(&watch->power);
    return mf_fail(watch->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                   "power comes from 'auto', 'none' or 'mock:WATTS', not from "
                   "'%s'",
                   mf_quote((struct mf_str){ power, strlen(power) }).text);
}

/* Looking takes a descriptor, and must not fail where all others leaked. */
static void keep_spare(struct mf_watch *watch, bool keep)
{
    if (keep)
        watch->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    else if (watch->spare >= 0)
        close(watch->spare);
}

enum mf_status mf_watch_open(struct mf_env *env,
                             const struct mf_watch_options *options,
                             struct mf_watch **out)
{
    MF_NEED(NULL, env);
    MF_NEED(env, out);

    struct mf_watch_options how = { 0 };
    struct mf_watch *watch;
    uint64_t rounds, size;

    mf_clear_error(env);
    if (mf_options_take(env, &how, sizeof(how), options) != MF_OK ||
        check(env, &how) != MF_OK)
        return env->error.status;
    rounds = how.rounds > 0 ? how.rounds : MF_WATCH_LEAST;
    if (!mf_mul(how.times ? rounds : 0, sizeof(double), &size) ||
        !mf_add(size, sizeof(*watch), &size) || size > SIZE_MAX ||
        rounds > UINT64_MAX - how.warm_up)
        return mf_fail(env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "%" PRIu64 " rounds are too many", rounds);
    watch = mf_alloc(env, (size_t)size);
    if (!watch)
        return env->error.status;
    *watch = (struct mf_watch){ .env = env,
                                .size = (size_t)size,
                                .rounds = rounds,
                                .warm_up = how.warm_up,
                                .own = how.own,
                                .own_user = how.own_user,
                                .keep_times = how.times };
    set_up(watch, &how);
    keep_spare(watch, true);
    if (open_power(watch, &how) != MF_OK) {
        keep_spare(watch, false);
        mf_release(env, watch, watch->size);
        return env->error.status;
    }
    mf_env_hold(env);
    *out = watch;
    return MF_OK;
}

void mf_watch_close(struct mf_watch *watch)
{
    struct mf_env *env = watch ? watch->env : NULL;

    if (!watch)
        return;
    keep_spare(watch, false);
    mf_power_close(&watch->power);
    mf_release(env, watch, watch->size);
    mf_env_leave(env);
}

/* ---- rounds ---- */

static bool counts(const struct mf_watch *watch)
{
    return watch->done >= watch->warm_up;
}

/* A counter of energy gives the energy since its last reading: before the first
 * round that belongs to no round, however often reading fails. */
static void sample(struct mf_watch *watch, uint64_t now)
{
    struct mf_energy *const sums[] = { &watch->energy };
    uint64_t read = watch->power.read_us;
    bool counter = watch->power.kind == MF_POWER_RAPL;

    mf_power_sample(&watch->power, now / 1000, sums,
                    counter && !watch->sampled ? 0 : 1);
    watch->sampled = watch->sampled || watch->power.read_us != read;
}

bool mf_watch_begin(struct mf_watch *watch)
{
    if (!watch || watch->done == watch->warm_up + watch->rounds)
        return false;
    if (counts(watch))
        sample(watch, nanoseconds());
    watch->in_round = true;
    watch->begun = nanoseconds();
    return true;
}

static void set(struct mf_watch *watch, enum mf_watch_kind kind, uint64_t now,
                uint64_t most)
{
    struct mf_watched *row = &watch->row[kind];

    row->known = true;
    row->high_water = most > row->high_water ? most : row->high_water;
    row->high_water = now > row->high_water ? now : row->high_water;
    if (counts(watch))
        mf_slope_add(&row->slope, now);
}

static void look(struct mf_watch *watch)
{
    const struct mf_heap *heap = &watch->env->heap;
    uint64_t now, most = 0;
    struct mf_self self;
    bool known;

    set(watch, MF_WATCH_HEAP, heap->live, heap->peak);
    if (watch->own && watch->own(watch->own_user, &now, &most))
        set(watch, MF_WATCH_OWN, now, most);
    keep_spare(watch, false);
    known = mf_self_look(&self);
    keep_spare(watch, true);
    if (!known)
        return;
    set(watch, MF_WATCH_RESIDENT, self.resident, 0);
    set(watch, MF_WATCH_FILES, self.files, 0);
    set(watch, MF_WATCH_THREADS, self.threads, 0);
}

void mf_watch_end(struct mf_watch *watch)
{
    uint64_t now;

    if (!watch || !watch->in_round)
        return;
    now = nanoseconds();
    if (counts(watch)) {
        if (watch->keep_times)
            watch->time[watch->time_count++] = (double)(now - watch->begun);
        sample(watch, now);
    }
    look(watch);
    watch->in_round = false;
    watch->done++;
}

/* ---- what came out ---- */

/* How often the slope fits what is left below the limit. */
static uint64_t rounds_left(const struct mf_watch_count *count)
{
    double left;

    if (!count->leaks || count->limit == UINT64_MAX)
        return UINT64_MAX;
    if (count->limit <= count->high_water || !(count->per_round > 0))
        return 0;
    left = floor((double)(count->limit - count->high_water) / count->per_round);
    return left < 0x1p63 ? (uint64_t)left : UINT64_MAX;
}

/* Growth ends at a limit: no quarter is above the one before then.  A process
 * at its limit of descriptors lacks the one that looking takes. */
static bool is_at_limit(const struct mf_watch_count *count, size_t kind)
{
    uint64_t last = count->last + (kind == MF_WATCH_FILES);

    return count->complete && last >= count->limit && last > count->first;
}

bool mf_watch_count_at(const struct mf_watch *watch, size_t index,
                       struct mf_watch_count *out)
{
    const struct mf_watched *row;

    if (!watch || index >= MF_WATCH_KINDS || !out)
        return false;
    row = &watch->row[index];
    *out = (struct mf_watch_count){ .name = names[index],
                                    .known = row->known,
                                    .limit = UINT64_MAX,
                                    .rounds_left = UINT64_MAX };
    if (!row->known)
        return true;
    out->rounds = row->slope.count;
    out->first = row->slope.first;
    out->last = row->slope.last;
    out->high_water = row->high_water;
    out->per_round = mf_slope_of(&row->slope);
    out->limit = row->limit;
    out->complete = row->slope.count == row->slope.rounds;
    out->leaks = mf_slope_leaks(&row->slope, row->threshold.growth,
                                row->threshold.per_round) ||
                 is_at_limit(out, index);
    out->rounds_left = rounds_left(out);
    return true;
}

bool mf_watch_times(struct mf_watch *watch, struct mf_watch_times *out)
{
    if (!watch || !out || !watch->keep_times)
        return false;
    *out = mf_times_of(watch->time, watch->time_count);
    return true;
}

bool mf_watch_energy(const struct mf_watch *watch, struct mf_watch_energy *out)
{
    const struct mf_energy *energy = watch ? &watch->energy : NULL;

    if (!energy || !out)
        return false;
    *out = (struct mf_watch_energy){ .status = mf_power_status(&watch->power,
                                                               energy) };
    if (strcmp(out->status, "measured") != 0)
        return true;
    out->samples = energy->samples;
    out->joules = energy->joules;
    out->seconds = mf_energy_seconds(energy);
    out->mean_watts = mf_energy_mean_watts(energy);
    out->peak_watts = energy->peak;
    return true;
}
