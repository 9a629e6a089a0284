/* SPDX-License-Identifier: MIT
 *
 * rows_of.h - rows and expressions of a test, made into bytes as the library's
 */
#ifndef MF_TESTS_ROWS_OF_H
#define MF_TESTS_ROWS_OF_H

#include "lib/rows/rows.h"

enum rows_language { OF_LOADER, OF_GRAPH, OF_FAMILY };

/* The paragraphs of a text; they stay until the program ends.  Rows are not
 * checked: a test says what it means. */
const struct mf_rows *rows_of(enum rows_language language, const char *text);

/* The rows of one paragraph of that kind, without its head. */
struct mf_code rows_in(enum rows_language language, const char *kind,
                       const char *text);

/* An expression of a family, or of a group of loaders with these parameters. */
struct mf_code family_expression(const char *text);
struct mf_code loader_expression(const char *text, const char *parameters);

#endif
