/* SPDX-License-Identifier: MIT
 *
 * quantizing.h - a model that is being quantized, to one output or to several
 *
 * Private to quantize.c, quantize_many.c, quantize_result.c and type_errors.c.
 */
#ifndef MF_LIB_QUANTIZING_H
#define MF_LIB_QUANTIZING_H

#include "lib/quantize/mix.h"
#include "lib/write/convert.h"

/* Must not move once the options are taken. */
struct mf_quantizing {
    struct mf_model *model;
    struct mf_quantize_options options;
    struct mf_convert_options how;
    struct mf_outputs outputs;
    size_t deviations;          /* rows of outputs.deviation */
    struct mf_imatrix *imatrix; /* NULL: none */
};

/* Takes the options; their type is not required here.  If that succeeds, the
 * work has to be ended, whatever fails later. */
enum mf_status mf_quantizing_take(struct mf_quantizing *work,
                                  struct mf_model *model,
                                  const struct mf_quantize_options *options,
                                  const struct mf_convert_options *how);

/* Opens the importance matrix, and refuses a model that cannot be quantized.
 * path: of an output. */
enum mf_status mf_quantizing_begin(struct mf_quantizing *work,
                                   const char *path);
void mf_quantizing_end(struct mf_quantizing *work);

/* Lists metadata and tensors of one shard, or of the whole model, in the draft
 * of that output. */
enum mf_status mf_quantizing_list(struct mf_quantizing *work, size_t number);

/* When types are decided: fails where the format cannot carry them, fixes all
 * offsets. */
enum mf_status mf_quantizing_plan(const struct mf_quantizing *work,
                                  struct mf_draft *draft);

/* All files of one model: lists them, decides types, fixes offsets. */
enum mf_status mf_quantizing_plan_model(struct mf_quantizing *work,
                                        const char *path,
                                        struct mf_mix_result *mix);

/* Shows the plan, or for outputs that are models each one's. */
void mf_quantizing_show(const struct mf_quantizing *work);

/* Shows it and writes all outputs; in a dry run, fails as writing would. */
enum mf_status mf_quantizing_write(struct mf_quantizing *work);

/* What count outputs from `first` on are, which are one model. */
void mf_quantizing_result(const struct mf_quantizing *work, size_t first,
                          size_t count, const struct mf_mix_result *mix,
                          struct mf_quantize_result *out);

#endif
