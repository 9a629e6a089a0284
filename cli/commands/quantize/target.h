/* SPDX-License-Identifier: MIT
 *
 * target.h - types for a size: the parts of modelfile quantize that choose them
 */
#ifndef MF_CLI_QUANTIZE_TARGET_H
#define MF_CLI_QUANTIZE_TARGET_H

#include <limits.h>

#include "cli/buffer.h"
#include "cli/commands/quantize/quantize.h"

#define TARGET_POINTS 12

/* The least errors of other sizes: of each mix, where a choice has so few
 * bytes, and of some from the fewest bytes to the most. */
struct target_least {
    bool known[MF_TYPES_MAX];
    double mix[MF_TYPES_MAX];
    struct mf_chosen curve[TARGET_POINTS];
};

struct target {
    struct run *run;
    const struct quantize_options *given;
    struct mf_type_errors *errors;
    struct mf_choose_options choose;
    struct mf_type_cost *cost;
    double *factor;  /* of each tensor */
    uint32_t *types; /* chosen */
    uint32_t *preferred, *tied;
    bool *match;    /* of one pattern */
    bool *fixed;    /* by --tensor-type */
    size_t room;    /* bytes of all these */
    bool padded;    /* costs have the file's padding */
    uint64_t limit; /* as it was asked: of the file, or of all tensors */
    uint64_t rest;  /* bytes of that which no type changes */
    struct mf_chosen chosen;
    struct target_least least; /* if it is shown or saved */
    const char *base;          /* the mix */
    struct buffer text;        /* patterns of the choice, a NUL after each */
    struct textfile importance;
};

/* ---- target.c ---- */

/* Whether a size is given, for which types are chosen. */
bool target_is_given(const struct quantize_options *options);

/* The option that gives it. */
const char *target_name(const struct quantize_options *options);

/* False after report_usage where options do not fit together. */
bool target_check(struct run *run, const struct quantize_options *options);

/* Measures the model and chooses types for it, which go into the request; false
 * after a report.  Release it in any case. */
bool target_choose(struct target *target, struct mf_model *model,
                   const char *path, struct request *request,
                   const struct mf_convert_options *how);
void target_release(struct target *target);

/* ---- target_solve.c ---- */

/* Chooses types for another number of bytes, of tensors that have several. */
bool target_solve(const struct target *target, uint64_t limit, uint32_t *types,
                  struct mf_chosen *out);

/* Finds the least errors of other sizes; false with an error of the env. */
bool target_solve_others(struct target *target);

/* The number of a type; errors->types: it is not one of them. */
size_t target_type(const struct mf_type_errors *errors, const char *name);

/* ---- target_limits.c ---- */

/* What options say of tensors and types; false after a report. */
bool target_limit(struct target *target, const struct mf_model *model,
                  const struct request *request);

/* ---- target_fit.c ---- */

/* Bytes that the tensors may take, by --fit; false after a report. */
bool target_fit(struct target *target, struct mf_model *model);

/* ---- recipe.c ---- */

/* Adds the choice to the request, as types for some tensors, with its base. */
bool recipe_make(struct target *target, struct request *request);

/* Writes --save-recipe; false after a report. */
bool recipe_save(struct target *target, struct mf_model *model);

/* FILE.json, which has the bits and errors of the recipe FILE. */
struct recipe_path {
    char at[PATH_MAX + 64];
};
struct recipe_path recipe_document(const char *recipe);

/* Finds the base of --recipe, whose patterns the request has; false after a
 * report. */
bool recipe_find_base(struct run *run, struct mf_model *model, const char *path,
                      struct request *request,
                      const struct mf_convert_options *how);

/* ---- target_show.c ---- */

/* Bytes and error of a mix, to compare. */
struct target_mix {
    uint64_t bytes; /* as target.limit has them */
    double error;
};
bool target_mix_at(const struct target *target, size_t mix,
                   struct target_mix *out);

/* The part of the error that the sample may be off by. */
double target_sampling(const struct target *target);

void target_show(const struct target *target);

/* The same as JSON, with the cost of every type. */
void target_json(const struct target *target, struct mf_json_out *json);

/* ---- target_plot.c ---- */

/* Draws --plot; false after a report. */
bool target_plot(const struct target *target, struct mf_model *model);

#endif
