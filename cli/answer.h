/* SPDX-License-Identifier: MIT
 *
 * answer.h - the document that --json prints
 *
 *     {"schema": 2, "files": [{"file": ..., ...}, ...], ..., "run": {...}}
 *
 * A command that takes files has an object for each of them in `files`, with
 * all that is about that file; what is about several together, such as whether
 * they are the same, comes after it.  The last member is the cost of the run.
 * Without --json these functions print nothing.
 */
#ifndef MF_CLI_ANSWER_H
#define MF_CLI_ANSWER_H

#include "cli/cli.h"

/* Raised when a member is removed or changes its meaning; not for new ones. */
#define JSON_SCHEMA 2

/* The document, with the end of its line.  It is one sample of --record, unless
 * each file is one: see inputs_each. */
void answer_begin(struct run *run);
void answer_end(struct run *run);

/* The array. */
void answer_files_begin(struct run *run);
void answer_files_end(struct run *run);

/* The object of one file in it. */
void answer_file_begin(struct run *run, const char *path);
void answer_file_end(struct run *run);

/* All three, for a command with one file. */
void answer_one_begin(struct run *run, const char *path);
void answer_one_end(struct run *run);

#endif
