/* SPDX-License-Identifier: MIT
 *
 * names.h - names that rows may have: of tensors, of keys, of fields
 */
#ifndef MF_ROWS_NAMES_H
#define MF_ROWS_NAMES_H

#include "lib/rows/maker/rows.h"

struct names {
    struct words fields;  /* of config.json */
    struct words tensors; /* in GGUF, "*" for a block, without ".weight" */
};

extern struct names known_names;

/* Adds all words of a file. */
void names_read_fields(const char *file);

/* Adds those of the rows "tensor ID NAME" of sections names. */
void names_read_tensors(const struct source *naming);

/* The name in GGUF of a row `tensor`, as it is among known ones. */
struct text names_in_gguf(struct text name);

/* The same of a tensor's name that a loader has. */
struct text names_base(struct text name);

/* An error unless it is the name of a tensor in GGUF, with "*" or a number for
 * a block. */
void names_check_tensor(const struct row *row, struct text name);

#endif
