/* SPDX-License-Identifier: MIT
 *
 * split.h - models whose files are numbered: PREFIX-00002-of-00005SUFFIX
 */
#ifndef MF_LIB_SPLIT_H
#define MF_LIB_SPLIT_H

#include "lib/model/model.h"

/* The parts of such a name, the last component of a path. */
struct mf_shard_name {
    const char *name;
    size_t prefix_size; /* with the hyphen that ends it */
    unsigned number, count;
    const char *suffix;
};

/* False if path does not end like that. */
bool mf_shard_name_match(const char *path, struct mf_shard_name *out);

/* path is open as the only file, whose header says that it is a shard: opens
 * the others.  If its name has other numbers, the model stays this one file
 * and is marked incomplete. */
enum mf_status mf_model_open_split(struct mf_model *model, const char *path);

/* path is open as the only file, of a format whose shards look like whole
 * models: opens the shards that an index.json in its folder lists with it, or
 * else those that its name counts. */
enum mf_status mf_model_open_numbered(struct mf_model *model, const char *path);

/* For callers that write a whole model: an error if the model is one shard
 * whose name does not lead to the others. */
enum mf_status mf_model_require_complete(const struct mf_model *model);

#endif
