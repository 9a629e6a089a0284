/* SPDX-License-Identifier: MIT
 *
 * bench.h - what the parts of modelfile bench share: times, and rows of figures
 */
#ifndef MF_CLI_BENCH_H
#define MF_CLI_BENCH_H

#include "cli/cli.h"

/* A figure is one row, whatever was measured.  Members that do not fit it are
 * zero. */
struct bench_row {
    const char *work;    /* "decode" */
    const char *type;    /* of the numbers, or a mix */
    const char *isa;     /* of a kernel */
    const char *program; /* where whole programs took turns */
    size_t threads;
    size_t operations;    /* that were timed: */
    double p50, p95, p99; /* nanoseconds of one */
    double rate;          /* bytes in a nanosecond: GB/s */
    double share;         /* of the rate of memset or memcpy */
    bool has_cost;        /* of memory: */
    uint64_t allocations, peak;
    double ratio;      /* of a peer's median to ours */
    const char *bytes; /* of both outputs: "same", "different" */
    const char *failed;
};

enum bench_table { BENCH_KERNELS, BENCH_MODEL, BENCH_PEERS };

/* A round has as many operations as are done in so many nanoseconds, but at
 * least one; on models no more than that in all rounds together. */
#define BENCH_ROUND 10000000
#define BENCH_RUNS  1000

/* ---- bench.c ---- */

/* Nanoseconds of the wall clock. */
uint64_t bench_now(void);

/* An env that ends work when a signal came; NULL after a sentence. */
struct mf_env *bench_env(struct run *run, size_t threads);

/* What it has read and written counts; NULL is allowed. */
void bench_env_free(struct run *run, struct mf_env *env);

/* As report_failure, of what that env says. */
void bench_failure(struct run *run, struct mf_env *env, const char *file);

/* Puts nanoseconds in order, and their percentiles into the row. */
void bench_times(struct bench_row *row, double *times, size_t count);

/* The smallest of sorted numbers that so many per cent do not exceed. */
double bench_percentile(const double *sorted, size_t count, unsigned percent);
void bench_sort(double *number, size_t count);

/* ---- tables.c ---- */

void bench_begin(struct run *run, enum bench_table table);
void bench_tell(struct run *run, enum bench_table table,
                const struct bench_row *row);
void bench_end(struct run *run);

/* The first line of all tables together. */
void bench_csv_heading(struct run *run);

/* ---- kernels.c ---- */

void bench_kernels(struct run *run);

/* ---- model.c, peers.c ---- */

/* A folder for files that are written, and ways into it. */
struct bench_folder {
    char path[4096 - 32], ours[4096], theirs[4096];
};

/* True while another run is wanted. */
bool bench_goes_on(const struct run *run, size_t runs, uint64_t started);

void bench_model(struct run *run, struct mf_model *model);

/* The environment names one. */
bool bench_has_peers(void);

/* For a signal handler: the one that is running has some time to end by itself,
 * as it has been told to. */
void bench_end_peer(void);

/* times has room for those of two programs. */
void bench_peers(struct run *run, const struct bench_folder *folder,
                 double *times, size_t room);

#endif
