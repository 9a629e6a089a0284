/* SPDX-License-Identifier: MIT
 *
 * profile.c - counting blocks by the stack of calls that made them
 */
#include "lib/profile/profile.h"

#include <assert.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GLIBC__) || defined(__APPLE__)
#include <execinfo.h>

#define HAS_BACKTRACE
#endif

#include "lib/base/options.h"
#include "lib/profile/view.h"

/* ---- which calls led here ---- */

/* backtrace() follows the tables that exceptions need, which every object has,
 * whatever it was compiled with.  Frame pointers would be faster to follow, but
 * the C library and optimized code keep none.  Without backtrace() there is
 * only the innermost call. */

/* Those between the one that is wanted and backtrace itself: they are of the
 * profile and of the malloc that it watches. */
#define INNER_MAX 16

#if defined(HAS_BACKTRACE)

/* backtrace() loads a library when it is called first.  If that fails, it would
 * try again, and allocate, in each capture: which would capture that. */
static bool is_loaded;

void mf_stack_prepare(void)
{
    void *address[1];

    is_loaded = backtrace(address, 1) > 0;
}

static size_t capture(void **address, size_t room)
{
    int count = is_loaded ? backtrace(address, (int)room) : 0;

    return count > 0 ? (size_t)count : 0;
}

#else

void mf_stack_prepare(void)
{
}

static size_t capture(void **address, size_t room)
{
    (void)address;
    (void)room;
    return 0;
}

#endif

void mf_stack_capture(struct mf_stack *stack, const void *caller)
{
    void *address[MF_STACK_MAX + INNER_MAX];
    size_t count = capture(address, MF_STACK_MAX + INNER_MAX), first = 0;

    while (first < count && first < INNER_MAX && address[first] != caller)
        first++;
    if (first == count || first == INNER_MAX) {
        stack->call[0] = (uintptr_t)caller - 1;
        stack->count = 1;
        return;
    }
    stack->count = 0;
    for (; first < count && stack->count < MF_STACK_MAX; first++)
        stack->call[stack->count++] = (uintptr_t)address[first] - 1;
}

/* ---- counting blocks by the stack of calls that made them ---- */

/* What a block keeps: the point that made it, plus one, and when: 2^40
 * microseconds are 12 days. */
#define TIME_BITS  40
#define TIME_MASK  ((UINT64_C(1) << TIME_BITS) - 1)
#define POINTS_MAX ((UINT64_C(1) << (64 - TIME_BITS)) - 2)

uint64_t mf_profile_time(const struct mf_profile *profile)
{
    struct timespec now = { 0 };

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)(now.tv_sec - profile->started.tv_sec) * 1000000 +
           (uint64_t)(now.tv_nsec / 1000) -
           (uint64_t)(profile->started.tv_nsec / 1000);
}

/* ---- one thread at a time ---- */

static void enter(struct mf_profile *profile)
{
    while (
        atomic_flag_test_and_set_explicit(&profile->busy, memory_order_acquire))
        sched_yield();
}

static void leave(struct mf_profile *profile)
{
    atomic_flag_clear_explicit(&profile->busy, memory_order_release);
}

/* ---- addresses ---- */

static uint64_t hash_of_call(const void *table, uint32_t row)
{
    return mf_profile_ids_mix((const uintptr_t *)table + row,
                              sizeof(uintptr_t));
}

static bool is_call(const void *table, uint32_t row, const void *key)
{
    return ((const uintptr_t *)table)[row] == *(const uintptr_t *)key;
}

static bool find_call(struct mf_profile *profile, uintptr_t call, uint32_t *out)
{
    void *table = profile->call;
    uint32_t *slot;

    if (!mf_profile_ids_grow(profile->env, &profile->call_ids, table,
                             hash_of_call))
        return false;
    slot =
        mf_profile_ids_find(&profile->call_ids, table, &call,
                            mf_profile_ids_mix(&call, sizeof(call)), is_call);
    if (*slot == 0) {
        if (!mf_table_grow(profile->env, &table, &profile->call_room,
                           profile->call_count, sizeof(call)))
            return false;
        profile->call = table;
        profile->call[profile->call_count] = call;
        *slot = (uint32_t)++profile->call_count;
        profile->call_ids.count++;
    }
    *out = *slot - 1;
    return true;
}

/* ---- points ---- */

/* A stack as rows of the table of addresses. */
struct key {
    uint32_t call[MF_STACK_MAX];
    size_t count;
};

static uint64_t hash_of_point(const void *table, uint32_t row)
{
    const struct mf_point *point = (const struct mf_point *)table + row;

    return mf_profile_ids_mix(point->call,
                              point->call_count * sizeof(*point->call));
}

static bool is_point(const void *table, uint32_t row, const void *key)
{
    const struct mf_point *point = (const struct mf_point *)table + row;
    const struct key *wanted = key;

    return point->call_count == wanted->count &&
           memcmp(point->call, wanted->call,
                  wanted->count * sizeof(*wanted->call)) == 0;
}

static bool add_point(struct mf_profile *profile, const struct key *key)
{
    size_t size = key->count * sizeof(*key->call);
    uint32_t *call = mf_arena_take(&profile->arena, size);
    void *table = profile->point;

    if (!call || profile->point_count >= POINTS_MAX ||
        !mf_table_grow(profile->env, &table, &profile->point_room,
                       profile->point_count, sizeof(*profile->point)))
        return false;
    profile->point = table;
    memcpy(call, key->call, size);
    profile->point[profile->point_count++] = (struct mf_point){
        .call = call, .call_count = (uint32_t)key->count, .peak = profile->peak
    };
    return true;
}

/* The point of a stack; the first one if there is no memory for it. */
static uint32_t find_point(struct mf_profile *profile,
                           const struct mf_stack *stack)
{
    struct key key = { .count = stack->count };
    uint32_t *slot;

    for (size_t i = 0; i < key.count; i++)
        if (!find_call(profile, stack->call[i], &key.call[i]))
            return 0;
    if (!mf_profile_ids_grow(profile->env, &profile->point_ids, profile->point,
                             hash_of_point))
        return 0;
    slot = mf_profile_ids_find(
        &profile->point_ids, profile->point, &key,
        mf_profile_ids_mix(key.call, key.count * sizeof(*key.call)), is_point);
    if (*slot == 0) {
        if (!add_point(profile, &key))
            return 0;
        *slot = (uint32_t)profile->point_count;
        profile->point_ids.count++;
    }
    return *slot - 1;
}

/* ---- blocks ---- */

struct mf_blocks mf_point_at_peak(const struct mf_profile *profile,
                                  const struct mf_point *point)
{
    return point->peak == profile->peak ? point->at_peak : point->live;
}

static void change_point(struct mf_profile *profile, struct mf_point *point,
                         size_t old_size, size_t new_size)
{
    point->at_peak = mf_point_at_peak(profile, point);
    point->peak = profile->peak;
    point->live.bytes += new_size - old_size;
    point->live.blocks += (size_t)(old_size == 0) - (size_t)(new_size == 0);
    if (new_size == 0)
        return;
    point->total_bytes += new_size;
    point->total_blocks++;
    if (point->live.bytes >= point->most.bytes)
        point->most = point->live;
}

static void change_all(struct mf_profile *profile, size_t old_size,
                       size_t new_size, uint64_t now)
{
    struct mf_heap_stats *stats = &profile->stats;

    stats->live += new_size - old_size;
    stats->live_blocks += (size_t)(old_size == 0) - (size_t)(new_size == 0);
    if (new_size == 0)
        return;
    stats->total_bytes += new_size;
    stats->allocations++;
    if (stats->live < stats->peak)
        return;
    stats->peak = stats->live;
    stats->peak_blocks = stats->live_blocks;
    profile->peak++;
    profile->peak_time = now;
}

/* A block stays with the point that made it, also when it is moved. */
uint64_t mf_profile_change(void *user, uint64_t tag, size_t old_size,
                           size_t new_size, const void *caller)
{
    struct mf_profile *profile = user;
    uint64_t now = mf_profile_time(profile) & TIME_MASK;
    struct mf_stack stack;
    struct mf_point *point;

    if (tag == 0)
        mf_stack_capture(&stack, caller);
    enter(profile);
    if (tag == 0) {
        uint64_t id = find_point(profile, &stack);

        tag = (id + 1) << TIME_BITS | now;
        profile->point[id].lifetimes -= now;
    }
    point = &profile->point[(tag >> TIME_BITS) - 1];
    change_point(profile, point, old_size, new_size);
    change_all(profile, old_size, new_size, now);
    if (new_size == 0)
        point->lifetimes += now;
    leave(profile);
    return tag;
}

void mf_profile_stats(struct mf_profile *profile, struct mf_heap_stats *out)
{
    if (!out)
        return;
    *out = (struct mf_heap_stats){ 0 };
    if (!profile)
        return;
    enter(profile);
    *out = profile->stats;
    leave(profile);
}

/* ---- the profile itself ---- */

struct mf_profile *mf_profile_new(const struct mf_profile_options *options)
{
    struct mf_profile_options known;
    struct mf_options own = { .size = sizeof(own), .threads = 1 };
    struct mf_env *env;
    struct mf_profile *profile;

    if (!mf_options_copy(&known, sizeof(known), options))
        return NULL;
    own.allocator = known.allocator;
    env = mf_env_make(&own, 0);
    profile = env ? mf_alloc(env, sizeof(*profile)) : NULL;
    if (!profile) {
        mf_env_free(env);
        return NULL;
    }
    *profile = (struct mf_profile){ .env = env,
                                    .allocator = env->heap.allocator,
                                    .options = known,
                                    .busy = ATOMIC_FLAG_INIT };
    mf_arena_init(&profile->arena, env);
    /* The first point is there whatever happens. */
    if (!add_point(profile, &(struct key){ .count = 0 })) {
        mf_profile_free(profile);
        return NULL;
    }
    mf_stack_prepare();
    clock_gettime(CLOCK_MONOTONIC, &profile->started);
    return profile;
}

void mf_profile_free(struct mf_profile *profile)
{
    struct mf_env *env;

    if (!profile)
        return;
    if (profile->first)
        mf_profile_env_freed(profile); /* too early: something is open */
    env = profile->env;
    mf_profile_view_free(profile);
    mf_arena_release(&profile->arena);
    mf_profile_ids_release(env, &profile->call_ids);
    mf_profile_ids_release(env, &profile->point_ids);
    mf_release(env, profile->call, profile->call_room * sizeof(uintptr_t));
    mf_release(env, profile->point,
               profile->point_room * sizeof(*profile->point));
    mf_release(env, profile, sizeof(*profile));
    mf_env_free(env);
}

/* ---- expectations of tests, which leave the profile when they fail ---- */

bool mf_profile_expect(struct mf_profile *profile, bool holds,
                       const char *expectation)
{
    const char *text = expectation ? expectation : "";
    struct mf_quoted quoted;

    if (!profile || profile->is_over)
        return false;
    if (holds)
        return true;
    profile->is_over = true;
    if (profile->options.path &&
        mf_profile_write(profile, profile->options.path) != MF_OK)
        return false;
    mf_clear_error(profile->env);
    quoted = mf_quote((struct mf_str){ text, strlen(text) });
    mf_fail(profile->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
            "the expectation '%s' does not hold", quoted.text);
    return false;
}
