/* SPDX-License-Identifier: MIT
 *
 * textfile.h - a whole text file in memory: a manifest, an earlier report
 */
#ifndef MF_CLI_TEXTFILE_H
#define MF_CLI_TEXTFILE_H

#include "cli/cli.h"

struct textfile {
    char *text; /* terminated */
    size_t size;
};

/* "-" is standard input, which may be a pipe.  what: "the manifest".  False
 * after a report. */
bool textfile_read(struct run *run, const char *path, const char *what,
                   struct textfile *out);
void textfile_release(struct run *run, struct textfile *file);

#endif
