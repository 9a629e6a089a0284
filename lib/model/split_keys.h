/* SPDX-License-Identifier: MIT
 *
 * split_keys.h - the metadata keys by which a shard says which one it is
 *
 * llama.cpp's convention for models of several files (MF_SHARDING_NUMBERED):
 * split.no counts from 0, split.count is the number of files, and
 * split.tensors.count the number of tensors in all of them.  A parser of such a
 * format passes every metadata key through mf_split_key, in the order of the
 * file, and calls mf_split_finish after the last.
 */
#ifndef MF_LIB_SPLIT_KEYS_H
#define MF_LIB_SPLIT_KEYS_H

#include "lib/model/index.h"

/* What was met so far; begins as all zero. */
struct mf_split_keys {
    bool has_number, has_count; /* split.no and split.count are numbers */
    bool noted;                 /* one of them is invalid and has a finding */
    uint64_t at;                /* where the last of them is in the file */
};

/* Keeps what a metadata key says of the shard; any other key is ignored. */
void mf_split_key(struct mf_index *index, struct mf_part *part,
                  const struct mf_meta *meta, struct mf_split_keys *keys);

/* Decides whether the file is a shard, and notes where the keys contradict each
 * other. */
void mf_split_finish(struct mf_index *index, struct mf_part *part,
                     const struct mf_split_keys *keys);

#endif
