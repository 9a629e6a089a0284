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
    struct run *run = user;
    static const struct {
        char character;
        const char *entity;
    } entities[] = {
        { '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" }, { '"', "&quot;" }
    };

    while (*text) {
        size_t plain = strcspn(text, "&<>\"");

        out_escaped(&run->out, (struct mf_str){ text, plain }, "");
        text += plain;
        for (size_t i = 0; *text && i < 4; i++)
            if (entities[i].character == *text) {
                out_text(&run->out, entities[i].entity);
                text++;
                break;
            }
    }
}

static void begin(struct run *run, const char *reader)
{
    (void)reader; /* each suite names it */
    out_text(&run->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                        "<testsuites name=\"modelfile validate\">\n");
}

static void open_case(struct run *run, const char *path, const char *name)
{
    out_text(&run->out, "    <testcase classname=\"");
    put(run, path);
    out_text(&run->out, "\" name=\"");
    put(run, name);
    out_text(&run->out, "\">\n");
}

static void finding_case(struct run *run, const struct verdict *verdict,
                         const struct result *result)
{
    const struct mf_finding *finding = &result->finding;
    const char *element = verdict->refused                ? "error"
                          : finding->severity == MF_ERROR ? "failure"
                                                          : "system-out";

    open_case(run, result->path,
              verdict->refused ? "cannot be read" : finding->rule);
    out_format(&run->out, "      <%s", element);
    if (strcmp(element, "system-out") != 0) {
        out_text(&run->out, " message=\"");
        put(run, finding->message);
        out_format(&run->out, "\" type=\"%s\"",
                   verdict->refused ? verdict->refused : finding->rule);
    }
    out_text(&run->out, ">");
    finding_line(result, put, run);
    out_format(&run->out, "</%s>\n    </testcase>\n", element);
}

/* Errors that are not shown fail the suite, too. */
static void unshown_case(struct run *run, const struct verdict *verdict)
{
    bool failed = verdict->unshown.of[MF_ERROR] > 0;

    open_case(run, verdict->path, "not shown");
    out_text(&run->out, failed ? "      <failure message=\"some errors "
                                 "are not shown\" type=\"not shown\">"
                               : "      <system-out>");
    unshown_line(verdict, put, run);
    out_text(&run->out, failed ? "</failure>\n" : "</system-out>\n");
    out_text(&run->out, "    </testcase>\n");
}

static void file(struct run *run, const struct verdict *verdict)
{
    bool unshown = tally_sum(&verdict->unshown) > 0;
    size_t count = verdict->count + unshown;
    size_t failures = verdict->unshown.of[MF_ERROR] > 0;

    for (size_t i = 0; !verdict->refused && i < verdict->count; i++)
        failures += verdict->result[i].finding.severity == MF_ERROR;
    out_text(&run->out, "  <testsuite name=\"");
    put(run, verdict->path);
    out_format(&run->out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%d\">\n",
               count > 0 ? count : 1, failures, verdict->refused != NULL);
    out_format(&run->out,
               "    <properties><property name=\"for\" value=\"%s\"/>"
               "</properties>\n",
               verdict->reader);
    for (size_t i = 0; i < verdict->count; i++)
        finding_case(run, verdict, &verdict->result[i]);
    if (unshown)
        unshown_case(run, verdict);
    if (count == 0) {
        open_case(run, verdict->path, "valid");
        out_text(&run->out, "    </testcase>\n");
    }
    out_text(&run->out, "  </testsuite>\n");
}

static void end(struct run *run)
{
    out_text(&run->out, "</testsuites>\n");
}

const struct report_form report_junit = { begin, file, end };
