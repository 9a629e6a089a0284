/* SPDX-License-Identifier: MIT
 *
 * group.h - what paragraphs of all languages share
 */
#ifndef MF_ROWS_GROUP_H
#define MF_ROWS_GROUP_H

#include "lib/rows/maker/rows.h"

/* Checks that a `use` row names a group, with as many arguments as that has
 * parameters; the group, or NULL. */
struct part *rows_use(const struct source *source, const struct row *row,
                      struct text rest);

/* An error where a group has more than so many parameters, or one twice. */
void rows_parameters(const struct part *part, size_t most);

/* An error where a paragraph before has the same name, and hides this one. */
void rows_twice(const struct source *source, const struct part *part);

/* An error where words follow the name of a paragraph, which has one. */
void rows_one_name(const struct part *part);

/* How many rows of that word one run of the paragraph, and of those that it
 * uses, comes across at most; all: on all sides of each `if` together.  For
 * rows without errors. */
size_t rows_most(const struct source *source, const struct part *part,
                 const char *word, bool all);

/* An error where nothing uses a group, a parameter of it, or a `let` row whose
 * name is not used. */
void rows_unused(const struct part *part, const struct words *used);

/* The number of the parameter in its group, from 1 on; 0: not a parameter. */
size_t rows_parameter(const struct part *part, struct text name);

/* The paragraph that a row `use` in one of that kind names: a group, or else
 * another one of the kind; NULL: there is none. */
struct part *rows_used(const struct source *source, struct text kind,
                       struct text name);

/* What the row is followed by, if it is `use` or `like`, or NULL. */
const struct part *rows_next(const struct source *source,
                             const struct part *part, const struct row *row);

/* An error for each row by which paragraphs use each other, or one itself: it
 * would be run without end.  Whether there is one. */
bool rows_cycles(const struct source *source);

/* Whether `if`, `else`, `end` and `each` match; elif: it is a word of
 * the language. */
void rows_nesting(const struct part *part, bool elif);

#endif
