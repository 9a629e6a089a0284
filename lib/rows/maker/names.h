/* SPDX-License-Identifier: MIT
 *
 * names.h - names that rows may have: those of tensors, of keys, of fields
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

/* Adds those of the rows "tensor ID NAME" of lib/hf/hub/names. */
void names_read_tensors(const char *file);

/* An error unless it is the name of a tensor in GGUF, with "*" or a number for
 * a block. */
void names_check_tensor(const struct row *row, struct text name);

#endif
