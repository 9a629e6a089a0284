/* SPDX-License-Identifier: MIT
 *
 * junit.c - findings as JUnit XML, as GitLab and Jenkins read it
 *
 * A file is a test suite; a finding is a test case, failed if it is an
 * error; a file without findings is one case that passed.
 *
 * GitLab drops a case whose class and name came before, and compares branches
 * by these two: a name is made of rule and subject, and of how often it came.
 */
#include <string.h>

#include "cli/commands/validate/validate.h"
#include "cli/report.h"

/* Text in an attribute or an element.  Escaping it as for a terminal leaves no
 * character that XML forbids. */
static void put(void *user, const char *text)
{
    struct out *out = user;
    static const struct {
        char character;
        const char *entity;
    } entities[] = {
        { '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" }, { '"', "&quot;" }
    };

    while (*text) {
        size_t plain = strcspn(text, "&<>\"");

        out_escaped(out, (struct mf_str){ text, plain }, "");
        text += plain;
        for (size_t i = 0; *text && i < 4; i++)
            if (entities[i].character == *text) {
                out_text(out, entities[i].entity);
                text++;
                break;
            }
    }
}

#define BEGINNING                                                              \
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"                             \
    "<testsuites name=\"modelfile validate\">\n"

static bool begin(struct run *run, struct out *out, const char *reader)
{
    (void)run;
    (void)reader; /* each suite names it */
    out_text(out, BEGINNING);
    return true;
}

/* The class and the name of a case as they are printed, with a NUL after each,
 * and how often each of them came. */
static struct buffer title;
static struct counted counted;

static bool add_name(struct run *run, const struct mf_finding *finding,
                     const char *name)
{
    struct mf_str subject =
        finding ? mf_finding_subject(finding) : (struct mf_str){ 0 };

    return same_text(run, &title, str_of(name)) &&
           (!subject.at || (buffer_add(run, &title, " '", 2) &&
                            same_text(run, &title, subject) &&
                            buffer_add(run, &title, "'", 1)));
}

/* finding: what the case is about, or NULL. */
static void open_case(struct run *run, struct out *out, const char *path,
                      const struct mf_finding *finding, const char *name)
{
    size_t number = 0;

    title.size = 0;
    if (same_text(run, &title, str_of(path)) &&
        buffer_add(run, &title, "", 1) && add_name(run, finding, name) &&
        buffer_add(run, &title, "", 1))
        number = counted_add(run, &counted, &title);
    if (number == 0)
        report_failure(run, path);
    out_text(out, "    <testcase classname=\"");
    put(out, path);
    out_text(out, "\" name=\"");
    put(out, number > 0 ? title.at + strlen(title.at) + 1 : name);
    if (number > 1)
        out_format(out, " (%zu)", number);
    out_text(out, "\">\n");
}

static void finding_case(struct run *run, struct out *out,
                         const struct verdict *verdict,
                         const struct result *result)
{
    const struct mf_finding *finding = &result->finding;
    const char *element = verdict->refused                ? "error"
                          : finding->severity == MF_ERROR ? "failure"
                                                          : "system-out";

    if (verdict->refused)
        open_case(run, out, result->path, NULL, "cannot be read");
    else
        open_case(run, out, result->path, finding, finding->rule);
    out_format(out, "      <%s", element);
    if (strcmp(element, "system-out") != 0) {
        out_text(out, " message=\"");
        put(out, finding->message);
        out_format(out, "\" type=\"%s\"",
                   verdict->refused ? verdict->refused : finding->rule);
    }
    out_text(out, ">");
    finding_line(result, put, NULL, out);
    out_format(out, "</%s>\n    </testcase>\n", element);
}

/* Errors that are not shown fail the suite, too. */
static void unshown_case(struct run *run, struct out *out,
                         const struct verdict *verdict)
{
    bool failed = verdict->unshown.of[MF_ERROR] > 0;

    open_case(run, out, verdict->path, NULL, "not shown");
    out_text(out, failed ? "      <failure message=\"some errors "
                           "are not shown\" type=\"not shown\">"
                         : "      <system-out>");
    unshown_line(verdict, put, out);
    out_text(out, failed ? "</failure>\n" : "</system-out>\n");
    out_text(out, "    </testcase>\n");
}

static void file(struct run *run, struct out *out,
                 const struct verdict *verdict)
{
    bool unshown = tally_sum(&verdict->unshown) > 0;
    size_t count = verdict->count + unshown;
    size_t failures = verdict->unshown.of[MF_ERROR] > 0;

    for (size_t i = 0; !verdict->refused && i < verdict->count; i++)
        failures += verdict->result[i].finding.severity == MF_ERROR;
    out_text(out, "  <testsuite name=\"");
    put(out, verdict->path);
    out_format(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%d\">\n",
               count > 0 ? count : 1, failures, verdict->refused != NULL);
    out_format(out,
               "    <properties><property name=\"for\" value=\"%s\"/>"
               "</properties>\n",
               verdict->reader);
    for (size_t i = 0; i < verdict->count; i++)
        finding_case(run, out, verdict, &verdict->result[i]);
    if (unshown)
        unshown_case(run, out, verdict);
    if (count == 0) {
        open_case(run, out, verdict->path, NULL, "valid");
        out_text(out, "    </testcase>\n");
    }
    out_text(out, "  </testsuite>\n");
}

static void end(struct run *run, struct out *out, const struct totals *totals)
{
    (void)totals;
    out_text(out, "</testsuites>\n");
    counted_release(run, &counted);
    buffer_release(run, &title);
}

const struct report_form report_junit = {
    .name = "JUnit",
    .beginning = BEGINNING,
    .begin = begin,
    .file = file,
    .end = end,
};
