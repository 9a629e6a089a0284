/* SPDX-License-Identifier: MIT
 *
 * config.h - the config.json of a Hugging Face model
 */
#ifndef MF_LIB_CONFIG_H
#define MF_LIB_CONFIG_H

#include "lib/draft/draft.h"
#include "lib/model/model.h"

enum mf_config_kind {
    MF_KIND_COUNT,
    MF_KIND_NUMBER,
    MF_KIND_TEXT,
    MF_KIND_ID,
    MF_KIND_ANY
};

enum mf_config_field {
#define FIELD(NAME, path, KIND, needed, gguf, TYPE) MF_CONFIG_##NAME,
#include "lib/hub/config.def"
#undef FIELD
    MF_CONFIG_COUNT
};

struct mf_config_row {
    const char *path;
    enum mf_config_kind kind;
    bool needed;
    const char *gguf;
    enum mf_value_type type;
};

extern const struct mf_config_row mf_config_rows[MF_CONFIG_COUNT];

#define MF_CONFIG_TEXT 63 /* bytes of the longest string that is read */

struct mf_config_value {
    bool given; /* and not null */
    bool seen;  /* given or null */
    enum mf_value_type type;
    union mf_number number;
    char text[MF_CONFIG_TEXT + 1];
};

struct mf_config {
    struct mf_config_value value[MF_CONFIG_COUNT];
    /* The first key of rope_scaling or rope_parameters that has no row; "": all
     * have one. */
    char rope_key[MF_CONFIG_TEXT + 1];
};

/* Reads the sidecar: every field that has a row, each of the kind that its row
 * says.  The path goes into the arena. */
enum mf_status mf_config_read(struct mf_config *config,
                              const struct mf_model *model,
                              struct mf_arena *arena);

/* Errors: a field, at an offset, is not of the kind that its row says; a field
 * is missing; a key, or its value, cannot be expressed in GGUF. */
enum mf_status mf_config_invalid(struct mf_env *env, enum mf_config_field field,
                                 uint64_t offset);
enum mf_status mf_config_missing(struct mf_env *env,
                                 enum mf_config_field field);
enum mf_status mf_config_unsupported(struct mf_env *env, const char *key,
                                     const char *value);

#endif
