/* SPDX-License-Identifier: MIT
 *
 * languages.h - the rows of each language as bytes
 */
#ifndef MF_ROWS_LANGUAGES_H
#define MF_ROWS_LANGUAGES_H

#include "lib/rows/maker/code.h"
#include "lib/rows/maker/family.h"
#include "lib/rows/maker/graph.h"
#include "lib/rows/maker/write.h"

/* A program of all paragraphs of a source, in their order. */
struct program program_of(const struct source *source,
                          const struct function *functions, put_row *put);

/* The same with the functions and rows of a language (write.c). */
struct program rows_program(const struct source *source, enum rows_table which);

/* The operands of a row of the language that others do not have. */
put_row put_loader_row;
put_row put_graph_row;
put_row put_family_row;

/* All of the text is an expression; and expressions between commas as a list
 * (rows_code.c). */
void put_whole(struct writing *to, struct text text);
void put_list(struct writing *to, struct text text);

#endif
