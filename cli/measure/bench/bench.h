/* SPDX-License-Identifier: MIT
 *
 * bench.h - the parts of modelfile bench: options, times, rows of results
 *
 * kernels.c measures codecs, model.c whole operations on a model, peers.c whole
 * programs, leak.c what grows, alloc.c what single operations allocate
 * (probe.h). measure.c has what they need to time things, folder.c where they
 * write; tables.c prints.  grid.h has the parts for --record.
 */
#ifndef MF_CLI_BENCH_H
#define MF_CLI_BENCH_H

#include "cli/cli.h"

struct bench_options {
    uint64_t rounds;     /* 0: not given */
    uint64_t size;       /* bytes of floats for kernels; likewise */
    const char *isa;     /* NULL: all */
    const char *threads; /* "1,2"; NULL: not given */
    const char *verify;  /* a record; likewise */
    const char *imatrix; /* for --quantize; likewise */
    struct text_list types, mixes, works;
    bool csv, leak_check, alloc, scale;
    uint64_t ranks, disk, shared; /* for scale; likewise */
    const char *plot;             /* likewise */
};
extern struct bench_options bench_options; /* measure.c */

/* A result is one row of a table, whatever was measured.  Members that do not
 * apply are zero. */
struct bench_row {
    const char *work;    /* "decode" */
    const char *type;    /* a tensor type or a mix */
    const char *isa;     /* of a kernel */
    const char *program; /* for peers */
    size_t threads;
    size_t operations;    /* that were timed: */
    double p50, p95, p99; /* nanoseconds of one */
    double mean, std;     /* likewise; std of these times, not of a sample */
    double rate;          /* bytes per nanosecond: GB/s */
    double share;         /* of the rate of memset or memcpy */
    bool has_cost;        /* memory: */
    uint64_t allocations, peak;
    double ratio;      /* of a peer's median to ours */
    const char *bytes; /* "same", "different": what both wrote */
    const char *failed;
};

enum bench_table { BENCH_KERNELS, BENCH_MODEL, BENCH_PEERS };

/* A round lasts so many nanoseconds, at least one operation; on models, all
 * rounds together have at most BENCH_RUNS operations. */
#define BENCH_ROUND 10000000
#define BENCH_RUNS  1000

/* ---- measure.c ---- */

/* Nanoseconds of a clock. */
uint64_t bench_now(void);

/* An env whose work a signal ends; NULL after a report. */
struct mf_env *bench_env(struct run *run, size_t threads);

/* Seconds of CLOCK_MONOTONIC or CLOCK_THREAD_CPUTIME_ID. */
double bench_seconds(clockid_t clock);

/* The median of several runs, in seconds of processor time of this thread;
 * below 0 if the work failed or a signal came. */
double bench_thread_time(bool (*work)(void *user), void *user);

/* Numbers that look like weights. */
void bench_noise(float *floats, size_t count);

/* Adds its bytes read and written to the run's. */
void bench_env_done(struct run *run, const struct mf_env *env);

/* The same, and frees it; NULL is allowed. */
void bench_env_free(struct run *run, struct mf_env *env);

/* report_failure with the error of that env. */
void bench_failure(struct run *run, struct mf_env *env, const char *file);

/* Sorts the times, and sets the figures of the row that are about them. */
void bench_times(struct bench_row *row, double *times, size_t count);

/* The smallest of sorted numbers that percent of them do not exceed. */
double bench_percentile(const double *sorted, size_t count, unsigned percent);
void bench_sort(double *number, size_t count);

/* Whether another operation is timed after so many. */
bool bench_goes_on(size_t runs, uint64_t started);

/* ---- tables.c ---- */

void bench_begin(struct run *run, enum bench_table table);
void bench_print(struct run *run, enum bench_table table,
                 const struct bench_row *row);
void bench_end(struct run *run);

/* The first line of CSV. */
void bench_csv_heading(struct run *run);

/* ---- kernels.c ---- */

void bench_kernels(struct run *run);

/* ---- folder.c ---- */

/* A temporary folder, and two files in it. */
struct bench_folder {
    char path[4096 - 32], ours[4096], theirs[4096];
};

/* Makes it; NULL after a report.  A signal that ends the program removes it. */
const struct bench_folder *bench_folder_begin(struct run *run);

/* The env that writes into it from now on, or NULL: a signal that ends the
 * program removes what that has not finished. */
void bench_folder_env(struct mf_env *env);

/* A signal that ends the program removes the files, at most 16, that are in it
 * now. */
void bench_folder_note(void);

/* Removes all files in it, also what peers have left. */
void bench_folder_empty(void);

/* Removes it, with all that is in it. */
void bench_folder_end(struct run *run);

/* For struct command. */
void bench_allow_writes(struct run *run);

/* ---- peers.c ---- */

/* The environment names a program to compare with. */
bool bench_has_peers(void);

/* For a signal handler: kills the peer that is running, unless it ends soon
 * after the signal that it got. */
void bench_end_peer(void);

/* times has room for `room` times of each of two programs. */
void bench_peers(struct run *run, const struct bench_folder *folder,
                 double *times, size_t room);

/* ---- alloc.c ---- */

/* What single operations allocate, on models that it makes. */
void bench_alloc(struct run *run);

/* ---- scale.c ---- */

/* False after report_usage. */
bool bench_scale_is_usable(struct run *run);

/* model: NULL if none was named. */
void bench_scale(struct run *run, struct mf_model *model);

/* ---- model.c ---- */

void bench_model(struct run *run, struct mf_model *model);

/* Writes the model in its own format, or quantized to the mix if there is one.
 */
enum mf_status bench_write(struct mf_model *model, const char *path,
                           const char *mix);

/* Quantizes it and measures the quantization error. */
enum mf_status bench_write_measured(struct mf_model *model, const char *path,
                                    const char *mix,
                                    struct mf_quantize_result *result);

/* ---- leak.c ---- */

/* False after report_usage if --leak-check cannot be had with other options. */
bool bench_leak_is_usable(struct run *run);

void bench_leak(struct run *run);

#endif
