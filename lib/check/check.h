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
 *       blocks, names and shapes of tensors by the table architecture.def, and
 *       again the metadata that opening passed over;
 *   mf_model_validate_data reads every byte of tensor data once, in threads.
 *
 * What always holds:
 * - Each check is done once per model; findings come in the same order
 *   whatever the number of threads.
 * - No tensor data is decoded.  A NaN shows in the bits of a value or of a
 *   block's scale, where scan.def says.  A program that only validates is
 *   linked without a codec; tests/layers.t checks that.
 * - Metadata that does not say enough is no reason for a finding: a length
 *   that is unknown is 0 and matches everything.
 * - A rule that belongs to one format is in that format's folder.
 *
 * What was tried or considered instead:
 * - Errors for shapes and keys that do not fit the table.  They are warnings:
 *   a model made yesterday may be right and the table old.
 * - An architecture as code, as inference engines have it.  75 of them are
 *   rows now, and one loop over the rows makes test models with each key, part
 *   and dimension wrong.
 * - Hard-coding which architectures have which tensors per block: a row names
 *   the part that a tensor provides, and a family lists the parts it needs, so
 *   that fused and separate projections are one rule.
 */
#ifndef MF_LIB_CHECK_H
#define MF_LIB_CHECK_H

#include "lib/model/model.h"

/* Compares the model with the table of its architecture: metadata, heads,
 * blocks, tensors. */
void mf_architecture_check(struct mf_model *model);

/* Finds tensors of types that llama.cpp cannot compute with.  The architecture
 * is one that it has. */
enum mf_status mf_tensor_types_check(struct mf_model *model,
                                     struct mf_str architecture);

/* What a model shows without its tensor data, and with it: each adds findings
 * once. */
enum mf_status mf_header_check(struct mf_model *model);
enum mf_status mf_data_check(struct mf_model *model);

#endif
