/* SPDX-License-Identifier: MIT
 *
 * quantize.h - the parts of modelfile quantize: options, request, table, result
 */
#ifndef MF_CLI_QUANTIZE_QUANTIZE_H
#define MF_CLI_QUANTIZE_QUANTIZE_H

#include "cli/cli.h"

/* As given on the command line. */
struct quantize_options {
    const char *imatrix, *output_type, *embedding_type;
    struct text_list include_weights, exclude_weights;
    struct text_list tensor_types, overrides, prune_layers;
    bool pure, leave_output, allow_requantize, keep_split, report;
    unsigned names; /* enum mf_naming */
    const char *to;
};

#define LAYERS_MAX 1024

/* The same as the library takes it. */
struct request {
    struct mf_quantize_options options;
    struct mf_tensor_type tensor_type[LIST_MAX];
    size_t tensors[LIST_MAX]; /* how many each tensor_type matched */
    struct mf_edit edit[LIST_MAX];
    uint32_t prune[LAYERS_MAX];
};

/* ---- request.c ---- */

/* Checks the options, whose texts it may change, and TYPE; false after
 * report_usage. */
bool request_make(struct run *run, const struct quantize_options *options,
                  const char *type, struct request *out);

/* ---- table.c ---- */

/* For mf_quantize_options.planned; user is the run. */
void table_show(void *user, const struct mf_quantize_plan *plan);

/* ---- result.c ---- */

/* Prints what was written to path. */
void result_show(struct run *run, const char *path,
                 const struct mf_quantize_result *result,
                 const struct request *request);

#endif
