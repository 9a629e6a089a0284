/* SPDX-License-Identifier: MIT
 *
 * kinds.h - files that are not models, and what they say about themselves
 */
#ifndef CLI_KINDS_H
#define CLI_KINDS_H

#include "cli/cli.h"

#define KINDS_COUNT 2

struct kind {
    const char *name; /* in JSON */
    bool (*is)(struct mf_model *model);
    bool entries; /* of an importance matrix are counted */
    struct {
        const char *name, *label, *key;
    } row[12]; /* until one without a key, which a file may lack */
};
extern const struct kind kinds[KINDS_COUNT];

/* Whether the file has the key of that row; *at is its place. */
bool kind_row(struct mf_model *model, const struct kind *kind, size_t row,
              struct mf_meta *meta, size_t *at);

/* Of an importance matrix. */
size_t kind_entries(struct mf_model *model);

/* A member of the object for `info`: null for files of other kinds. */
void kind_json(struct run *run, struct mf_model *model,
               const struct kind *kind);

/* ---- a file that is a table ---- */

/* Lines of a label and a value, the value in that column; false of a model. */
bool table_text(struct run *run, const struct mf_model *model, size_t column);

/* The member "table", null of a model. */
void table_json(struct run *run, const struct mf_model *model);

/* ---- a LoRA adapter ---- */

/* Lines of a label and a value, the value in that column; of a model that is
 * not an adapter none. */
void adapter_text(struct run *run, struct mf_model *model, size_t column);

/* The member "adapter", null of a model that is not one. */
void adapter_json(struct run *run, struct mf_model *model);

#endif
