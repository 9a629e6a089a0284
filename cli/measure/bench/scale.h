/* SPDX-License-Identifier: MIT
 *
 * scale.h - the parts of bench --scale
 *
 * scale_cost.c and scale_plan.c measure what this machine takes, scale_model.c
 * computes, scale_show.c prints and scale_plot.c draws; scale.c says what is
 * computed.
 */
#ifndef MF_CLI_BENCH_SCALE_H
#define MF_CLI_BENCH_SCALE_H

#include "cli/buffer.h"
#include "cli/measure/bench/bench.h"
#include "cli/measure/bench/scale_model.h"

#define SCALE_TYPES  4  /* lines of the picture */
#define SCALE_POINTS 32 /* 1, 2, 4 ... ranks, and as many as were asked for */

/* What the times are for one type. */
struct scale_curve {
    struct mf_kernel kernel; /* of the type */
    uint64_t out;            /* bytes of the output */
    double encode;
    size_t count;
    struct scale_point {
        uint64_t ranks;
        struct scale_time time;
    } point[SCALE_POINTS];
};

struct scale {
    struct run *run;
    struct mf_model *model;  /* NULL: none was named */
    struct mf_kernel source; /* its tensors' type */
    struct scale_costs costs;
    struct scale_work work;
    size_t gather_ranks; /* that were measured; 0: the cost is assumed */
    struct scale_curve curve[SCALE_TYPES];
    size_t curves;
};

/* ---- scale_cost.c ---- */

/* Measures what threads, disks and plans cost, and encode of each curve.  False
 * after a report. */
bool scale_measure(struct scale *scale);

/* ---- scale_plan.c ---- */

/* Of a tensor and of a piece. */
bool scale_measure_plan(struct scale *scale, struct mf_env *env,
                        const struct bench_folder *folder);

/* ---- scale_show.c ---- */

void scale_show(const struct scale *scale);

/* ---- scale_plot.c ---- */

/* False after a report. */
bool scale_plot(const struct scale *scale, const char *path);

#endif
