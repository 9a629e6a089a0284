/* SPDX-License-Identifier: MIT
 *
 * measure.h - the door of cli/measure: what other commands know of measuring
 *
 * The folder has the command bench, which is a row of commands.def, and the
 * record of any command (--record, --power).  The rest of cli includes this
 * header of it and no other.  Without --record all functions do nothing;
 * record.h says what is written.
 */
#ifndef MF_CLI_MEASURE_H
#define MF_CLI_MEASURE_H

#include "cli/cli.h"

/* Rows of the options that every command has. */
#define OPTIONS_MEASURE                                                        \
    OPTION_MEASURE(                                                            \
        "--record", "DIR", shared_options.record,                              \
        "write latency, memory, results and energy of the run to DIR"),        \
        OPTION_MEASURE("--power", "auto|none|mock:WATTS",                      \
                       shared_options.power,                                   \
                       "where --record gets the power from; auto: RAPL"),      \
        OPTION_MEASURE("--power-root", "DIR", shared_options.power_root,       \
                       "what takes the place of /sys for --power")

/* ---- main.c, in this order ---- */

/* Checks the options and makes the folder; false after a report. */
bool record_open(struct run *run);
void record_allow(struct sandbox *sandbox);
void record_begin(struct run *run);
/* Writes what is left.  The answer is printed already, so a failure is only
 * reported on standard error. */
void record_close(struct run *run);

/* ---- during the run ---- */

/* Called often: a line of memory.csv each tenth of a second.  env: that works.
 */
void record_tick(const struct mf_env *env);

/* One file is one sample: from answer_begin to answer_end. */
void record_sample_begin(void);
void record_sample_end(struct run *run);

/* A model was opened for the sample. */
void record_model(const struct mf_model *model);

/* The work depends on a text, such as a list of types. */
void record_text(const char *text, size_t size);

/* The same of all bytes of a file that is not opened as a model, such as an
 * importance matrix; path NULL: without one. */
void record_content(const char *path);

#endif
