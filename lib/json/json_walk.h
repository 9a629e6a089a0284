/* SPDX-License-Identifier: MIT
 *
 * json_walk.h - every value of a JSON text, with its path
 */
#ifndef MF_LIB_JSON_WALK_H
#define MF_LIB_JSON_WALK_H

#include "lib/json/json.h"

#define MF_PATH_MAX 127

/* A value's first token.  The path consists of its keys and numbers, as in
 * "model.vocab" or "added_tokens.3.id", "" for the outermost; one that is too
 * long, or whose keys hold dots, begins with or has a "?".  A caller that takes
 * an array or object to its end, as mf_json_skip does, does not see its
 * content. A string may be read or left. */
typedef enum mf_status mf_json_visit(void *user, const char *path,
                                     enum mf_json_token token);

/* All of the document, which must be an object. */
enum mf_status mf_json_walk(struct mf_json *json, mf_json_visit *visit,
                            void *user);

/* The same with another character than the dot between the parts of a path. */
enum mf_status mf_json_walk_by(struct mf_json *json, char separator,
                               mf_json_visit *visit, void *user);

#endif
