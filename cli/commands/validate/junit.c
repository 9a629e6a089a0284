/* SPDX-License-Identifier: MIT
 *
 * junit.c - findings as JUnit XML, as GitLab and Jenkins read it
 *
 * A file is a test suite; a finding is a test case, failed if it is an
 * error; a file without findings is one case that passed.
 */
#include <string.h>

#include "cli/commands/validate/validate.h"

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

static void begin(struct run *run, struct out *out, const char *reader)
{
    (void)run;
    (void)reader; /* each suite names it */
    out_text(out, BEGINNING);
}

static void open_case(struct out *out, const char *path, const char *name)
{
    out_text(out, "    <testcase classname=\"");
    put(out, path);
    out_text(out, "\" name=\"");
    put(out, name);
    out_text(out, "\">\n");
}

static void finding_case(struct out *out, const struct verdict *verdict,
                         const struct result *result)
{
    const struct mf_finding *finding = &result->finding;
    const char *element = verdict->refused                ? "error"
                          : finding->severity == MF_ERROR ? "failure"
                                                          : "system-out";

    open_case(out, result->path,
              verdict->refused ? "cannot be read" : finding->rule);
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
static void unshown_case(struct out *out, const struct verdict *verdict)
{
    bool failed = verdict->unshown.of[MF_ERROR] > 0;

    open_case(out, verdict->path, "not shown");
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

    (void)run;
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
        finding_case(out, verdict, &verdict->result[i]);
    if (unshown)
        unshown_case(out, verdict);
    if (count == 0) {
        open_case(out, verdict->path, "valid");
        out_text(out, "    </testcase>\n");
    }
    out_text(out, "  </testsuite>\n");
}

static void end(struct run *run, struct out *out, const struct totals *totals)
{
    (void)run;
    (void)totals;
    out_text(out, "</testsuites>\n");
}

const struct report_form report_junit = { "JUnit", BEGINNING, begin, file,
                                          end };
