/* SPDX-License-Identifier: MIT
 *
 * jobs.h - many files, each by a process of its own: --jobs, --part and --log
 *
 * The process that finds the files forks one for each of them, in the sandbox,
 * and prints what they print in the order of the files.  So a file that cannot
 * be read, or ends its process, stops nothing, and with --json each file has
 * the document that a run for it alone prints, on one line.  The answer ends
 * with a summary.  Of several ranks each reads some of the files itself: see
 * ranks.h.
 */
#ifndef MF_CLI_JOBS_H
#define MF_CLI_JOBS_H

#include "cli/cli.h"

/* For a command that takes many files. */
#define OPTIONS_JOBS                                                           \
    OPTION_COUNT("--jobs", "N", shared_options.jobs,                           \
                 "N files at once, each by a process of its own; --json "      \
                 "prints a line for each"),                                    \
        OPTION_TEXT("--part", "I/N", shared_options.part,                      \
                    "of all files, those of part I of N"),                     \
        OPTION_TEXT("--log", "FILE", shared_options.log,                       \
                    "note finished files in FILE, and leave out those that "   \
                    "it names")

/* Checks these options, and opens the log: before the sandbox.  False after a
 * report. */
bool jobs_begin(struct run *run);

/* Whether one of them is given: then each file goes through jobs_give. */
bool jobs_are_used(void);

/* False after a report: an option that makes one answer about all files. */
bool jobs_allow(struct run *run, const char *option);

struct jobs_act {
    void (*act)(void *user);
    void *user;
    bool keeps_env; /* run->env has the error that act reports */
};

/* Acts in a process of its own, whose answer is about the file alone, once
 * fewer than --jobs are at work; or leaves the file out. */
void jobs_give(struct run *run, const char *path, const struct jobs_act *act);

/* Waits for all of them, and prints the summary. */
void jobs_end(struct run *run);

#endif
