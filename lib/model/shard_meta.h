/* SPDX-License-Identifier: MIT
 *
 * shard_meta.h - metadata of later shards, compared with the first one's
 */
#ifndef MF_LIB_SHARD_META_H
#define MF_LIB_SHARD_META_H

#include "lib/model/model.h"

/* Adds findings where a later shard repeats a key or contradicts the first
 * shard, for mf_model_validate. */
enum mf_status mf_shards_check_metadata(struct mf_model *model);

#endif
