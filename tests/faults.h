/* SPDX-License-Identifier: MIT
 *
 * faults.h - tests that compare what opening finds in each fixture of a format
 * with tables of it
 */
#ifndef TESTS_FAULTS_H
#define TESTS_FAULTS_H

#include <inttypes.h>

#include "tests/with_env.h"

/* A finding; one file's are neighbours, in the order in which they are met. */
struct fault {
    const char *file, *rule;
    enum mf_severity severity;
    uint64_t offset;
};

/* A file that does not open. */
struct refusal {
    const char *file, *rule;
    enum mf_status status;
    uint64_t offset;
    const char *message; /* a part of it */
};

/* What opening finds in all fixtures of a format. */
struct faults {
    const char *suffix;
    const struct fault *fault;
    size_t fault_count;
    const struct refusal *refusal;
    size_t refusal_count;
};

/* Of the two tables of a test. */
#define FAULTS_OF(suffix)                                                      \
    {                                                                          \
        suffix, faults, COUNT(faults), refusals, COUNT(refusals)               \
    }

/* Defined by the test that includes this file, with FAULTS_OF. */
static const struct faults all;

/* The findings of fault[first]'s file are the rows from there on, no more;
 * returns the first row of the next file. */
static inline size_t check_findings(size_t first)
{
    const char *file = all.fault[first].file;
    struct mf_finding finding;
    struct mf_model *model = open_fixture(file);
    size_t i = first, found = 0;

    for (; i < all.fault_count && strcmp(all.fault[i].file, file) == 0;
         i++, found++) {
        const struct fault *row = &all.fault[i];

        if (!mf_finding_at(model, found, &finding))
            fail_msg("%s: %s was not found", file, row->rule);
        if (strcmp(finding.rule, row->rule) != 0 ||
            finding.severity != row->severity || finding.offset != row->offset)
            fail_msg("%s: %s of severity %d at %#" PRIx64 ", not %s", file,
                     finding.rule, finding.severity, finding.offset, row->rule);
    }
    if (mf_finding_at(model, found, &finding))
        fail_msg("%s: %s, too", file, finding.rule);
    walk_model(model);
    mf_model_close(model);
    return i;
}

static inline void faults_are_found_where_they_are(void **state)
{
    (void)state;
    for (size_t i = 0; i < all.fault_count;)
        i = check_findings(i);
}

static inline void what_cannot_be_read_says_why_and_where(void **state)
{
    const struct mf_error *error = mf_env_error(env);
    struct mf_model *model;

    (void)state;
    for (size_t i = 0; i < all.refusal_count; i++) {
        const struct refusal *row = &all.refusal[i];

        if (mf_model_open(env, fixture_path(row->file), NULL, &model) == MF_OK)
            fail_msg("%s: opens", row->file);
        if (error->status != row->status || error->offset != row->offset ||
            strcmp(error->rule, row->rule) != 0 ||
            !strstr(error->message, row->message))
            fail_msg("%s: %s, status %d at %#" PRIx64 ": %s", row->file,
                     error->rule, error->status, error->offset, error->message);
    }
}

/* What the tables say of a file: the verdict of fixtures/README.md. */
static inline const char *verdict_of(const char *file)
{
    const char *verdict = "good";

    for (size_t i = 0; i < all.refusal_count; i++)
        if (strcmp(all.refusal[i].file, file) == 0)
            return all.refusal[i].status == MF_ERR_UNSUPPORTED ? "unsupported"
                                                               : "refused";
    for (size_t i = 0; i < all.fault_count; i++)
        if (strcmp(all.fault[i].file, file) == 0) {
            if (all.fault[i].severity == MF_ERROR)
                return "error";
            verdict = "warning";
        }
    return verdict;
}

/* The verdict of all checks, for faults that opening does not look for. */
static inline const char *verdict_of_checks(const char *file)
{
    struct mf_model *model = open_fixture(file);
    const struct mf_model_info *info;
    const char *verdict;

    assert_int_equal(mf_model_validate_data(model), MF_OK);
    info = mf_model_info(model);
    verdict = info->error_count > 0     ? "error"
              : info->warning_count > 0 ? "warning"
                                        : "good";
    mf_model_close(model);
    return verdict;
}

/* A file that is in no table opens without a finding. */
static inline void check_clean(const char *file)
{
    struct mf_finding finding;
    struct mf_model *model = open_fixture(file);

    if (mf_finding_at(model, 0, &finding))
        fail_msg("%s: %s", file, finding.rule);
    walk_model(model);
    mf_model_close(model);
}

/* What is not read may be called refused, too: a version, say. */
static inline bool same_verdict(const char *verdict, const char *ours)
{
    return strcmp(verdict, ours) == 0 || (strcmp(verdict, "refused") == 0 &&
                                          strcmp(ours, "unsupported") == 0);
}

/* Compares a row of fixtures/README.md, "| `file` | verdict |", with the
 * tables; false for a file of another format. */
static inline bool check_row(const char *line)
{
    char file[128], verdict[16];
    const char *ours;

    if (sscanf(line, "| `%127[^`]` | %15[a-z] |", file, verdict) != 2 ||
        !has_suffix(file, all.suffix))
        return false;
    ours = verdict_of(file);
    if (strcmp(ours, "good") == 0)
        check_clean(file);
    if (strcmp(ours, "good") == 0 || strcmp(ours, "warning") == 0)
        ours = verdict_of_checks(file);
    if (!same_verdict(verdict, ours))
        fail_msg("%s is %s, but: %s", file, verdict, ours);
    return true;
}

/* Every fixture has a row in README.md, and gets the verdict that is there. */
static inline void every_fixture_gets_its_verdict(void **state)
{
    FILE *readme = fopen(fixture_path("README.md"), "r");
    DIR *folder = opendir(fixture_folder());
    struct dirent *entry;
    size_t rows = 0, files = 0;
    char line[512];

    (void)state;
    assert_non_null(readme);
    assert_non_null(folder);
    while (fgets(line, sizeof(line), readme))
        rows += check_row(line);
    while ((entry = readdir(folder)) != NULL)
        files += has_suffix(entry->d_name, all.suffix);
    closedir(folder);
    fclose(readme);
    assert_true(files > 0);
    assert_int_equal(rows, files);
}

#define FAULT_TESTS                                                            \
    WITH_ENV(faults_are_found_where_they_are),                                 \
        WITH_ENV(what_cannot_be_read_says_why_and_where),                      \
        WITH_ENV(every_fixture_gets_its_verdict)

#endif
