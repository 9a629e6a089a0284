/* SPDX-License-Identifier: MIT
 *
 * grid.h - bench MODEL --record DIR: the unchanged model, then each setting
 *
 * A setting is a quantization type and a number of threads.  What is measured
 * is reading the model as floats: it is opened, all tensors are decoded, it is
 * closed.  grid.c measures, witness.c writes down each round, figs.c draws,
 * verify.c looks whether a record is as it was.
 */
#ifndef MF_CLI_BENCH_GRID_H
#define MF_CLI_BENCH_GRID_H

#include "cli/measure/bench/bench.h"
#include "cli/measure/record_folder.h"

#define GRID_THREADS 16
#define GRID_NAME    48
#define GRID_MOST    256 /* settings, the unchanged model among them */

struct grid_setting {
    char name[GRID_NAME]; /* "Q4_K_M_t2" */
    const char *mix;      /* NULL: the model as it is */
    size_t threads;
    uint64_t file_size;
    double error; /* relative: of all elements, to their root mean square */
    uint64_t peak, allocations;    /* of the library's heap, in one round */
    struct mf_watch_times latency; /* microseconds */
    struct mf_energy energy;
};

/* ---- witness.c: a line for each round, with the digest of the one before ----
 */

struct witness {
    struct record_file csv, lines;
    struct sha256_text previous;
};

/* The files of a setting; baseline: the first one. */
void witness_begin(struct run *run, struct witness *witness,
                   const struct grid_setting *setting, bool baseline);
/* One line of the table. */
void witness_round(struct witness *witness, size_t sample, uint64_t wall_us,
                   uint64_t kernel_us, uint64_t elements);
void witness_end(struct witness *witness, const struct grid_setting *setting);

/* ---- figs.c ---- */

void figs_write(const struct grid_setting *settings, size_t count);

/* ---- grid.c ---- */

/* Reads "1,2,4" of --threads; false after a report. */
bool grid_read_threads(struct run *run);
bool grid_is_usable(struct run *run);
void grid_measure(struct run *run, struct mf_model *model);

/* ---- verify.c ---- */

void verify_record(struct run *run, const char *path);

#endif
