/* SPDX-License-Identifier: MIT
 *
 * lines.h - the lines of a text file, and their words, as Python reads them
 */
#ifndef MF_LIB_LINES_H
#define MF_LIB_LINES_H

#include "lib/io/reader.h"

#define MF_LINE_MAX 4096

struct mf_lines {
    struct mf_reader *reader;
    bool ended; /* the line had an end: the last one of a file may lack it */
    char text[MF_LINE_MAX];
};

/* The next line without its end, which is \n, \r or both; false: none is left,
 * or after mf_fail: one is too long, or not UTF-8. */
bool mf_lines_next(struct mf_lines *lines, struct mf_str *line);

/* The next word of a line, which gets shorter; size 0: none. */
struct mf_str mf_line_word(struct mf_str *line);

#endif
