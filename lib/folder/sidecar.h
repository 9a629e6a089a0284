/* SPDX-License-Identifier: MIT
 *
 * sidecar.h - files next to a model: config.json, tokenizer.json and others
 *
 * The list of names is closed, because it serves two purposes: what may be
 * opened here, and what a command that writes must not overwrite
 * (lib/write/output_guard.c).  A file that could be opened without being listed
 * would not be protected.
 */
#ifndef MF_LIB_SIDECAR_H
#define MF_LIB_SIDECAR_H

#include "lib/json/tree.h"
#include "lib/model/model.h"

struct mf_sidecar {
    struct mf_env *env;
    const char *name;
    struct mf_source source;
    struct mf_reader reader;
    struct mf_json json;
};

/* The files that may be opened, NULL after the last; and the one subfolder of
 * which any file may be opened. */
extern const char *const mf_sidecar_names[];
#define MF_SIDECAR_FOLDER "additional_chat_templates"

/* The path of that file in the folder of the model's first file, in the arena;
 * NULL after mf_fail. */
const char *mf_sidecar_path(const struct mf_model *model,
                            struct mf_arena *arena, const char *name);

/* Whether the file exists; false after mf_fail, too. */
bool mf_sidecar_exists(const struct mf_model *model, struct mf_arena *arena,
                       const char *name);

/* Bytes of such a file at most, read or copied; a tokenizer.json is the largest
 * of them. */
#define MF_SIDECAR_MAX           ((uint64_t)64 * 1024 * 1024)
#define MF_SIDECAR_TOKENIZER_MAX ((uint64_t)256 * 1024 * 1024)

/* Opens a file written for a model, in any folder; FILE-LIMIT if it is too
 * large. */
enum mf_status mf_sidecar_source(struct mf_env *env, const char *path,
                                 struct mf_source *out);

/* The same for one next to the model; path is a sibling's. */
enum mf_status mf_sidecar_beside(const struct mf_model *model, const char *path,
                                 struct mf_source *out);

/* Opens that file in the folder of the model's first file, at its first byte.
 * The path goes into the arena.  Must be closed even after a failure. */
enum mf_status mf_sidecar_open(struct mf_sidecar *sidecar,
                               const struct mf_model *model,
                               struct mf_arena *arena, const char *name);

/* Closes the file.  Returns status or, where that is MF_OK, whether the file
 * changed while it was open; an error names the file. */
enum mf_status mf_sidecar_close(struct mf_sidecar *sidecar,
                                enum mf_status status);

/* The whole file as nodes in the arena, at most `limit` bytes of it: a file
 * written by hand, never a vocabulary.  *root is NULL where there is no such
 * file. */
enum mf_status mf_sidecar_tree(const struct mf_model *model,
                               struct mf_arena *arena, const char *name,
                               uint64_t limit, struct mf_node **root);

/* The same, but the arrays and objects at the paths `left` stay in the file,
 * see mf_tree_read_but. */
enum mf_status mf_sidecar_tree_but(const struct mf_model *model,
                                   struct mf_arena *arena, const char *name,
                                   uint64_t limit, const char *const *left,
                                   struct mf_node **root);

/* Bytes of config.json and its like at most. */
#define MF_SIDECAR_LIMIT ((uint64_t)8 * 1024 * 1024)

/* Puts the name of the file before the message of the last error. */
enum mf_status mf_sidecar_fail(struct mf_env *env, const char *name);

#endif
