/* SPDX-License-Identifier: MIT
 *
 * names.h - tensors and metadata keys that operands name
 */
#ifndef MF_CLI_NAMES_H
#define MF_CLI_NAMES_H

#include "cli/cli.h"

enum named { NAMED_TENSOR, NAMED_KEY, NAMED_COLUMN };

/* pattern: a glob, or NULL for all.  The name is terminated. */
bool names_match(const char *pattern, struct mf_str name);

/* report_absent: the model has no such name, or none that matches the pattern;
 * suggests the nearest.  A pattern that is a file is report_usage. */
void names_missing(struct run *run, const struct mf_model *model,
                   enum named named, const char *name);
void names_unmatched(struct run *run, const struct mf_model *model,
                     enum named named, const char *pattern);

/* For check_operands of a command with FILE [PATTERN]: false after report_usage
 * if several files were given, most often by a pattern of the shell. */
bool names_one_file(struct run *run, enum named named);

#endif
