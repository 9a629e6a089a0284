/* SPDX-License-Identifier: MIT
 *
 * files_from.h - --files-from LIST: paths in a file, one per line
 *
 * A list with a NUL in it has one after each path instead, as `find -print0`
 * writes it.  Empty lines are skipped.  The list is read before the sandbox is
 * entered, which must know the files that will be written.
 */
#ifndef MF_CLI_FILES_FROM_H
#define MF_CLI_FILES_FROM_H

#include "cli/cli.h"

/* For check_operands of a command with FILE...: adds the paths to the operands.
 * False after a report. */
bool files_from_operands(struct run *run);

/* For check_operands of a command with FILE and other words: operand[0] becomes
 * the first file, the words follow in their order, and run->listed has the
 * other files, the list's last.  Without any file nothing is changed. is_file:
 * whether an operand is one.  False after a report. */
bool files_from_sort(struct run *run,
                     bool (*is_file)(const struct run *run, size_t index));

/* The same for a command with FILE in front and other words, of which all are
 * words where there is a list. */
bool files_from_first(struct run *run);

/* Whether an answer about a file must name it: also if the list has only one.
 */
bool files_from_several(const struct run *run);

/* Names operand[0], one of several, above a text about it; not in JSON. */
void files_from_heading(struct run *run);

#endif
