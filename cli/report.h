/* SPDX-License-Identifier: MIT
 *
 * report.h - errors, remarks and the exit code
 *
 * Each function prints one line "modelfile: ..." to standard error and raises
 * run->code.  The line of the last error is printed when the program ends. With
 * --json it also writes a member "error" into the object that is open, or a
 * document of its own if none is.
 */
#ifndef MF_CLI_REPORT_H
#define MF_CLI_REPORT_H

#include "cli/cli.h"

/* Follows the error of work that can go on, and is "" where none can.  A signal
 * handler may call it.  The work keeps what --force allowed; given again, it
 * begins again. */
static inline const char *report_kept(const struct run *run)
{
    if (!mf_env_resumable(run->env))
        return "";
    return run->options->force ? "; the work so far is kept: the same command "
                                 "with --resume continues, without --force"
                               : "; the work so far is kept: the same command "
                                 "with --resume continues";
}

/* ---- errors ---- */

/* The command line is wrong. */
void report_usage(struct run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The library failed: the error of run->env.  file may be NULL. */
void report_failure(struct run *run, const char *file);

/* mf_env_new failed. */
void report_no_env(struct run *run);

/* room_take failed. */
void report_no_room(struct run *run);

/* The model is invalid, the files differ: exit code 1. */
void report_no(struct run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The model has no such name, or no name that matches: exit code 1. */
void report_absent(struct run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* An input that is not a model (a manifest, a baseline) cannot be read. */
void report_input(struct run *run, const char *file, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* mf_env_resize failed while reading such a file. */
void report_memory(struct run *run, const char *file);

/* An output that the library does not write cannot be written.  In JSON a
 * member of the object that is open. */
void report_output(struct run *run, const char *file, const char *why);

/* The same before an answer has begun. */
void report_output_alone(struct run *run, const char *file, const char *why);

/* A standard stream is closed and /dev/null cannot replace it. */
void report_no_null(struct run *run);

/* A signal came while writing to standard output. */
void report_stopped(struct run *run);

/* Standard output cannot be written: why, and what was done before. */
void report_lost(struct run *run);

/* The same after the answer is complete, on standard error only; the second
 * with another exit code. */
void report_unwritten(struct run *run, const char *file, const char *why);
void report_late(struct run *run, int code, const char *file, const char *why);

/* ---- no errors ---- */

/* A warning about a file. */
void report_remark(struct run *run, const char *path, const char *text);

/* The same of what is as it should be. */
void report_note(struct run *run, const char *path, const char *text);

/* For mf_options.pending_edit; user is the run. */
void report_pending_edit(void *user, const struct mf_pending_edit *edit);

/* A file was written or changed ("was written"); report_lost repeats it.  Does
 * nothing with --dry-run. */
void report_done(struct run *run, const char *path, const char *what);

/* Raises run->code without a word. */
void report_code(struct run *run, int code);

/* ---- what a user can do about an error of the library ---- */

/* "use --force to overwrite it"; NULL if there is no advice for this error and
 * this command. */
const char *advice_for(const struct run *run, const struct mf_error *error);

/* The request was refused by choice, not because of the input: exit code 2. */
bool advice_is_choice(const struct mf_error *error);

/* Nothing in the input matches what was asked for: exit code 1. */
bool advice_is_absent(const struct mf_error *error);

#endif
