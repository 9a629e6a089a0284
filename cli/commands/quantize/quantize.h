/* SPDX-License-Identifier: MIT
 *
 * quantize.h - the parts of modelfile quantize: options, request, table, result
 */
#ifndef MF_CLI_QUANTIZE_QUANTIZE_H
#define MF_CLI_QUANTIZE_QUANTIZE_H

#include "cli/cli.h"
#include "cli/textfile.h"

/* As given on the command line. */
struct quantize_options {
    const char *imatrix, *output_type, *embedding_type;
    struct text_list include_weights, exclude_weights;
    struct text_list tensor_types, tensor_type_files, overrides, prune_layers;
    struct text_list outputs; /* TYPE=FILE, until outputs_read */
    uint64_t max_buffer;      /* in MiB; 0: not given */
    /* of target.h: */
    uint64_t target_size; /* bytes; 0: not given */
    const char *target_bpw, *fit, *context, *types, *like, *importance,
        *save_recipe, *recipe, *plot;
    struct text_list min_types, ties;
    unsigned samples; /* 1: all */
    bool pure, leave_output, allow_requantize, keep_split, report;
    unsigned names;  /* enum names */
    unsigned order;  /* of --endian */
    unsigned effort; /* above the least, which is 1 */
    const char *to;
};

#define LAYERS_MAX 1024

/* Types for some tensors. */
struct patterns {
    struct mf_tensor_type *at;
    size_t *tensors; /* how many each one decided */
    size_t count, room;
    struct textfile file[LIST_MAX]; /* whose text they are */
    size_t file_count;
};

/* The same as the library takes it. */
struct request {
    struct mf_quantize_options options;
    struct patterns patterns;
    const char *recipe; /* the file that they are from; or NULL */
    struct mf_edit edit[LIST_MAX];
    uint32_t prune[LAYERS_MAX];
};

/* ---- request.c ---- */

/* Checks the options, whose texts it may change, and TYPE, which is NULL where
 * several outputs have theirs; false after a report. */
bool request_make(struct run *run, const struct quantize_options *options,
                  const char *type, struct request *out);
void request_release(struct run *run, struct request *request);

/* ---- patterns.c ---- */

/* False after a report; release them in any case.  recipe: one more file, or
 * NULL. */
bool patterns_read(struct run *run, const struct text_list *types,
                   const struct text_list *files, const char *recipe,
                   struct patterns *out);
void patterns_release(struct run *run, struct patterns *patterns);

/* One that decided nothing is most likely mistyped. */
void patterns_warn(struct run *run, const struct patterns *patterns);
void patterns_json(struct run *run, const struct patterns *patterns);

/* ---- outputs.c ---- */

/* Several outputs of one run. */
struct outputs {
    struct mf_quantize_output *at;
    struct mf_quantize_result *result;
    size_t count;
    size_t shown; /* plans */
};

/* Splits each --output; false after report_usage.  They are checked later:
 * first the sandbox has to know the paths. */
bool outputs_read(struct run *run, const struct text_list *list,
                  struct outputs *out);

/* False after report_usage where a type is unknown, or an option is not for
 * several outputs. */
bool outputs_check(struct run *run, const struct quantize_options *options,
                   const struct outputs *outputs);

/* Writes them and prints the results. */
void outputs_quantize(struct run *run, struct mf_model *model,
                      struct outputs *outputs, struct request *request,
                      const struct mf_convert_options *how);

/* ---- table.c ---- */

/* For mf_quantize_options.planned; user is the run. */
void table_show(void *user, const struct mf_quantize_plan *plan);

/* ---- result.c ---- */

/* Prints what was written to path. */
void result_show(struct run *run, const char *path,
                 const struct mf_quantize_result *result,
                 const struct request *request);
void result_show_many(struct run *run, const struct outputs *outputs,
                      const struct request *request);

#endif
