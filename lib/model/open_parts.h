/* SPDX-License-Identifier: MIT
 *
 * open_parts.h - between the files that open a model
 */
#ifndef MF_LIB_MODEL_OPEN_PARTS_H
#define MF_LIB_MODEL_OPEN_PARTS_H

#include "lib/model/model.h"

/* mf_folder_list for a folder whose names are known: paths are names. */
enum mf_status
mf_folder_list_names(struct mf_env *env, const char *const *names, size_t count,
                     enum mf_status (*found)(void *user, const char *path,
                                             enum mf_shards shards),
                     void *user);

/* ---- adding files to a model that is being opened ---- */

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

/* ---- models whose files are numbered: PREFIX-00002-of-00005SUFFIX ---- */

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

/* ---- models whose files are listed: model.safetensors.index.json ---- */

/* Bytes of such a list at most: more than a model's most files and tensors of
 * usual names need. */
#define MF_LIST_MAX ((uint64_t)256 * 1024 * 1024)

/* path is open as the only file and lists others: opens those instead. */
enum mf_status mf_model_open_listed(struct mf_model *model, const char *path);

/* ---- the list that has a file ---- */

/* *out: the path of the index.json in path's folder that lists it, in the
 * model's arena; NULL if none does. */
enum mf_status mf_model_find_index(struct mf_model *model, const char *path,
                                   const char **out);

/* ---- from a path to the files of a model ---- */

/* Opens all files of the model that path leads to: the file itself and its
 * other shards, the files that it lists, or the one model of a folder. */
enum mf_status mf_model_open_path(struct mf_model *model, const char *path,
                                  enum mf_shards shards);

#endif
