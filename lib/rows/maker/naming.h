/* SPDX-License-Identifier: MIT
 *
 * naming.h - what tensors are called: section names
 *
 * Rows of lib/hf/hub/names: tensors and their names in GGUF, their names in
 * Hugging Face's models, and which of them an architecture has.
 */
#ifndef MF_ROWS_NAMING_H
#define MF_ROWS_NAMING_H

#include <stdio.h>

#include "lib/rows/codes.h"
#include "lib/rows/maker/loader.h"

extern const struct language naming_language;

struct naming_tensor {
    const struct row *row;
    struct text name; /* in GGUF; "#" for the number of a block */
    unsigned flags;   /* enum mf_naming_flag */
    bool used;
};

struct naming_prefix {
    struct text text;
    size_t first; /* of its rows */
};

struct naming_row {
    struct text rest;
    size_t count, tensor[MF_NAMING_MEANINGS];
};

struct naming_only {
    struct text name;
    size_t tensor;
};

struct naming_arch {
    struct text name;
    size_t only; /* the first one of its own */
    bool has[16 * MF_NAMING_WORDS];
};

struct naming {
    struct words ids; /* of the tensors */
    struct naming_tensor *tensor;
    struct naming_prefix *prefix;
    struct naming_row *row;
    struct naming_only *only;
    struct naming_arch *arch;
    size_t prefixes, rows, onlys, archs;
};

/* Checks the rows, and reads them. */
void naming_read(struct naming *naming, const struct source *source);

/* An architecture that has no paragraph has the tensors that its loader looks
 * up.  Then no tensor is left that nothing uses. */
void naming_add_loaded(struct naming *naming, const struct source *loader);

/* As tables of lib/hf/hub/naming.h (naming_code.c). */
void naming_put(FILE *out, const struct naming *naming);

#endif
