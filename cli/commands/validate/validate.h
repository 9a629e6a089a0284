/* SPDX-License-Identifier: MIT
 *
 * validate.h - the verdict on a file, and the forms in which it is reported
 */
#ifndef MF_CLI_VALIDATE_H
#define MF_CLI_VALIDATE_H

#include "cli/cli.h"

/* The shard of a finding in a file that could not be read on: it never got a
 * number. */
#define NO_SHARD UINT32_MAX

struct gathered { /* text that grows */
    char *at;     /* not terminated */
    size_t size, room;
};

/* False after an error of the env. */
bool gather(struct run *run, struct gathered *text, const char *at,
            size_t size);
void gather_release(struct run *run, struct gathered *text);

struct result {
    struct mf_finding finding;
    const char *path; /* the file in which its offset lies; without an offset
                         what was asked about */
};

/* Of each severity. */
struct tally {
    size_t of[MF_ERROR + 1];
};

struct verdict {
    const char *path;
    struct result *result; /* worst first; known ones left out */
    size_t count, room;
    struct tally found;   /* without known ones; --strict regarded */
    struct tally unshown; /* of these, by --max-findings */
    size_t accepted;      /* left out, for the baseline has them */
    uint64_t tensors;
    uint64_t missing; /* bytes that the file ends before its last tensor; 0: it
                         has all, or has other errors */
    const char *missing_path; /* the file, or the first that does */
    bool data;                /* was read */
    const char *refused;      /* "io": the bytes could not be had, and result[0]
                                 says why; else NULL */
    struct result only;       /* of what could not be opened */
    struct gathered beside;
};

/* A form of report: begin once, file for each, end once. */
struct report_form {
    void (*begin)(struct run *run);
    void (*file)(struct run *run, const struct verdict *verdict);
    void (*end)(struct run *run);
};

extern const struct report_form report_sarif, report_junit;

/* ---- verdict.c ---- */

struct baseline;

/* Of what was found in a model; NULL: the env's error is the verdict. */
void verdict_make(struct run *run, const struct mf_model *model,
                  struct baseline *baseline, struct verdict *verdict);
void verdict_release(struct run *run, struct verdict *verdict);

/* How many findings of a file are shown. */
size_t verdict_limit(const struct run *run);

size_t tally_sum(const struct tally *tally);

/* The line in which text reports a finding, piece by piece: parts of it must
 * be escaped yet. */
typedef void put_text(void *user, const char *text);
void finding_line(const struct result *result, put_text *put, void *user);

/* The line that says that a file was cut off. */
#define MISSING_WORDS ": file ends "
void missing_line(const struct verdict *verdict, put_text *put, void *user);

/* Likewise what says that findings are not shown; nothing where all are. */
#define UNSHOWN_WORDS ": not shown: "
void unshown_line(const struct verdict *verdict, put_text *put, void *user);

/* ---- baseline.c ---- */

struct baseline {
    struct textfile file;
    uint32_t *slot; /* where in it a line of a finding begins, and 1 */
    size_t slot_count, line_count;
    struct gathered key;
};

/* False after report_failure or report_usage. */
bool baseline_read(struct run *run, const char *path,
                   struct baseline *baseline);
void baseline_release(struct run *run, struct baseline *baseline);

/* Whether a line has this rule, file, place and message.  The severity may be
 * another one: --strict makes it so. */
bool baseline_has(struct run *run, struct baseline *baseline,
                  const struct result *result);

/* The paragraph of docs/rules.md for a rule; NULL where there is none. */
const char *rule_text(const char *id);

#endif
