/* SPDX-License-Identifier: MIT
 *
 * open_path.h - from a path to the files of a model
 */
#ifndef MF_LIB_OPEN_PATH_H
#define MF_LIB_OPEN_PATH_H

#include "lib/model/model.h"

/* Opens all files of the model that path leads to: the file itself and its
 * other shards, the files that it lists, or the one model of a folder. */
enum mf_status mf_model_open_path(struct mf_model *model, const char *path,
                                  enum mf_shards shards);

#endif
