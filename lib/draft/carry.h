/* SPDX-License-Identifier: MIT
 *
 * carry.h - the metadata of one format in another
 */
#ifndef MF_LIB_CARRY_H
#define MF_LIB_CARRY_H

#include "lib/base/str.h"
#include "lib/draft/draft.h"
#include "lib/model/model.h"

/* Lists the model's metadata in the draft, under the keys and with the types
 * that the draft's format has for them.  What cannot be carried is an error, or
 * with draft->lossy left out and counted in *left_out. */
enum mf_status mf_carry_metadata(struct mf_draft *draft, struct mf_model *model,
                                 size_t *left_out);

/* The same for a draft of GGUF that is only looked at, never written: what
 * cannot be carried is left out.  Starts the draft; to be released in any
 * case. */
enum mf_status mf_carry_as_gguf(struct mf_draft *draft, struct mf_model *model);

/* Whether a tensor has a type of blocks. */
bool mf_has_blocks(const struct mf_index *index);

/* Whether a metadatum is one of those that other formats do without, and make
 * anew where they need it. */
bool mf_carry_omits(struct mf_draft *draft, struct mf_model *model, size_t at);

/* Gives an edit of a typed format's metadatum the key that this has in the
 * draft. */
enum mf_status mf_carry_edit(struct mf_draft *draft, struct mf_edit *edit);

/* ---- typed_key.c: the type of a value in its key ---- */

struct mf_typed_key {
    struct mf_str name;
    enum mf_value_type type; /* of an array's elements, or of the value */
    bool array, json;
};

/* What a reader of JSON takes such a value for, so that the key need not say
 * it. */
bool mf_entry_is_plain_json(const struct mf_entry *entry);

/* Makes an entry's key tell its type: KEY:TYPE or KEY:TYPE[]; KEY:json for what
 * only JSON has. */
enum mf_status mf_entry_add_type(struct mf_draft *draft,
                                 struct mf_entry *entry);

/* False where the key tells no type. */
bool mf_typed_key_parse(struct mf_str key, struct mf_typed_key *out);

/* Gives the entry the type that its key tells; false where its value has
 * another. */
bool mf_entry_set_type(struct mf_entry *entry,
                       const struct mf_typed_key *typed);

/* What JSON tells without a type: such a value in a safetensors file may come
 * from there. */
bool mf_typed_key_may_be_json(const struct mf_typed_key *typed);

/* ---- draft_edits.c: what a program or a user wants of the metadata ---- */

/* Metadata of the draft as the edits want it; an edit of what is not there is
 * no error. */
enum mf_status mf_draft_edit(struct mf_draft *draft,
                             const struct mf_edit *edits, size_t count);

/* MF_ERR_ARGUMENT where the list, a key or a value that must be there is NULL.
 */
enum mf_status mf_edits_check(struct mf_env *env, const struct mf_edit *edits,
                              size_t count);

/* The entry of that name, whether its key tells a type or not; NULL where there
 * is none. */
struct mf_entry *mf_draft_find_named(const struct mf_draft *draft,
                                     const char *name);

/* ---- carry_row.c: keys that GGUF and APR have under names of their own ----
 */

struct mf_carry {
    struct mf_draft *draft;
    struct mf_model *model;
    enum mf_values_kind from, to;
    struct mf_str architecture; /* at NULL: not known */
};

struct mf_carry_row; /* of carry.def */

/* The row that speaks of the entry; NULL where there is none. */
const struct mf_carry_row *mf_carry_row_of(const struct mf_carry *carry,
                                           const struct mf_entry *entry);

/* Gives the entry the key and the type that the other format has for it. */
enum mf_status mf_carry_row_apply(const struct mf_carry *carry,
                                  const struct mf_carry_row *row,
                                  struct mf_entry *entry);

/* Whether a reader of APR's keys takes this one for another, or passes it by:
 * a key of GGUF that looks like that must tell its type. */
bool mf_is_apr_key(struct mf_str key);

/* ---- carry_apr.c: what every APR file says ---- */

bool mf_is_model_type(const struct mf_entry *entry);

/* A model_type that tells no more than the architecture does. */
bool mf_carry_is_plain_type(const struct mf_carry *carry,
                            const struct mf_entry *entry);

/* What mf_carry_complete_apr says again when this comes back from strings. */
bool mf_carry_is_filler(const struct mf_carry *carry,
                        const struct mf_entry *entry);

/* What every APR file says, known or not: aprender asks for it. */
enum mf_status mf_carry_complete_apr(const struct mf_carry *carry);

/* GGUF knows a model's kind by one key alone: APR's model_type must not get
 * lost where it stands for it. */
enum mf_status mf_carry_name_architecture(const struct mf_carry *carry);

#endif
