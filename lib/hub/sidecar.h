/* SPDX-License-Identifier: MIT
 *
 * sidecar.h - JSON files that lie beside a model: config.json, tokenizer.json
 */
#ifndef MF_LIB_SIDECAR_H
#define MF_LIB_SIDECAR_H

#include "lib/json/json.h"
#include "lib/model/model.h"

struct mf_beside {
    struct mf_env *env;
    const char *name;
    struct mf_source source;
    struct mf_reader reader;
    struct mf_json json;
};

/* All names that the functions below are called with, NULL behind the last; and
 * the one folder beside a model of which any file may be read. */
extern const char *const mf_beside_names[];
#define MF_BESIDE_FOLDER "additional_chat_templates"

/* The path of the file of that name in the folder of the model's first file, in
 * the arena; NULL after mf_fail. */
const char *mf_beside_path(const struct mf_model *model, struct mf_arena *arena,
                           const char *name);

/* Whether there is a file of that name; false after mf_fail, too. */
bool mf_beside_is_there(const struct mf_model *model, struct mf_arena *arena,
                        const char *name);

/* The file of that name in the folder of the model's first file, at its first
 * byte.  The path goes into the arena.  Close it, whatever happens. */
enum mf_status mf_beside_open(struct mf_beside *beside,
                              const struct mf_model *model,
                              struct mf_arena *arena, const char *name);

/* Gives back what status is, or what went wrong with the name of the file. */
enum mf_status mf_beside_close(struct mf_beside *beside, enum mf_status status);

/* The error, once more with the name of the file that is to blame. */
enum mf_status mf_beside_blame(struct mf_env *env, const char *name);

#endif
