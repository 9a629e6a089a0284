/* SPDX-License-Identifier: MIT
 *
 * model.h - an open model: its files and its index
 */
#ifndef MF_LIB_MODEL_H
#define MF_LIB_MODEL_H

#include "lib/model/format.h"

struct mf_file { /* one shard */
    struct mf_source source;
    const char *path;
};

struct mf_model {
    struct mf_env *env;
    const struct mf_format *format;
    struct mf_index index;
    struct mf_arena paths;
    struct mf_file *file; /* as many as there are shards */
    struct mf_part *part; /* likewise */
    size_t file_count, file_room;
    const char *list; /* path of the list that names the files, or NULL */
    struct mf_model_info info;
    bool is_stray; /* a shard whose name does not lead to the others */
    bool validated, data_validated; /* mf_model_validate(_data) has been here */
};

/* The row of the format that recognises the head, and what it says; NULL
 * after mf_fail where none does. A known foreign format gives NULL without
 * an error and *out filled in. */
const struct mf_format *mf_format_of(struct mf_env *env,
                                     const struct mf_head *head,
                                     struct mf_detection *out);

/* Reads the head of source into bytes[MF_HEAD_SIZE]. */
enum mf_status mf_head_read(struct mf_env *env, const struct mf_source *source,
                            uint8_t *bytes, struct mf_head *out);

/* A file of its own that the source gives; name is copied. */
enum mf_status mf_model_open_source(struct mf_env *env, const char *name,
                                    const struct mf_source *source,
                                    const struct mf_open_options *options,
                                    struct mf_model **out);

/* Brings the counts in info up to date, in validate.c. */
void mf_model_count_findings(struct mf_model *model);

/* ---- facts.c ---- */

/* What mf_model_fact tells, and details as well. */
bool mf_model_detail(const struct mf_model *model, int fact,
                     struct mf_meta *out, size_t *at);
const char *mf_detail_name(int fact);

/* The key that a fact has in this file, and its value whatever that is; false
 * where there is none: *key is then the one that it should have. */
bool mf_model_detail_key(const struct mf_model *model, int fact,
                         struct mf_str *key, struct mf_meta *out);

/* ---- shards.c ---- */

/* Opens path as the next shard of the model and reads its header. */
enum mf_status mf_model_add_file(struct mf_model *model, const char *path);

/* Reads one more shard from a source that is open already; the model owns the
 * source from here on, whatever happens. */
enum mf_status mf_model_add_source(struct mf_model *model,
                                   const struct mf_source *source,
                                   const char *path);

/* An error while reading a shard that the user did not name says which one. */
enum mf_status mf_shard_blame(struct mf_env *env, const char *path);

/* The last component of path. */
const char *mf_base_name(const char *path);

/* A path with the same folder as path and another name, in the arena. */
const char *mf_path_beside(struct mf_arena *arena, const char *path,
                           struct mf_str name);

/* Holds the metadata of later shards against the first one's, for
 * mf_model_validate, in shard_meta.c. */
enum mf_status mf_shards_check_metadata(struct mf_model *model);

/* ---- split.c ---- */

/* PREFIX-00002-of-00005SUFFIX, the last component of a path. */
struct mf_shard_name {
    const char *name;
    size_t prefix_size; /* with the hyphen behind it */
    unsigned number, count;
    const char *suffix;
};

/* False where path does not end like that. */
bool mf_shard_name_match(const char *path, struct mf_shard_name *out);

/* path is open as the only file; its other shards are opened, too.  split: it
 * says itself that it is a shard.  named: an index.json beside it or, where
 * there is none, its name may say so. */
enum mf_status mf_model_gather_split(struct mf_model *model, const char *path);
enum mf_status mf_model_gather_named(struct mf_model *model, const char *path);

/* For whoever writes a model anew: a stray shard is not all of it. */
enum mf_status mf_model_refuse_stray(const struct mf_model *model);

/* ---- index_json.c ---- */

/* path is open as the only file and lists others, which are opened instead. */
enum mf_status mf_model_gather_listed(struct mf_model *model, const char *path);

/* ---- find_index.c ---- */

/* The path of the index.json beside path that lists it, in the arena; NULL
 * where none does. */
enum mf_status mf_model_find_index(struct mf_model *model, const char *path,
                                   const char **out);

/* ---- gather.c ---- */

/* All files that belong to the model whose first named file is path. */
enum mf_status mf_model_open_path(struct mf_model *model, const char *path,
                                  enum mf_shards shards);

#endif
