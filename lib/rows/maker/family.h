/* SPDX-License-Identifier: MIT
 *
 * family.h - rows about config.json and its tensors: sections convert, restore
 */
#ifndef MF_ROWS_FAMILY_H
#define MF_ROWS_FAMILY_H

#include "lib/rows/maker/loader.h"

extern const struct language family_language;
extern const struct function family_functions[];

/* loader: rows of sections loader, whose architectures and keys these know.
 * fields: the names that a config.json may have, a word each. */
void family_check(struct source *source, const struct source *loader,
                  const struct words *fields);

/* ---- what finds a paragraph (family_head.c) ---- */

/* Names and classes that two have, or that mean nothing. */
void family_check_heads(const struct source *source,
                        const struct source *loader);

/* ---- rows about tensors (family_tensor.c) ---- */

/* Reads an expression, and the names in it. */
typedef void family_see(void *user, const struct row *row, struct text *text);

/* Whether it is such a row; if so, says what is wrong with it. */
bool family_tensor_row(const struct row *row, struct text word,
                       struct text rest, family_see *see, void *user);

/* The words that begin such rows; ends with NULL. */
extern const char *const family_tensor_words[];

#endif
