/* SPDX-License-Identifier: MIT
 *
 * write.h - writing the model IN as OUT: convert, dequantize, split, merge
 */
#ifndef MF_CLI_CONVERT_WRITE_H
#define MF_CLI_CONVERT_WRITE_H

#include "cli/cli.h"
#include "lib/program.h"

/* Options of several of these commands. */
#define OPTION_TO(variable)                                                    \
    OPTION_FORMAT("--to", FORMATS_WRITABLE, variable,                          \
                  "format of OUT; default: by its suffix")
#define OPTION_LOSSY(variable)                                                 \
    OPTION_FLAG("--lossy", variable,                                           \
                "drop metadata that the format cannot hold")
#define OPTION_NONFINITE(variable)                                             \
    OPTION_FLAG("--allow-nonfinite", variable,                                 \
                "write NaN and infinite values instead of refusing them")

/* For the next write_model: only these tensors. */
void write_select(const struct mf_selection *selection);

/* Writes the model, --force and --dry-run regarded.  The operands are IN and
 * OUT. */
void write_model(struct run *run, const struct mf_convert_options *how);

/* The same, unless other returns true: then it has done what there is to do
 * with the input. */
typedef bool write_instead(struct run *run, struct mf_model *model);
void write_model_or(struct run *run, const struct mf_convert_options *how,
                    write_instead *other);

/* The same, for an OUT that only the model can name: `name` returns the path,
 * or NULL after a report. */
typedef const char *write_name(struct run *run, struct mf_model *model,
                               const struct mf_convert_options *how);
void write_model_named(struct run *run, const struct mf_convert_options *how,
                       write_name *name);

/* Whether the path has the suffix of a format that can be written. */
bool write_suffix_of(const char *path);

/* False after report_usage if OUT has a suffix that no format has. */
bool write_suffix_is_known(struct run *run);

/* For struct command: OUT will be written; a folder as OUT will be tried. */
void write_allow_out(struct run *run);
void write_allow_tried(struct run *run);

#endif
