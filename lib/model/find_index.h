/* SPDX-License-Identifier: MIT
 *
 * find_index.h - the index.json that lists a file
 */
#ifndef MF_LIB_FIND_INDEX_H
#define MF_LIB_FIND_INDEX_H

#include "lib/model/model.h"

/* *out: the path of the index.json in path's folder that lists it, in the
 * model's arena; NULL if none does. */
enum mf_status mf_model_find_index(struct mf_model *model, const char *path,
                                   const char **out);

#endif
