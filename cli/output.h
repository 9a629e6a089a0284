/* SPDX-License-Identifier: MIT
 *
 * output.h - the operand OUT: a file, or standard output
 */
#ifndef MF_CLI_OUTPUT_H
#define MF_CLI_OUTPUT_H

#include "cli/cli.h"

/* What the library is to write to: "-" for every name of standard output, even
 * if that is a regular file. */
const char *output_path(const char *operand);
bool output_is_stdout(const char *operand);

/* False after report_usage if both the file and JSON would go to standard
 * output. */
bool output_fits(struct run *run, const char *operand);

/* False after report_usage if --resume makes no sense for the file. */
bool output_can_resume(struct run *run, const char *operand);

/* Remarks on files next to those that were written, count shards of that format
 * or the one at path: files that a process left when it was killed. */
void output_name_left(struct run *run, const char *path, const char *format,
                      size_t count);

/* A remark if the model is Hugging Face's and the file at path will be one for
 * llama.cpp, which cannot load such tensors, and no later step renames them.
 * format: what --to says, or NULL. */
void output_remark_names(struct run *run, struct mf_model *model,
                         const char *path, const char *format);

#endif
