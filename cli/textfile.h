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

/* A file that is larger is refused before it is read to its end; so is one
 * with a NUL where that is not text. */
struct textkind {
    const char *what; /* "the manifest" */
    size_t size_max;
    bool nul_refused;
};

/* Far above the size of a manifest of a million tensors. */
#define TEXTFILE_MAX ((size_t)256 * 1024 * 1024)

/* No output of the run may replace the file.  "-" is standard input.  It and
 * the path may be pipes; an idle pipe is refused after some seconds.  False
 * after a report. */
bool textfile_read(struct run *run, const char *path,
                   const struct textkind *kind, struct textfile *out);
void textfile_release(struct run *run, struct textfile *file);

#endif
