/* SPDX-License-Identifier: MIT
 *
 * kernels.c - every type on every instruction set, and memset and memcpy
 *
 * An operation is a batch: BATCH_ROWS rows of COLUMNS numbers.  A round has as
 * many batches as take BENCH_ROUND, shared between the threads.  Batches walk
 * through buffers larger than any cache, and a round continues where the last
 * one ended, so that data come from memory and not from a cache.
 */
#include <math.h>
#include <stdio.h>

#include "cli/measure/bench/bench.h"
#include "cli/measure/record.h"
#include "cli/report.h"

#define COLUMNS       ((size_t)4096) /* the width of a model of 7B */
#define BATCH_ROWS    ((size_t)4)
#define BATCH         (BATCH_ROWS * COLUMNS)
#define ROUND_MAX     8192
#define NOISE_BATCHES ((size_t)16) /* of numbers, then they repeat */
#define LINE          ((size_t)64)
#define DEFAULT_SIZE  ((uint64_t)64 * 1024 * 1024)

enum work { SET, COPY, ENCODE, ENCODE_WEIGHTED, DECODE, WORKS };

static const char *const work_names[WORKS] = {
    "memset", "memcpy", "encode", "encode_weighted", "decode",
};

/* memset and memcpy move floats as they are. */
static const struct mf_kernel plain = { .block = 1, .size = sizeof(float) };

struct stretch {
    uint64_t start, end;
};

/* One thread, and all of them. */
#define TEAMS 2

struct team {
    struct mf_env *env;
    size_t threads;
    double rate[WORKS]; /* of SET and COPY */
};

struct bench {
    struct run *run;
    struct team team[TEAMS];
    size_t team_count;
    size_t batches;
    float *floats, *weights;
    uint8_t *blocks;
    struct stretch *stretch; /* ROUND_MAX */
    size_t position;         /* the next batch */
    uint8_t *memory;         /* of all these */
    size_t memory_size;
};

struct round {
    struct bench *bench;
    struct mf_env *env; /* of the team */
    const struct mf_kernel *kernel;
    enum work work;
};

static size_t row_size(const struct mf_kernel *kernel)
{
    return kernel->prefix + COLUMNS / kernel->block * kernel->size;
}

/* ---- one operation ---- */

static void work_on(const struct round *round, float *floats, uint8_t *blocks)
{
    const struct mf_kernel *kernel = round->kernel;
    const float *weights = round->work == ENCODE ? NULL : round->bench->weights;

    if (round->work == SET)
        memset(floats, 1, COLUMNS * sizeof(float));
    else if (round->work == COPY)
        memcpy(blocks, floats, COLUMNS * sizeof(float));
    else if (round->work == DECODE)
        kernel->decode(blocks, floats, COLUMNS);
    else if (kernel->encode)
        kernel->encode(floats, weights, blocks, COLUMNS);
    else
        mf_env_encode(round->env, kernel, floats, weights, blocks, COLUMNS);
}

static void run_batch(void *user, size_t index)
{
    const struct round *round = user;
    const struct bench *bench = round->bench;
    struct stretch *stretch = &bench->stretch[index];
    size_t size = row_size(round->kernel);
    size_t row = (bench->position + index) % bench->batches * BATCH_ROWS;

    stretch->start = bench_now();
    for (size_t i = row; i < row + BATCH_ROWS; i++)
        work_on(round, bench->floats + i * COLUMNS, bench->blocks + i * size);
    stretch->end = bench_now();
}

/* ---- rounds ---- */

/* Nanoseconds from the first start to the last end; 0 after bench_failure. */
static double run_round(struct round *round, const struct team *team,
                        size_t count)
{
    struct bench *bench = round->bench;
    uint64_t start = UINT64_MAX, end = 0;

    if (mf_env_share(team->env, count, run_batch, round) != MF_OK) {
        bench_failure(bench->run, team->env, NULL);
        return 0;
    }
    bench->position = (bench->position + count) % bench->batches;
    for (size_t i = 0; i < count; i++) {
        const struct stretch *each = &bench->stretch[i];

        start = each->start < start ? each->start : start;
        end = each->end > end ? each->end : end;
    }
    return (double)(end > start ? end - start : 1);
}

/* How many batches take as long as a round should. */
static size_t count_for(double taken, size_t batches, size_t threads)
{
    double count = BENCH_ROUND / taken * (double)batches;

    if (count > ROUND_MAX)
        return ROUND_MAX;
    return count > (double)threads ? (size_t)count : threads;
}

/* False after a report. */
static bool measure(struct round *round, struct team *team,
                    struct bench_row *row)
{
    struct bench *bench = round->bench;
    size_t rounds = (size_t)bench_options.rounds;
    size_t count = 4 * team->threads, used = 0, size;
    double taken = run_round(round, team, count), *times, *rates;

    if (taken <= 0)
        return false;
    count = count_for(taken, count, team->threads);
    size = rounds * (count + 1) * sizeof(double);
    times = mf_env_resize(team->env, NULL, 0, size);
    if (!times) {
        bench_failure(bench->run, team->env, NULL);
        return false;
    }
    rates = times + rounds * count;
    for (size_t i = 0; i < rounds && taken > 0; i++) {
        taken = run_round(round, team, count);
        rates[i] = (double)(count * BATCH * sizeof(float)) / taken;
        record_sample(bench->run, taken,
                      round->work >= ENCODE ? (uint64_t)taken : 0,
                      count * BATCH);
        for (size_t j = 0; j < count; j++)
            times[used++] =
                (double)(bench->stretch[j].end - bench->stretch[j].start);
    }
    bench_times(row, times, used);
    bench_sort(rates, rounds);
    row->rate = bench_percentile(rates, rounds, 50);
    mf_env_resize(team->env, times, size, 0);
    return taken > 0;
}

/* "decode_q4_k_avx2_t2" */
static void record_row(const struct bench_row *row)
{
    char setting[80];

    snprintf(setting, sizeof(setting), "%s%s%s%s%s_t%zu", row->work,
             row->type ? "_" : "", row->type ? row->type : "",
             row->isa ? "_" : "", row->isa ? row->isa : "", row->threads);
    record_result(&(struct record_result){ .setting = setting,
                                           .coherence_delta = NAN,
                                           .kv_cache_reduction = NAN,
                                           .peak_mem_reduction = NAN,
                                           .energy_reduction = NAN,
                                           .p95_latency_us = row->p95 / 1e3,
                                           .accuracy = NAN });
}

/* A type on a grid has its tables before it is measured. */
static bool make_tables(struct bench *bench, const struct mf_kernel *kernel,
                        enum work work, struct mf_env *env)
{
    if (work < ENCODE || work == DECODE || kernel->encode ||
        mf_env_encode(env, kernel, bench->floats, bench->weights, bench->blocks,
                      COLUMNS) == MF_OK)
        return true;
    bench_failure(bench->run, env, NULL);
    return false;
}

static bool measure_row(struct bench *bench, const struct mf_kernel *kernel,
                        enum work work, struct team *team)
{
    struct round round = { bench, team->env, kernel, work };
    struct bench_row row = { .work = work_names[work],
                             .type = kernel->type,
                             .isa = kernel->isa,
                             .threads = team->threads };

    if (!make_tables(bench, kernel, work, team->env) ||
        !measure(&round, team, &row))
        return false;
    team->rate[work] = row.rate;
    if (work == DECODE)
        row.share = row.rate / team->rate[SET];
    else if (work >= ENCODE)
        row.share = row.rate / team->rate[COPY];
    bench_print(bench->run, BENCH_KERNELS, &row);
    record_row(&row);
    return true;
}

/* ---- data ---- */

/* Decoding has overwritten the floats. */
static void fill_floats(struct bench *bench)
{
    size_t noise = NOISE_BATCHES * BATCH;

    bench_noise(bench->floats, noise);
    for (size_t i = noise; i < bench->batches * BATCH; i += noise)
        memcpy(bench->floats + i, bench->floats, noise * sizeof(float));
    for (size_t i = 0; i < COLUMNS; i++)
        bench->weights[i] = bench->floats[i] * bench->floats[i];
}

static bool does(const struct mf_kernel *kernel, enum work work)
{
    bool weights_needed;

    if (work == DECODE)
        return true;
    return mf_kernel_encodes(kernel, &weights_needed) &&
           (work == ENCODE_WEIGHTED || !weights_needed);
}

/* Blocks to decode: copies of one encoded row, or of any bytes for a type
 * without an encoder. */
static void fill_blocks(struct bench *bench, const struct mf_kernel *kernel)
{
    size_t size = row_size(kernel);

    if (does(kernel, ENCODE_WEIGHTED))
        mf_env_encode(bench->run->env, kernel, bench->floats, bench->weights,
                      bench->blocks, COLUMNS);
    else
        memcpy(bench->blocks, bench->floats, size);
    for (size_t i = 1; i < bench->batches * BATCH_ROWS; i++)
        memcpy(bench->blocks + i * size, bench->blocks, size);
}

/* ---- all kernels ---- */

static bool is_wanted(const char *type)
{
    const struct text_list *types = &bench_options.types;

    for (size_t i = 0; i < types->count; i++)
        if (strcmp(types->at[i], type) == 0)
            return true;
    return types->count == 0;
}

/* The kernel of the set with that index; false past the last.  One that is not
 * wanted has no type. */
static bool kernel_at(const char *type, size_t index, struct mf_kernel *out)
{
    const char *isa = mf_isa_at(index), *only = bench_options.isa;

    out->type = NULL;
    if (isa && (!only || strcmp(only, isa) == 0))
        mf_kernel_find(type, isa, out);
    return isa != NULL;
}

static bool measure_work(struct bench *bench, const char *type, enum work work)
{
    struct mf_kernel kernel;

    for (size_t i = 0; kernel_at(type, i, &kernel); i++)
        for (size_t j = 0; kernel.type && j < bench->team_count; j++)
            if (does(&kernel, work) &&
                !measure_row(bench, &kernel, work, &bench->team[j]))
                return false;
    return true;
}

static bool measure_all(struct bench *bench)
{
    struct mf_type_info type;
    struct mf_kernel kernel;

    for (size_t j = 0; j < bench->team_count; j++)
        if (!measure_row(bench, &plain, SET, &bench->team[j]) ||
            !measure_row(bench, &plain, COPY, &bench->team[j]))
            return false;
    for (size_t i = 0; mf_type_at(i, &type); i++) {
        if (!is_wanted(type.name) || !mf_kernel_find(type.name, NULL, &kernel))
            continue;
        fill_floats(bench);
        if (!measure_work(bench, type.name, ENCODE) ||
            !measure_work(bench, type.name, ENCODE_WEIGHTED))
            return false;
        fill_blocks(bench, &kernel);
        if (!measure_work(bench, type.name, DECODE))
            return false;
    }
    return true;
}

/* ---- memory ---- */

/* Bytes of the longest row of a type that is wanted. */
static size_t longest_row(void)
{
    size_t longest = row_size(&plain);
    struct mf_type_info type;
    struct mf_kernel kernel;

    for (size_t i = 0; mf_type_at(i, &type); i++)
        if (is_wanted(type.name) && mf_kernel_find(type.name, NULL, &kernel) &&
            row_size(&kernel) > longest)
            longest = row_size(&kernel);
    return longest;
}

static bool make_teams(struct bench *bench)
{
    size_t all = mf_env_threads(bench->run->env);

    bench->team[0].threads = 1;
    bench->team[1].threads = all;
    bench->team_count = all > 1 ? TEAMS : 1;
    for (size_t i = 0; i < bench->team_count; i++) {
        bench->team[i].env = bench_env(bench->run, bench->team[i].threads);
        if (!bench->team[i].env)
            return false;
    }
    return true;
}

/* More batches than threads, so that no two threads work on the same one. */
static size_t batches_for(uint64_t size, size_t threads)
{
    uint64_t batches = size / (BATCH * sizeof(float));
    uint64_t least = 2 * threads > NOISE_BATCHES ? 2 * threads : NOISE_BATCHES;

    if (batches < least)
        batches = least;
    return (size_t)((batches + NOISE_BATCHES - 1) / NOISE_BATCHES *
                    NOISE_BATCHES);
}

/* The next size bytes of the memory, up to the end of their cache line: the
 * library's own buffers begin on one, too. */
static void *carve(uint8_t **at, size_t size)
{
    uint8_t *part = *at;

    *at += (size + LINE - 1) / LINE * LINE;
    return part;
}

static bool allocate(struct bench *bench)
{
    uint64_t wanted = bench_options.size;
    size_t threads = bench->team[bench->team_count - 1].threads;
    size_t floats, blocks;
    uint8_t *at;

    bench->batches = batches_for(wanted > 0 ? wanted : DEFAULT_SIZE, threads);
    floats = bench->batches * BATCH * sizeof(float);
    blocks = bench->batches * BATCH_ROWS * longest_row();
    bench->memory_size = floats + blocks + COLUMNS * sizeof(float) +
                         ROUND_MAX * sizeof(*bench->stretch) + 4 * LINE;
    bench->memory = mf_env_resize(bench->run->env, NULL, 0, bench->memory_size);
    if (!bench->memory) {
        report_failure(bench->run, NULL);
        return false;
    }
    /* Pages that were never written to would all be the same zero page. */
    memset(bench->memory, 1, bench->memory_size);
    at = bench->memory + (LINE - (uintptr_t)bench->memory % LINE);
    bench->floats = carve(&at, floats);
    bench->weights = carve(&at, COLUMNS * sizeof(float));
    bench->stretch = carve(&at, ROUND_MAX * sizeof(*bench->stretch));
    bench->blocks = carve(&at, blocks);
    fill_floats(bench);
    return true;
}

static void release(struct bench *bench)
{
    if (bench->memory)
        mf_env_resize(bench->run->env, bench->memory, bench->memory_size, 0);
    for (size_t i = 0; i < bench->team_count; i++)
        bench_env_free(bench->run, bench->team[i].env);
}

void bench_kernels(struct run *run)
{
    struct bench bench = { .run = run };

    record_own_samples();
    bench_begin(run, BENCH_KERNELS);
    if (make_teams(&bench) && allocate(&bench))
        measure_all(&bench);
    release(&bench);
    bench_end(run);
}
