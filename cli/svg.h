/* SPDX-License-Identifier: MIT
 *
 * svg.h - parts of a picture
 *
 * Pictures have no script and load nothing.  Their colours follow the reader's
 * scheme, light or dark.
 */
#ifndef MF_CLI_SVG_H
#define MF_CLI_SVG_H

#include "cli/buffer.h"

struct svg {
    struct run *run;
    struct buffer *out;
    bool failed; /* by an error of the env; what follows adds nothing */
};

/* The title of a picture about a model: the last part of its path. */
struct mf_str svg_title(const char *path);

/* The beginning, with paper and styles, and the title, which begins at left;
 * what: follows the title in the name of the picture. */
void svg_head(struct svg *to, int width, int height, int left,
              struct mf_str title, const char *what);

/* Writes a picture that is complete; model: what it was made of, or NULL.
 * False after a report. */
bool svg_write(struct run *run, struct mf_model *model,
               const struct buffer *picture, const char *path);

/* At most 511 bytes. */
void svg_format(struct svg *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Text from a file: what cannot be in XML is escaped as in a terminal. */
void svg_text(struct svg *to, struct mf_str text);

void svg_label(struct svg *to, double x, double y, const char *attributes,
               const char *text);

#endif
