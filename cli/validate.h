/* SPDX-License-Identifier: MIT
 *
 * validate.h - the verdict on a file, and the forms in which it is reported
 */
#ifndef MF_CLI_VALIDATE_H
#define MF_CLI_VALIDATE_H

#include "cli/cli.h"

struct verdict {
    const char *path;
    const struct mf_finding *finding; /* worst first; known ones left out */
    size_t count;                     /* of these, --max-findings regarded */
    size_t errors, warnings, notes;   /* shown or not; --strict regarded */
    size_t accepted;                  /* left out, for the baseline has them */
    uint64_t tensors;
    bool data;     /* was read */
    bool readable; /* the bytes could be had; else finding[0] says why not */
};

/* A form of report: begin once, file for each, end once. */
struct report_form {
    void (*begin)(struct run *run);
    void (*file)(struct run *run, const struct verdict *verdict);
    void (*end)(struct run *run);
};

extern const struct report_form report_sarif, report_junit;

/* The line in which text reports a finding, terminated; also what a baseline
 * holds. */
void finding_line(const char *path, const struct mf_finding *finding, char *out,
                  size_t size);

/* ---- baseline.c ---- */

struct baseline {
    struct textfile file; /* each line terminated */
};

/* False after report_failure or report_usage. */
bool baseline_read(struct run *run, const char *path,
                   struct baseline *baseline);
void baseline_release(struct run *run, struct baseline *baseline);
bool baseline_has(const struct baseline *baseline, const char *line);

/* The paragraph of docs/rules.md for a rule; NULL where there is none. */
const char *rule_text(const char *id);

#endif
