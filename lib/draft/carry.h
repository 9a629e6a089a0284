/* SPDX-License-Identifier: MIT
 *
 * carry.h - carrying metadata from one format to another
 */
#ifndef MF_LIB_CARRY_H
#define MF_LIB_CARRY_H

#include "lib/base/str.h"
#include "lib/draft/draft.h"
#include "lib/model/model.h"

/* Adds the model's metadata to the draft, with the keys and types of the
 * draft's format.  What cannot be carried is an error, or with draft->lossy
 * dropped and counted in *left_out. */
enum mf_status mf_carry_metadata(struct mf_draft *draft, struct mf_model *model,
                                 size_t *left_out);

/* The same as a draft of GGUF that is only read, never written: what cannot be
 * carried is dropped.  Initializes the draft, which has to be released even
 * after a failure. */
enum mf_status mf_carry_as_gguf(struct mf_draft *draft, struct mf_model *model);

/* Whether any tensor is quantized in blocks. */
bool mf_has_blocks(const struct mf_index *index);

/* Whether other formats omit this metadata key, and add it again where they
 * need it. */
bool mf_carry_omits(struct mf_draft *draft, struct mf_model *model, size_t at);

/* Changes the key of an edit from a typed format's to the draft's. */
enum mf_status mf_carry_edit(struct mf_draft *draft, struct mf_edit *edit);

/* ---- typed_key.c: the type of a value in its key ---- */

struct mf_typed_key {
    struct mf_str name;
    enum mf_value_type type; /* of an array's elements, or of the value */
    bool array, json;
};

/* Whether a reader of JSON finds out the value's type, so that the key need not
 * give it. */
bool mf_entry_is_plain_json(const struct mf_entry *entry);

/* Adds the type to an entry's key: KEY:TYPE or KEY:TYPE[], and KEY:json for
 * what only JSON has. */
enum mf_status mf_entry_add_type(struct mf_draft *draft,
                                 struct mf_entry *entry);

/* False where the key does not contain a type. */
bool mf_typed_key_parse(struct mf_str key, struct mf_typed_key *out);

/* Gives the entry the type in its key; false where its value does not fit. */
bool mf_entry_set_type(struct mf_entry *entry,
                       const struct mf_typed_key *typed);

/* Whether the value may have come from JSON: those types JSON can express. */
bool mf_typed_key_may_be_json(const struct mf_typed_key *typed);

/* ---- draft_edits.c: edits of the metadata ---- */

/* Applies the edits to the draft; to unset a missing key is not an error. */
enum mf_status mf_draft_edit(struct mf_draft *draft,
                             const struct mf_edit *edits, size_t count);

/* MF_ERR_ARGUMENT where the list, a key or a required value is NULL. */
enum mf_status mf_edits_check(struct mf_env *env, const struct mf_edit *edits,
                              size_t count);

/* The entry of that name, whether its key contains a type or not; or NULL. */
struct mf_entry *mf_draft_find_named(const struct mf_draft *draft,
                                     const char *name);

/* ---- carry_apr.c: keys that GGUF and APR name differently ---- */

struct mf_carry {
    struct mf_draft *draft;
    struct mf_model *model;
    enum mf_values_kind from, to;
    struct mf_str architecture; /* at NULL: unknown */
};

struct mf_carry_row; /* of carry.def */

/* The row that applies to the entry, or NULL. */
const struct mf_carry_row *mf_carry_row_of(const struct mf_carry *carry,
                                           const struct mf_entry *entry);

/* Gives the entry the key and type of the other format. */
enum mf_status mf_carry_row_apply(const struct mf_carry *carry,
                                  const struct mf_carry_row *row,
                                  struct mf_entry *entry);

/* Whether APR has this key, with a meaning of its own.  A key of GGUF of that
 * name gets its type added, or a reader would mistake it. */
bool mf_is_apr_key(struct mf_str key);

/* ---- carry_apr.c: keys that every APR file has ---- */

bool mf_is_model_type(const struct mf_entry *entry);

/* A model_type that is empty or the same as the architecture. */
bool mf_carry_is_plain_type(const struct mf_carry *carry,
                            const struct mf_entry *entry);

/* A key that mf_carry_complete_apr adds again on the way back. */
bool mf_carry_is_filler(const struct mf_carry *carry,
                        const struct mf_entry *entry);

/* Adds the keys that aprender requires, with null where unknown. */
enum mf_status mf_carry_complete_apr(const struct mf_carry *carry);

/* Adds general.architecture, from which alone GGUF's readers know the kind of
 * model, where only a model_type gave it. */
enum mf_status mf_carry_name_architecture(const struct mf_carry *carry);

#endif
