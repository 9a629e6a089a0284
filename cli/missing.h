/* SPDX-License-Identifier: MIT
 *
 * missing.h - what a model has and the library does not read
 *
 * inputs_open calls missing_show, so no command answers without saying what it
 * does not know of.  A command that may not want it all sets chooses_missing.
 */
#ifndef MF_CLI_MISSING_H
#define MF_CLI_MISSING_H

#include "cli/cli.h"

/* For a command that needs all of a model. */
#define OPTION_ALLOW_MISSING                                                   \
    OPTION_FLAG("--allow-missing", shared_options.allow_missing,               \
                "continue without data that cannot be read")

/* The member "missing" of the object that is open; and remarks, unless the
 * command lists them by itself.  Does nothing for a model opened for its
 * metadata. */
void missing_show(struct run *run, const char *path,
                  const struct mf_model *model);

/* Remarks about what mf_model_select left out. */
void missing_show_skipped(struct run *run, const char *path,
                          const struct mf_model *model);

/* Lines of an answer in text. */
void missing_list(struct run *run, const struct mf_model *model);

/* ", 2 not read" where something is missing, for the end of a verdict. */
void missing_counted(struct run *run, const struct mf_model *model);

#endif
