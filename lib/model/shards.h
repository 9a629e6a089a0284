/* SPDX-License-Identifier: MIT
 *
 * shards.h - adding files to a model that is being opened
 */
#ifndef MF_LIB_SHARDS_H
#define MF_LIB_SHARDS_H

#include "lib/model/model.h"

/* The model is without tensors: path, which source reads, is its config.json.
 */
enum mf_status mf_model_add_bare(struct mf_model *model,
                                 const struct mf_source *source,
                                 const char *path);

/* Opens path as the next shard of the model and reads its header. */
enum mf_status mf_model_add_file(struct mf_model *model, const char *path);

/* The same for a source that is open already; the model owns it from here on,
 * even if this fails. */
enum mf_status mf_model_add_source(struct mf_model *model,
                                   const struct mf_source *source,
                                   const char *path);

/* Puts the name of the shard at path in front of env's error message, for
 * shards that the user did not name; returns the error's status. */
enum mf_status mf_shard_add_context(struct mf_model *model, const char *path);

/* ---- metadata of later shards, compared with the first one's ---- */

/* Adds findings where a later shard repeats a key or contradicts the first
 * shard, for mf_model_validate. */
enum mf_status mf_shards_check_metadata(struct mf_model *model);

#endif
