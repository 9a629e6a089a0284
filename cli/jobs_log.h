/* SPDX-License-Identifier: MIT
 *
 * jobs_log.h - --log FILE: which files are finished
 *
 * Its first line has the command and its options.  Each other line is a file
 * whose process has ended with 0 or 1: the code, the file's size and time, and
 * its path, in which a backslash and a newline are escaped.  A line that was
 * cut does not count.
 */
#ifndef MF_CLI_JOBS_LOG_H
#define MF_CLI_JOBS_LOG_H

#include <limits.h>

#include "cli/cli.h"

struct jobs_file {
    char path[PATH_MAX];
    bool noted; /* it is a file: of a folder, the time says little */
    uint64_t size;
    int64_t seconds; /* when it was changed */
    int64_t nanoseconds;
};

/* False after a report: it is another command's, in use, or cannot be read. */
bool jobs_log_open(struct run *run);

/* The code that the log has for the file as it is now; -1: none.  out: it. */
int jobs_log_find(const char *path, struct jobs_file *out);

/* The file's process has ended with that code.  Without a log nothing is
 * done. */
void jobs_log_add(struct run *run, const struct jobs_file *file, int code);

/* The same in two steps: a rank makes the line, if the file gets one, and rank
 * 0 adds it. */
void jobs_log_line(const struct jobs_file *file, int code,
                   void (*line)(void *user, const char *at, size_t size),
                   void *user);
void jobs_log_put(struct run *run, const char *line, size_t size);

#endif
