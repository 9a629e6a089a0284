/* SPDX-License-Identifier: MIT
 *
 * fields.h - what a model of another format than GGUF says about itself
 */
#ifndef MF_LIB_FIELDS_H
#define MF_LIB_FIELDS_H

#include "lib/arch/arch.h"
#include "lib/json/json.h"

/* Collects fields that the rows of lib/arch use, in the arena: those of the
 * file's metadata, and those of the config.json next to it, of which a model's
 * part (text_config) comes before what is outside.  Where the file names an
 * architecture, config.json is not read.  *found, if not NULL: whether there is
 * one that was read.
 *
 * A config.json that cannot be parsed is an error. */
enum mf_status mf_hub_fields(struct mf_model *model, struct mf_arena *arena,
                             struct mf_arch_fields *out, bool *found);

/* ---- between fields*.c ---- */

#define MF_FIELDS_MAX 128

struct mf_fields {
    struct mf_model *model;
    struct mf_arena *arena;
    struct mf_json *json;
    struct mf_arch_field *at;  /* MF_FIELDS_MAX */
    bool inner[MF_FIELDS_MAX]; /* of the part of the model */
    size_t count, looked_up;
    int64_t element[MF_ARCH_LIST_MAX];
    uint64_t element_count;
    bool all_numbers;
};

/* The field of that name, a new one if need be; NULL if it is of no use, or
 * after mf_fail.  Of two the last one counts, and one of the model's part
 * (inner).  is_key: the file has it as a key of GGUF. */
struct mf_arch_field *mf_fields_take(struct mf_fields *fields,
                                     struct mf_str name, bool inner,
                                     bool is_key);

/* Empties the field, so that it can be given another value. */
void mf_fields_reset(struct mf_arch_field *field);

/* INT64_MIN: it is no integer, or one that does not fit. */
int64_t mf_fields_number(enum mf_value_type type, union mf_number number);

/* What a block has, by its word; 0: unknown. */
int64_t mf_fields_kind(struct mf_str word);

enum mf_status mf_fields_keep_text(struct mf_fields *fields,
                                   struct mf_arch_field *field,
                                   struct mf_str text);

void mf_fields_begin_list(struct mf_fields *fields);
void mf_fields_add(struct mf_fields *fields, int64_t number);
enum mf_status mf_fields_end_list(struct mf_fields *fields,
                                  struct mf_arch_field *field);

/* Takes the fields that the model's metadata has. */
enum mf_status mf_fields_read_metadata(struct mf_fields *fields);

#endif
