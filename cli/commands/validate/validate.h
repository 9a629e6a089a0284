/* SPDX-License-Identifier: MIT
 *
 * validate.h - the verdict on a file, and the forms in which it is reported
 *
 * verdict.c makes one struct verdict of each file from the findings of the
 * library, without those that the baseline accepts or that are ignored; a
 * report form prints it.
 */
#ifndef MF_CLI_VALIDATE_H
#define MF_CLI_VALIDATE_H

#include "cli/buffer.h"
#include "cli/cli.h"
#include "cli/textfile.h"

/* In the order of the choices of --for. */
enum reader { READER_ALL, READER_SPEC, READER_LLAMA, READER_TRANSFORMERS };

struct verdict_options {
    bool strict;               /* warnings are errors */
    unsigned reader;           /* enum reader: only its errors count */
    uint64_t max_findings;     /* to show of each file; 0: the default */
    struct text_list ignored;  /* "RULE" or "RULE:PATTERN" */
    bool hidden[MF_ERROR + 1]; /* severities that are not shown */
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
    const char *passed; /* "baseline", "ignored": why it does not count; NULL:
                           it does */
};

/* Findings by severity. */
struct tally {
    size_t of[MF_ERROR + 1];
};

struct verdict {
    const char *path;
    struct result *result; /* worst first, without those that do not count */
    size_t count, room;
    size_t passed_count;  /* those that do not count, from result[room - 1]
                             backwards */
    struct tally found;   /* all findings that count, after --strict */
    struct tally hidden;  /* the findings that --hide hides */
    struct tally unshown; /* the findings that --max-findings hides */
    size_t accepted;      /* in the baseline */
    size_t ignored;       /* by --ignore */
    bool passes;          /* there is a baseline, or something is ignored */
    uint64_t tensors;     /* of a table: chunks of its columns */
    bool is_table;
    uint64_t
        missing; /* bytes between the end of the file and the end of its last
                    tensor; 0: not truncated, or other errors as well */
    const char *missing_path;     /* the truncated file */
    bool data;                    /* tensor data was read */
    size_t named;                 /* files compared with the digest that names
                                     them */
    bool generic;                 /* the architecture is unknown */
    const struct mf_model *model; /* NULL: it could not be opened */
    struct mf_coverage coverage;
    const char *reader;  /* "all", "spec", "llama.cpp", "transformers" */
    const char *refused; /* "io": the file cannot be read, and result[0]
                            is the error; else NULL */
    struct result only;  /* result, if the file cannot be opened */
    struct buffer shard_path;
};

/* Of all files. */
struct totals {
    size_t files, with_errors, unread;
    struct tally found, hidden;
    size_t accepted, ignored;
};

/* A form of report: begin once, file for each, end once.  Each may be NULL.
 * They write to out, JSON with run->json, which leads there. */
struct report_form {
    const char *name;      /* "SARIF" */
    const char *beginning; /* of each such report; NULL: it goes to standard
                              output only */
    const char *empty;     /* all of a report that does not begin so, because
                              it has no findings; may be NULL */
    /* False after a report, if it cannot be complete. */
    bool (*begin)(struct run *run, struct out *out, const char *reader);
    void (*file)(struct run *run, struct out *out,
                 const struct verdict *verdict);
    void (*end)(struct run *run, struct out *out, const struct totals *totals);
};

extern const struct report_form report_sarif, report_junit, report_codequality;

/* ---- verdict.c ---- */

struct baseline {
    struct textfile file;
    struct entry *entry;
    uint32_t *slot; /* hash table: 1 + the number of an entry; NULL: no
                       baseline */
    size_t slot_count, entry_count, line_count, path_count;
    struct buffer strings;   /* of the entries */
    struct buffer elsewhere; /* those that are paths which lead nowhere here:
                                size_t each, its place in strings */
    struct buffer key;
    struct buffer path; /* the one that was looked up last, and the numbers of
                           the same file here, and elsewhere */
    size_t path_here, path_elsewhere;
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

/* ---- named.c ---- */

/* Has the data of files checked against the digests that name them; count: so
 * many. */
enum mf_status named_expect(struct mf_model *model, size_t *count);

/* ---- coverage.c ---- */

/* Of --coverage: lines that begin with the path, and a member of the JSON. */
#define COVERAGE_WORDS ": coverage: "
void coverage_text(struct run *run, const struct verdict *verdict);
void coverage_json(struct run *run, const struct verdict *verdict);

/* ---- lines.c ---- */

size_t tally_sum(const struct tally *tally);

typedef void put_text(void *user, const char *text);
typedef void put_severity(void *user, enum mf_severity severity);

/* " at 0xc0: MESSAGE", and what is known about it: the end of the line below.
 */
void finding_sentence(const struct result *result, put_text *put, void *user);

/* The line of a finding in a text report, in pieces that put has to escape.
 * mark: puts the severity instead; may be NULL. */
#define SPARED_WORDS " (no error for "
#define ATTACK_WORDS " (see "
void finding_line(const struct result *result, put_text *put,
                  put_severity *mark, void *user);

/* The line about a truncated file. */
#define MISSING_WORDS ": file is truncated: "
void missing_line(const struct verdict *verdict, put_text *put, void *user);

/* The line about all files. */
#define TOTAL_WORDS "total of "
void total_line(const struct totals *totals, put_text *put, void *user);

/* ", 3 accepted by the baseline, 2 ignored, 4 notes hidden" or less. */
struct passed_text {
    char at[160];
};
struct passed_text passed_text(size_t accepted, size_t ignored,
                               const struct tally *hidden);

/* The line about findings that are not shown; nothing if all are. */
#define UNSHOWN_WORDS ": not shown: "
void unshown_line(const struct verdict *verdict, put_text *put, void *user);

/* ---- report_line.c ---- */

/* The line of a finding in a text report. */
struct report_line {
    size_t path_size; /* it begins the line */
    const char *rule, *message;
    size_t rule_size;
};

/* Terminates the line at text, without its LF or CRLF; returns the next line.
 * *whole: it contains no NUL. */
char *report_line_end(char *text, const char *end, bool *whole);

/* False if the terminated text is not the line of a finding. */
bool report_line_split(char *text, struct report_line *out);

/* Whether it is one of the other lines of a report. */
bool report_line_is_remark(const char *line);

/* ---- baseline.c ---- */

/* False after report_failure or report_usage. */
bool baseline_read(struct run *run, const char *path,
                   struct baseline *baseline);
void baseline_release(struct run *run, struct baseline *baseline);

/* Whether the baseline has a line for this finding that has accepted no other
 * one before. */
bool baseline_accepts(struct run *run, struct baseline *baseline,
                      const struct result *result);

/* ---- same.c: file and subject of a finding, in any run ---- */

/* These add to a buffer; false after an error of the env. */

/* The path without what does not matter, "./" and "//", and a NUL. */
bool same_path(struct run *run, struct buffer *buffer, const char *path);

/* The text as a report has it. */
bool same_text(struct run *run, struct buffer *buffer, struct mf_str text);

/* What the message quotes first, after "'"; if it quotes nothing, the message
 * without its numbers. */
bool same_subject(struct run *run, struct buffer *buffer, const char *message);

/* How often each text was counted.  All zero: no text yet. */
struct counted {
    struct counted_text *slot; /* hash table */
    size_t slot_count, used;
};

/* Counts a text: 1 for the first time.  0 after an error of the env. */
size_t counted_add(struct run *run, struct counted *counted,
                   const struct buffer *text);
void counted_release(struct run *run, struct counted *counted);

/* ---- identity.c ---- */

/* All zero: no finding yet. */
struct identities {
    struct counted counted;
    struct buffer identity; /* private */
};

/* The member key of the current object: the finding's name in every run, made
 * of file, rule and what the message is about.  Returns the path relative to
 * the folder in which the command runs, which has to be the root of the
 * repository, until the next call; other absolute paths stay. */
const char *identity_json(struct run *run, struct identities *all,
                          const char *key, const char *path, const char *check,
                          const char *message);
void identities_release(struct run *run, struct identities *all);

/* ---- ignore.c ---- */

/* Whether one of the options --ignore names the rule and the subject. */
bool ignore_takes(const struct text_list *list,
                  const struct mf_finding *finding);

/* Checks their rules; false after report_usage. */
bool ignore_check(struct run *run, const struct text_list *list);

/* Sets the severities that --hide names, as in "notes,warnings"; false after
 * report_usage. */
bool hide_parse(struct run *run, const char *words, bool hidden[MF_ERROR + 1]);

/* ---- config.c ---- */

/* Sets options of the command, from this table, as the lines of a file say; on
 * the command line they come first.  Their values point into the file, which
 * the caller releases.  False after a report. */
bool config_read(struct run *run, const char *path, const struct option *table,
                 struct textfile *file);

/* ---- report_file.c: reports in files, next to that on standard output ---- */

/* option: "--sarif".  False after a report if no report can be written there.
 */
bool report_file_add(struct run *run, const char *option, const char *path,
                     const struct report_form *form);

/* Whether the path leads to one of these files; false also for NULL. */
bool report_file_is(const char *path);

void report_files_begin(struct run *run, const char *reader);
void report_files_show(struct run *run, const struct verdict *verdict);
void report_files_end(struct run *run, const struct totals *totals);

/* ---- rules.c ---- */

/* --rules: all, and --explain: the one with that id, or NULL. */
void rules_show(struct run *run, bool all, const char *id);

#endif
