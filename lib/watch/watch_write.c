/* SPDX-License-Identifier: MIT
 *
 * watch_write.c - what a watch has found, as a file
 */
#include <assert.h>

#include "lib/base/error.h"
#include "lib/watch/watch.h"

/* Above the size of the document: each number has at most 24 digits, and all
 * texts are the library's own. */
struct text {
    char at[8192];
    size_t size;
};

static void take(void *user, const char *at, size_t size)
{
    struct text *text = user;

    assert(size <= sizeof(text->at) - text->size);
    memcpy(text->at + text->size, at, size);
    text->size += size;
}

static void number(struct mf_json_out *json, const char *key, uint64_t value)
{
    mf_json_key(json, key);
    mf_json_u64(json, value);
}

static void number_or_null(struct mf_json_out *json, const char *key,
                           uint64_t value)
{
    mf_json_key(json, key);
    if (value != UINT64_MAX)
        mf_json_u64(json, value);
    else
        mf_json_null(json);
}

static void real(struct mf_json_out *json, const char *key, double value)
{
    mf_json_key(json, key);
    mf_json_f64(json, value);
}

static void flag(struct mf_json_out *json, const char *key, bool value)
{
    mf_json_key(json, key);
    mf_json_bool(json, value);
}

static void text(struct mf_json_out *json, const char *key, const char *value)
{
    mf_json_key(json, key);
    mf_json_string(json, value, strlen(value));
}

static void count_json(struct mf_json_out *json,
                       const struct mf_watch_count *count)
{
    mf_json_begin(json, '{');
    text(json, "count", count->name);
    number(json, "rounds", count->rounds);
    flag(json, "complete", count->complete);
    number(json, "first", count->first);
    number(json, "last", count->last);
    number(json, "high_water", count->high_water);
    real(json, "per_round", count->per_round);
    number_or_null(json, "limit", count->limit);
    number_or_null(json, "rounds_left", count->rounds_left);
    flag(json, "leaks", count->leaks);
    mf_json_end(json, '}');
}

static void counts_json(struct mf_json_out *json, const struct mf_watch *watch)
{
    struct mf_watch_count count;
    bool leaks = false, complete = true;

    for (size_t i = 0; mf_watch_count_at(watch, i, &count); i++)
        complete = complete && (!count.known || count.complete);
    number(json, "rounds", watch->rounds);
    number(json, "warm_up", watch->warm_up);
    flag(json, "complete", complete);
    mf_json_key(json, "counts");
    mf_json_begin(json, '[');
    for (size_t i = 0; mf_watch_count_at(watch, i, &count); i++) {
        if (count.known)
            count_json(json, &count);
        leaks = leaks || count.leaks;
    }
    mf_json_end(json, ']');
    flag(json, "leaks", leaks);
}

static void times_json(struct mf_json_out *json, struct mf_watch *watch)
{
    struct mf_watch_times times;

    mf_json_key(json, "times");
    if (!mf_watch_times(watch, &times)) {
        mf_json_null(json);
        return;
    }
    mf_json_begin(json, '{');
    number(json, "count", times.count);
    real(json, "p50_ns", times.p50);
    real(json, "p95_ns", times.p95);
    real(json, "p99_ns", times.p99);
    real(json, "mean_ns", times.mean);
    real(json, "std_ns", times.std);
    mf_json_end(json, '}');
}

static void energy_json(struct mf_json_out *json, const struct mf_watch *watch)
{
    struct mf_watch_energy energy;

    mf_watch_energy(watch, &energy);
    mf_json_key(json, "energy");
    mf_json_begin(json, '{');
    text(json, "status", energy.status);
    number(json, "samples", energy.samples);
    real(json, "joules", energy.joules);
    real(json, "seconds", energy.seconds);
    real(json, "mean_watts", energy.mean_watts);
    real(json, "peak_watts", energy.peak_watts);
    mf_json_end(json, '}');
}

enum mf_status mf_watch_write(struct mf_watch *watch, const char *path,
                              bool replace)
{
    MF_NEED(NULL, watch);
    MF_NEED(watch->env, path);

    struct text document = { .size = 0 };
    struct mf_json_out json = { .write = take, .user = &document };

    mf_json_begin(&json, '{');
    counts_json(&json, watch);
    times_json(&json, watch);
    energy_json(&json, watch);
    mf_json_end(&json, '}');
    take(&document, "\n", 1);
    return mf_file_write(watch->env, path, replace, document.at, document.size);
}
