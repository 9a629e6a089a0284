/* SPDX-License-Identifier: MIT
 *
 * folder.h - the room that reads the files next to a model
 *
 * In: an open model.  Out: findings about the files of its folder: config.json
 * against the tensors, the tokenizer against the vocabulary, shards against
 * each other.  Each file has its own reader:
 *
 *     sidecar           opening these files, and the list of their names
 *     folder_config     config.json
 *     folder_type       its model_type and sizes
 *     converted         names of models that lib/hf/hub converts
 *     folder_tensors    tensors, by families.def and config.json
 *     folder_tokens     tokenizer.json and ids of special tokens
 *     folder_templates  chat templates
 *     folder_shards     other shards in the folder, and shards that are unlike
 *
 * All this was compared with transformers: it makes a model out of config.json
 * first, and then looks its tensors up.  A tensor that is missing is
 * initialized with random numbers, one of another shape ends loading, an
 * unknown one is ignored.
 *
 * What always holds:
 * - Sidecars are read from their first byte to the last, and never kept: a
 *   tokenizer.json of many megabytes costs the reader's window.
 * - A sidecar that cannot be parsed is a finding, not an error of the call.
 * - What is not certain is not reported: of a model type without a row only the
 *   files' syntax and token ids are checked.
 *
 * What was considered instead: the rows of lib/arch.  They say which tensors
 * llama.cpp looks up after the converter has merged, split and renamed them;
 * transformers has other conditions, as for biases, which config.json switches.
 */
#ifndef MF_LIB_FOLDER_H
#define MF_LIB_FOLDER_H

#include "lib/folder/sidecar.h"
#include "lib/model/model.h"

enum mf_folder_kind {
    MF_FOLDER_SIZE,
    MF_FOLDER_FLAG,
    MF_FOLDER_TEXT,
    MF_FOLDER_ID,
    MF_FOLDER_LIST,
    MF_FOLDER_ANY
};

enum mf_folder_field {
#define FIELD(NAME, path, KIND, usual) MF_FIELD_##NAME,
#include "lib/folder/config.def"
#undef FIELD
    MF_FIELD_COUNT
};

struct mf_folder_value {
    bool given; /* and not null, and as its row says */
    bool wrong; /* given as something else */
    bool is_true;
    uint64_t number;
    char text[64]; /* or the digits of a number */
};

struct mf_folder {
    struct mf_model *model;
    struct mf_arena *arena;
    bool has_config; /* and it could be read */
    struct mf_folder_value value[MF_FIELD_COUNT];
};

/* Adds findings about the files next to the model. */
enum mf_status mf_folder_check(struct mf_model *model);

/* ---- between folder_*.c ---- */

/* A row of families.def. */
struct mf_folder_type {
    const char *name;
    int family; /* a bit of families.h */
    bool tied;
    int head, kv;
};

/* The type that config.json names; NULL if there is no row for it. */
const struct mf_folder_type *mf_folder_type(const struct mf_folder *folder);

/* Model types and names of classes that lib/hf/hub converts, one after the
 * other with a NUL after each; an empty one ends them.  Made from its rows when
 * the library is built. */
extern const char mf_folder_converted[];

/* The key of a field in config.json. */
const char *mf_folder_key(enum mf_folder_field field);

/* Reads config.json. */
enum mf_status mf_folder_read_config(struct mf_folder *folder);

/* Reads the ids of special tokens in generation_config.json instead. */
enum mf_status mf_folder_read_generation(struct mf_folder *folder, bool *found);

/* Closes a sidecar.  If its bytes are at fault, that is a finding, and the
 * result is MF_OK.  *good: whether it was read to its end. */
enum mf_status mf_folder_close(struct mf_folder *folder,
                               struct mf_sidecar *file, enum mf_status status,
                               enum mf_severity severity, bool *good);

/* Whether every file of the model is open. */
bool mf_folder_is_whole(const struct mf_model *model);

void mf_folder_check_values(struct mf_folder *folder);
enum mf_status mf_folder_check_tensors(struct mf_folder *folder);
enum mf_status mf_folder_check_tokens(struct mf_folder *folder);
enum mf_status mf_folder_check_templates(struct mf_folder *folder);
enum mf_status mf_folder_check_shards(struct mf_folder *folder);

#endif
