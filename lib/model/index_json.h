/* SPDX-License-Identifier: MIT
 *
 * index_json.h - models whose files are listed: model.safetensors.index.json
 */
#ifndef MF_LIB_INDEX_JSON_H
#define MF_LIB_INDEX_JSON_H

#include "lib/model/model.h"

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

#endif
