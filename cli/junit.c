/* SPDX-License-Identifier: MIT
 *
 * junit.c - findings as JUnit XML, as GitLab and Jenkins read it
 *
 * A file is a test suite; a finding is a test case, failed where it is an
 * error; a file without findings is one case that passed.
 */
#include <string.h>

#include "cli/validate.h"

/* Text within an attribute or an element.  It is clean for a terminal by now,
 * or becomes so here, which leaves no character that XML forbids. */
static void put(struct run *run, const char *text)
{
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

static void begin(struct run *run)
{
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
                         const struct mf_finding *finding)
{
    const char *element = !verdict->readable              ? "error"
                          : finding->severity == MF_ERROR ? "failure"
                                                          : "system-out";
    char line[1024];

    finding_line(verdict->path, finding, line, sizeof(line));
    open_case(run, verdict->path,
              *finding->rule ? finding->rule : "cannot be read");
    out_format(&run->out, "      <%s", element);
    if (strcmp(element, "system-out") != 0) {
        out_text(&run->out, " message=\"");
        put(run, finding->message);
        out_format(&run->out, "\" type=\"%s\"", finding->rule);
    }
    out_text(&run->out, ">");
    put(run, line);
    out_format(&run->out, "</%s>\n    </testcase>\n", element);
}

static void file(struct run *run, const struct verdict *verdict)
{
    size_t failures = 0;

    for (size_t i = 0; verdict->readable && i < verdict->count; i++)
        failures += verdict->finding[i].severity == MF_ERROR;
    out_text(&run->out, "  <testsuite name=\"");
    put(run, verdict->path);
    out_format(&run->out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%d\">\n",
               verdict->count > 0 ? verdict->count : 1, failures,
               !verdict->readable);
    for (size_t i = 0; i < verdict->count; i++)
        finding_case(run, verdict, &verdict->finding[i]);
    if (verdict->count == 0) {
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
