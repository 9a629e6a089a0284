/* SPDX-License-Identifier: MIT
 *
 * validate.h - the verdict on a file, and the forms in which it is reported
 *
 * verdict.c makes one struct verdict of each file from the findings of the
 * library, without those that the baseline accepts; a report form prints it.
 */
#ifndef MF_CLI_VALIDATE_H
#define MF_CLI_VALIDATE_H

#include "cli/buffer.h"
#include "cli/cli.h"
#include "cli/textfile.h"

/* In the order of the choices of --for. */
enum reader { READER_ALL, READER_SPEC, READER_LLAMA, READER_TRANSFORMERS };

struct verdict_options {
    bool strict;           /* warnings are errors */
    unsigned reader;       /* enum reader: only its errors count */
    uint64_t max_findings; /* to show of each file; 0: the default */
};

/* The shard of a finding in a file that could not be parsed: it never got a
 * number. */
#define NO_SHARD UINT32_MAX

struct result {
    struct mf_finding finding;
    const char *path;   /* the file that the offset is in; without an offset
                           the operand */
    const char *format; /* of the model; NULL: it could not be opened */
    const char *spared; /* a reader that accepts it, or NULL */
};

/* Findings by severity. */
struct tally {
    size_t of[MF_ERROR + 1];
};

struct verdict {
    const char *path;
    struct result *result; /* worst first, without accepted ones */
    size_t count, room;
    struct tally found;   /* all findings but accepted ones, after --strict */
    struct tally unshown; /* those of them that --max-findings hides */
    size_t accepted;      /* in the baseline */
    uint64_t tensors;     /* of a table: chunks of its columns */
    bool is_table;
    uint64_t missing; /* bytes between the end of the file and that of its last
                         tensor; 0: not truncated, or other errors as well */
    const char *missing_path;     /* the truncated file */
    bool data;                    /* tensor data was read */
    bool generic;                 /* the architecture is unknown */
    const struct mf_model *model; /* NULL: it could not be opened */
    struct mf_coverage coverage;
    const char *reader;  /* "all", "spec", "llama.cpp", "transformers" */
    const char *refused; /* "io": the file cannot be read, and result[0]
                            is the error; else NULL */
    struct result only;  /* result, if the file cannot be opened */
    struct buffer shard_path;
};

/* A form of report: begin once, file for each, end once. */
struct report_form {
    void (*begin)(struct run *run, const char *reader); /* of --for */
    void (*file)(struct run *run, const struct verdict *verdict);
    void (*end)(struct run *run);
};

extern const struct report_form report_sarif, report_junit;

/* ---- verdict.c ---- */

struct baseline {
    struct textfile file;
    uint32_t *slot; /* hash table: 1 + where the line of a finding begins */
    size_t slot_count, line_count;
    struct buffer key;
};

/* The verdict on a model; NULL: on the env's error. */
void verdict_make(struct run *run, const struct mf_model *model,
                  const struct verdict_options *options,
                  struct baseline *baseline, struct verdict *verdict);
void verdict_release(struct run *run, struct verdict *verdict);

/* The bit of the library, and its name. */
uint32_t verdict_readers(const struct verdict_options *options);
const char *verdict_reader(const struct verdict_options *options);

/* How many findings of each file are shown. */
size_t verdict_limit(const struct verdict_options *options);

/* ---- attacks.c ---- */

/* The known attacks whose files have such a finding, one a call; NULL after the
 * last.  *next: 0 at first. */
const char *finding_attack(const struct result *result, size_t *next);

/* The same as the member "known_as" of the current JSON object. */
void finding_attacks(struct run *run, const struct result *result);

/* Shows the attacks that the rule finds, in JSON as the member "attacks". */
void rule_attacks(struct run *run, const char *rule);

/* Shows the attack of that id, or all if it is "attacks"; false if there is no
 * such attack. */
bool attacks_explain(struct run *run, const char *id);

/* ---- coverage.c ---- */

/* Of --coverage: lines that begin with the path, and a member of the JSON. */
#define COVERAGE_WORDS ": coverage: "
void coverage_text(struct run *run, const struct verdict *verdict);
void coverage_json(struct run *run, const struct verdict *verdict);

/* ---- lines.c ---- */

size_t tally_sum(const struct tally *tally);

/* The line of a finding in a text report, in pieces that put has to escape. */
typedef void put_text(void *user, const char *text);
#define SPARED_WORDS " (no error for "
void finding_line(const struct result *result, put_text *put, void *user);

/* The line about a truncated file. */
#define MISSING_WORDS ": file is truncated: "
void missing_line(const struct verdict *verdict, put_text *put, void *user);

/* The line about findings that are not shown; nothing if all are. */
#define UNSHOWN_WORDS ": not shown: "
void unshown_line(const struct verdict *verdict, put_text *put, void *user);

/* ---- baseline.c ---- */

/* False after report_failure or report_usage. */
bool baseline_read(struct run *run, const char *path,
                   struct baseline *baseline);
void baseline_release(struct run *run, struct baseline *baseline);

/* Whether the baseline has a line with this rule, file, offset and message. The
 * severity may differ: --strict changes it. */
bool baseline_has(struct run *run, struct baseline *baseline,
                  const struct result *result);

/* ---- rules.c ---- */

/* --rules: all, and --explain: the one with that id, or NULL. */
void rules_show(struct run *run, bool all, const char *id);

/* The paragraph of docs/rules.md for a rule, or NULL; made by rules_text.awk.
 */
const char *rule_text(const char *id);

#endif
