/* SPDX-License-Identifier: MIT
 *
 * config.h - what the config.json of a Hugging Face model says
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

#define MF_CONFIG_TEXT                                                         \
    63 /* bytes of the longest string that is of interest                      \
        */

struct mf_config_value {
    bool given; /* and not null */
    bool met;   /* it stands there, null or not */
    enum mf_value_type type;
    union mf_number number;
    char text[MF_CONFIG_TEXT + 1];
};

struct mf_config {
    struct mf_config_value value[MF_CONFIG_COUNT];
    /* The first key of rope_scaling and its kin that is no field; "": none. */
    char rope_key[MF_CONFIG_TEXT + 1];
};

/* The file beside the model, every value of the kind that its row says.  The
 * path goes into the arena. */
enum mf_status mf_config_read(struct mf_config *config,
                              const struct mf_model *model,
                              struct mf_arena *arena);

/* That a field, which stands at an offset, is not what its row says. */
enum mf_status mf_config_wrong(struct mf_env *env, enum mf_config_field field,
                               uint64_t offset);

/* That a field is needed, and that a key, or its value, would be lost. */
enum mf_status mf_config_missing(struct mf_env *env,
                                 enum mf_config_field field);
enum mf_status mf_config_refuse(struct mf_env *env, const char *key,
                                const char *value);

#endif
