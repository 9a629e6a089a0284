/* SPDX-License-Identifier: MIT
 *
 * check.h - the room that finds what is wrong with an open model
 *
 * In: a model as lib/model opened it.  Out: more findings of that model, and
 * nothing else: no check changes a tensor, a metadata value or a file.
 *
 * Three kinds of checks, by what they have to read:
 *   opening a model (not here) checks single fields and tensor geometry;
 *   mf_model_validate checks header values against each other: keys, heads,
 *       blocks, names and shapes of tensors by the rows of lib/arch, and again
 *       the metadata that opening passed over;
 *   mf_model_validate_data reads every byte of tensor data once, in threads.
 *
 * What always holds:
 * - Each check is done once per model; findings come in the same order
 *   whatever the number of threads.
 * - No tensor data is decoded.  A NaN shows in the bits of a value or of a
 *   block's scale, where scan.def says.  A program that only validates is
 *   linked without a codec; tests/project/layers.t checks that.
 * - A rule that belongs to one format is in that format's folder.
 */
#ifndef MF_LIB_CHECK_H
#define MF_LIB_CHECK_H

#include "lib/model/model.h"

/* Compares the model with the rows of its architecture: metadata, tensors. */
void mf_architecture_check(struct mf_model *model);

/* Finds lists with fewer elements than there are blocks, of what a cache
 * depends on. */
void mf_lists_check(struct mf_model *model);

/* Adds what a loader would find in the GGUF file that the model becomes, as
 * warnings: the outline is its header. */
enum mf_status mf_outline_check(struct mf_model *model,
                                struct mf_model *outline);

/* Finds tensors of types that llama.cpp cannot compute with.  The architecture
 * is one that it has. */
enum mf_status mf_tensor_types_check(struct mf_model *model,
                                     struct mf_str architecture);

/* How ids of rules begin that one format has; ends with NULL. */
extern const char *const mf_rules_of_formats[];

/* Finds out which rules could be applied, for mf_rule_skipped. */
void mf_coverage_update(struct mf_model *model);

/* What a model shows without its tensor data, and with it: each adds findings
 * once. */
enum mf_status mf_header_check(struct mf_model *model);
enum mf_status mf_data_check(struct mf_model *model);

#endif
