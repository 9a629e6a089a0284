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

/* False after a report if a file has the name and --force is not given: for
 * what is written after long work. */
bool output_is_free(struct run *run, const char *operand);

/* False after report_usage if --resume or --part makes no sense for the file.
 */
bool output_can_keep(struct run *run, const char *operand);

/* The same for an option that --part excludes, if it is given. */
bool output_excludes_part(struct run *run, const char *option, bool given);

/* Sets what --part says; after output_can_keep. */
void output_set_part(struct run *run, struct mf_convert_options *how);

/* What became of an output of so many files: "was written". */
const char *output_done(const struct run *run, size_t files);

/* Of a part, what it is: " (part 3 of 7)", else ""; the members "part" and
 * "parts". */
struct part_text {
    char at[64];
};
struct part_text output_part_text(struct run *run);
void output_part_json(struct run *run);

/* Remarks on files next to those that were written, count shards of that format
 * or the one at path: files that a process left when it was killed. */
void output_name_left(struct run *run, const char *path, const char *format,
                      size_t count);

/* --names of several commands. */
enum names { NAMES_DEFAULT, NAMES_GGUF, NAMES_HF, NAMES_KEEP };
#define OPTION_NAMES(variable)                                                 \
    OPTION_CHOICE("--names", "gguf|hf|keep", NAMES_GGUF, variable,             \
                  "tensor names of llama.cpp or Hugging Face, or as they "     \
                  "are; default: gguf for a Hugging Face folder that becomes " \
                  "GGUF, else keep")
enum mf_naming output_naming(unsigned names);

/* --endian of several commands; the name for struct mf_convert_options. */
#define OPTION_ENDIAN(variable)                                                \
    OPTION_CHOICE("--endian", "big|little", 1, variable,                       \
                  "byte order of a GGUF file; default: as IN")
const char *output_order(unsigned order);

/* Decides what the default means for the file at path; false after a report.
 * If names stay that nothing asked for, remarks that llama.cpp does not load
 * them. */
bool output_choose_names(struct run *run, struct mf_model *model,
                         const char *path, struct mf_convert_options *how);

#endif
