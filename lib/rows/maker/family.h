/* SPDX-License-Identifier: MIT
 *
 * family.h - rows about config.json and its tensors: sections convert, restore
 */
#ifndef MF_ROWS_FAMILY_H
#define MF_ROWS_FAMILY_H

#include <stdio.h>

#include "lib/rows/maker/loader.h"

extern const struct language family_language;
extern const struct function family_functions[];

/* The types of a row `key`. */
extern const char *const family_key_types[];

/* loader: rows of sections loader, whose architectures and keys these know.
 * fields: the names that a config.json may have, a word each. */
void family_check(struct source *source, const struct source *loader,
                  const struct words *fields);

/* ---- what finds a paragraph (family_head.c) ---- */

/* Names and classes that two have, or that mean nothing. */
void family_check_heads(const struct source *source,
                        const struct source *loader);

/* Rows that are there once, or in one place.  The other rows are right
 * (family_once.c). */
void family_check_once(const struct source *source);

/* The names of all models that the rows convert, as a table in C
 * (family_converted.c). */
void family_put_converted(FILE *out, const struct source *source);

/* ---- rows about tensors (family_tensor.c) ---- */

/* Reads an expression, and the names in it. */
typedef void family_see(void *user, const struct row *row, struct text *text);

/* Whether it is such a row; if so, says what is wrong with it. */
bool family_tensor_row(const struct row *row, struct text word,
                       struct text rest, family_see *see, void *user);

/* The words that begin such rows; ends with NULL. */
extern const char *const family_tensor_words[];

/* ---- what these rows consist of (family_step.c) ---- */

/* The types of rows `type` and `gguf_type`. */
extern const char *const family_tensor_types[];

/* Which tensors of the list a step works on. */
enum family_step_on {
    STEP_EACH,
    STEP_ALL,
    STEP_ONE,
    STEP_LAST_ALL, /* no step follows */
    STEP_LAST_ONE,
    STEP_MADE /* none: it makes one */
};

struct family_step {
    const char *word;
    size_t least, most; /* numbers */
    int names;          /* 0: none, 1: one, 2: one or more */
    enum family_step_on on;
};

/* The rows of lib/hf/hub/tensor_steps.def; ends with a word of NULL. */
extern const struct family_step family_steps[];

/* A step as a row has it: "permute@2 q_heads as NAME ...". */
struct family_step_text {
    struct text word, numbers, names;
    const struct family_step *step; /* NULL: the word is unknown */
    bool one;                       /* there is an "@" */
    struct text only;               /* which tensor, from 1 on */
};

struct family_step_text family_split_step(struct text text);

/* The number that the text is, from 1 to 9; 0: it is not one. */
size_t family_small_number(struct text text);

/* ---- the list of tensors on the way through steps (family_list.c) ---- */

struct family_list {
    const struct row *row;
    struct text pattern;
    bool extra;       /* the row makes a tensor */
    size_t count;     /* tensors; 0: the row does not say how many */
    const char *last; /* the step after which none is left, or NULL */
};

/* The step is done; says what is wrong with it there.  names: new names that it
 * has. */
void family_list_step(struct family_list *list,
                      const struct family_step_text *step, size_t names);

/* After the last step. */
void family_list_end(const struct family_list *list);

/* Takes the next new name; brackets may have spaces in them. */
struct text family_take_template(struct text *text);

/* Whether the text begins with a word of a range: "from", "except". */
bool family_is_range(struct text text);

#endif
