/* SPDX-License-Identifier: MIT
 *
 * nearby.h - the files of a model and those next to it, wherever they are
 *
 * A model is opened from a path, and other files are in the same folder; or
 * from a source of the program (lib/io/given.h), which is asked for others by
 * name; or from memory or a descriptor, which nothing lies next to.  Code that
 * needs such a file asks here, so that nothing is looked for on the disk that
 * does not belong to the model.
 */
#ifndef MF_LIB_NEARBY_H
#define MF_LIB_NEARBY_H

#include "lib/model/model.h"

/* Whether files can lie next to the model. */
bool mf_nearby_any(const struct mf_model *model);

/* Whether they are in a folder of the disk. */
bool mf_nearby_on_disk(const struct mf_model *model);

/* Opens a shard or another file of the model itself.  *is_folder (may be NULL):
 * it is one, and cannot be opened. */
enum mf_status mf_nearby_open_own(struct mf_model *model, const char *path,
                                  struct mf_source *out, bool *is_folder);

/* Opens a file next to the model; path is a sibling's (mf_path_sibling). */
enum mf_status mf_nearby_open(const struct mf_model *model, const char *path,
                              struct mf_source *out);

/* False after mf_fail, too, where the program stopped the call. */
bool mf_nearby_exists(const struct mf_model *model, const char *path);

/* The folder of that path, or the folder itself, for mf_entries_begin; -1 where
 * there is none. */
int mf_nearby_folder_of(const struct mf_model *model, const char *path);
int mf_nearby_folder(const struct mf_model *model, const char *path);

#endif
