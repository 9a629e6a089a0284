/* SPDX-License-Identifier: MIT
 *
 * plan.h - the parts of modelfile plan: options, request, what is printed
 */
#ifndef MF_CLI_PLAN_PLAN_H
#define MF_CLI_PLAN_PLAN_H

#include "cli/cli.h"

/* As given on the command line. */
struct plan_options {
    const char *as, *contexts, *type_k, *type_v, *offload, *devices, *gpu, *fit,
        *margin, *plot;
    uint64_t sequences, ubatch; /* 0: not given */
    unsigned flash;             /* enum mf_flash */
    bool full_windows, unified, cpu_experts;
    unsigned formula;    /* 0: none; 1: zigllama */
    unsigned formula_kv; /* 1: f16; 2: f32; 0: not given */
};

#define CONTEXTS_MAX 16

/* The same as the library takes it. */
struct plan_request {
    struct mf_plan_options options; /* its context belongs to one plan */
    uint64_t context[CONTEXTS_MAX]; /* 0: the model's */
    size_t context_count;
    uint64_t device_limit[MF_PLAN_DEVICES];
    bool fits;        /* whether it fits is asked */
    uint64_t limit;   /* then; 0: only devices have one */
    uint64_t margin;  /* per device */
    const char *plot; /* file of the picture; NULL: none */
    unsigned formula, formula_kv;
};

/* A model with its plans, one for each context. */
struct plan_answer {
    const struct plan_request *request;
    struct mf_plan plan[CONTEXTS_MAX];
    size_t count;
    bool fits; /* whether it fits is asked, for the largest context */
    struct mf_fit fit;
};

/* ---- request.c ---- */

/* Checks the options; false after report_usage. */
bool plan_request_make(struct run *run, const struct plan_options *options,
                       struct plan_request *out);

/* ---- amount.c ---- */

/* Whether it is a number, and not MF_PLAN_UNKNOWN or MF_PLAN_HUGE. */
bool amount_known(uint64_t amount);

/* "512.00", the digits of llama.cpp's log; bytes and counts with separators;
 * "not known", "more than 16 EiB". */
struct amount_text {
    char at[32];
};
struct amount_text amount_mib(uint64_t bytes);
struct amount_text amount_bytes(uint64_t bytes);
struct amount_text amount_count(uint64_t count);

/* A member: null if it is not known. */
void amount_json(struct run *run, const char *key, uint64_t amount);

/* ---- answer.c ---- */

/* Plans for one context; false after a report. */
bool plan_compute(struct run *run, struct mf_model *model,
                  const struct mf_plan_options *options, struct mf_plan *out);

/* The limit of a device of the plan, 0 the host; 0: none. */
uint64_t plan_limit(const struct plan_request *request,
                    const struct mf_plan *plan, size_t device);

/* Whether everything fits below its limit, less the margin of --fit; a plan
 * that is not known does not. */
bool plan_fits(const struct plan_request *request, const struct mf_plan *plan);

/* Answers --fit for the largest of the contexts, and sets the exit code; false
 * after a report. */
bool plan_fit(struct run *run, struct mf_model *model,
              struct plan_answer *answer);

/* Whether the context is above the model's. */
bool plan_exceeds_model(const struct mf_plan *plan);

/* A remark for each context above the model's. */
void plan_warn(struct run *run, const struct plan_answer *answer);

/* ---- text.c, json.c ---- */

void plan_text(struct run *run, struct mf_model *model,
               const struct plan_answer *answer);
void plan_json(struct run *run, const struct plan_answer *answer);

/* ---- fit.c ---- */

void fit_text(struct run *run, const struct plan_answer *answer);
void fit_json(struct run *run, const struct mf_fit *fit); /* NULL: not asked */

/* ---- zigllama.c ---- */

/* What the calculator of the ZigLlama manual says of the model. */
void zigllama_show(struct run *run, struct mf_model *model,
                   const struct plan_request *request);

/* ---- curves.c, plot.c ---- */

#define CURVE_POINTS MF_PLAN_POINTS
#define CURVES_MAX   4 /* types of the cache */

/* Bytes for each context, with one type of the cache. */
struct curve {
    char name[32];
    double bytes[CURVE_POINTS];
};

struct picture {
    struct mf_str title;
    uint64_t context[CURVE_POINTS]; /* rising */
    size_t points;
    struct curve curve[CURVES_MAX]; /* the highest first */
    size_t curve_count;
    double limit; /* bytes; 0: none */
    double asked; /* a context to be marked; 0: none */
};

/* Computes what the picture shows, and writes it; false after a report. */
bool plot_write(struct run *run, struct mf_model *model,
                const struct plan_answer *answer);

/* Draws it as SVG into a buffer of the env; false after an error of the env. */
struct buffer;
bool picture_draw(struct run *run, const struct picture *picture,
                  struct buffer *out);

#endif
