/* SPDX-License-Identifier: MIT
 *
 * roff.h - text of a manual page, in the macros of man(7)
 *
 * A text is printed as it is: its dots and backslashes are not taken for
 * requests and escapes.
 */
#ifndef MF_CLI_COMMANDS_HELP_ROFF_H
#define MF_CLI_COMMANDS_HELP_ROFF_H

#include "cli/out.h"

/* Begins a page: "modelfile-hash", 1, and what it is about. */
void roff_name(struct out *out, const char *name, int section,
               const char *summary);

void roff_heading(struct out *out, const char *heading);
void roff_subheading(struct out *out, const char *heading);

/* Part of a line. */
void roff_part(struct out *out, const char *text);

/* Another page, and what follows. */
void roff_reference(struct out *out, const char *name, int section,
                    const char *after);

/* A paragraph each, filled; an empty line is between two.  What looks like an
 * option is bold, and so is what is between backticks. */
void roff_paragraphs(struct out *out, const char *text);

/* The same without a macro before the first one: after a tag or a heading. */
void roff_text(struct out *out, const char *text);

/* Lines as they are. */
void roff_lines_begin(struct out *out);
void roff_line(struct out *out, const char *text, size_t size);
void roff_lines_end(struct out *out);

/* A tag with its text: "NAME", in bold. */
void roff_tag(struct out *out, const char *tag, const char *text);

#endif
