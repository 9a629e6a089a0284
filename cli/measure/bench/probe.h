/* SPDX-License-Identifier: MIT
 *
 * probe.h - the operations whose memory bench --alloc counts
 *
 * probe.c has the operations, growth.c how costs grow with n, alloc.c measures
 * and prints.
 */
#ifndef MF_CLI_BENCH_PROBE_H
#define MF_CLI_BENCH_PROBE_H

#include "cli/measure/bench/bench.h"

/* What an operation works on. */
struct probe {
    struct mf_env *env;
    const char *format, *path; /* of the model; path: of its first shard */
    const char *target;        /* what is planned to be written */
    size_t tensors;            /* or rows */
    struct mf_model *model;    /* NULL while it is closed */
    struct mf_kernel kernel;
};

struct probe_operation {
    const char *name;
    enum mf_status (*work)(struct probe *probe);
    enum {
        PROBE_CLOSED, /* the model is closed before it */
        PROBE_OPEN,   /* open, for all times */
        PROBE_FRESH,  /* opened again for each time */
        PROBE_ROWS    /* no model: the allocations of the process count */
    } needs;
    /* How often work does it; NULL: once. */
    size_t (*times)(const struct probe *probe);
};

#define PROBE_OPERATIONS 8 /* at most in a list */

/* Each list ends with a row without a name. */
extern const struct probe_operation probe_on_models[], probe_on_shards[],
    probe_on_rows[], probe_on_blocks[]; /* of a type that is only decoded */

/* Makes the numbers that operations on rows need. */
void probe_fill(void);

/* Makes the model that operations on models need. */
enum mf_status probe_write(struct probe *probe);

/* Whether models of that format can have shards, as far as the model that
 * probe_write makes shows. */
bool probe_can_split(struct probe *probe);

/* Makes a model of so many shards, with as many tensors in total.  path has
 * room bytes, and gets the first shard's path. */
enum mf_status probe_split(struct probe *probe, size_t shards, char *path,
                           size_t room);

enum mf_status probe_open(struct probe *probe);
void probe_close(struct probe *probe);

/* ---- growth.c ---- */

enum probe_figure {
    PROBE_ALLOCATIONS,
    PROBE_BYTES, /* of these allocations */
    PROBE_LIVE,  /* bytes that the operation leaves; negative: that it frees */
    PROBE_NS,
    PROBE_FIGURES
};

struct probe_cost {
    double n;
    double figure[PROBE_FIGURES]; /* of one operation */
};

/* The costs of one operation for several n. */
#define PROBE_COSTS 5
struct probe_series {
    const char *operation;
    const char *of;   /* a format or a type */
    const char *unit; /* of n: "tensors" */
    struct probe_cost cost[PROBE_COSTS];
    size_t count;
};

void growth_begin(struct run *run);
void growth_end(struct run *run);

/* Before the series of one kind. */
void growth_heading(struct run *run, const char *unit);

/* Prints the costs, and their growth by least squares. */
void growth_show(struct run *run, const struct probe_series *series);

#endif
