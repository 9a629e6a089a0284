/* SPDX-License-Identifier: MIT
 *
 * record_parts.h - what the files record*.c share
 */
#ifndef MF_CLI_RECORD_PARTS_H
#define MF_CLI_RECORD_PARTS_H

#include "cli/measure/fingerprint.h"
#include "cli/measure/record.h"

/* Files that stay open until a sample ends. */
#define RECORD_DATA 16

/* Times of samples that need no memory of the heap. */
#define RECORD_TIMES ((size_t)1024)

struct record {
    bool open; /* the folder is */
    bool on;   /* so are the files */
    bool own;  /* the command takes the samples */
    struct record_folder folder;
    struct record_file sums, latency, memory, results, other;
    uint64_t begun_us; /* since 1970 */
    const struct mf_env *env;

    struct record_times {
        double *first, *at; /* microseconds */
        size_t count, room;
        bool lost; /* out of memory */
    } times;
    struct record_now { /* the sample that is open */
        bool open;
        uint64_t start, paused; /* nanoseconds */
        uint64_t kernel;        /* before the sample */
        uint64_t elements;
    } now;
    struct record_rss {
        uint64_t samples, peak, sum;
        uint64_t next; /* nanoseconds: no sample before */
    } rss;
    size_t results_count;

    struct mf_power power;
    struct mf_energy energy, *setting;
    struct mf_sha256 weights; /* of all models opened */
    bool has_weights;
    struct record_data { /* of a model: what is digested after the sample */
        int fd;
        uint64_t from;
    } data[RECORD_DATA];
    size_t data_count;
    void (*members)(struct mf_json_out *json);
};

/* Of the main thread only: the library calls its progress function in the
 * thread that called the library. */
extern struct record the_record; /* record_state.c */

/* Of a clock that does not jump. */
uint64_t record_clock(void);
/* Microseconds since 1970. */
uint64_t record_wall_clock(void);

/* ---- record_memory.c ---- */

/* A line of memory.csv, and a sample of the power.  env: NULL is the run's. */
void record_snapshot(const struct mf_env *env);

/* ---- record_weights.c ---- */

/* The digest has all data of the models opened so far. */
void record_weights_end(struct record *record);

/* ---- record_config.c ---- */

/* Of this run; valid until the next call. */
struct fingerprint_config record_config(struct run *run);

/* Objects "configuration" and "host". */
void record_config_json(struct mf_json_out *json, struct run *run);

/* ---- record_run.c ---- */

void record_write_run(struct run *run);

#endif
