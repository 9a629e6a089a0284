/* SPDX-License-Identifier: MIT
 *
 * svg.c - parts of a picture
 */
#include "cli/svg.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/output.h"
#include "cli/report.h"

static void put(struct svg *to, const char *at, size_t size)
{
    if (!to->failed && !buffer_add(to->run, to->out, at, size))
        to->failed = true;
}

void svg_format(struct svg *to, const char *format, ...)
{
    char text[512];
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    put(to, text, (size_t)size < sizeof(text) ? (size_t)size : 0);
}

static void put_character(struct svg *to, const char *at)
{
    const char *name = *at == '<'   ? "&lt;"
                       : *at == '>' ? "&gt;" /* not all of "]]>" may be text */
                       : *at == '&' ? "&amp;"
                                    : NULL;

    put(to, name ? name : at, name ? strlen(name) : 1);
}

void svg_text(struct svg *to, struct mf_str text)
{
    while (text.size > 0) {
        size_t clean = mf_text_clean(text.at, text.size), used;
        char escaped[12];

        for (size_t i = 0; i < clean; i++)
            put_character(to, text.at + i);
        used = clean;
        if (clean < text.size) {
            used += mf_text_escape(text.at + clean, text.size - clean, escaped);
            put(to, escaped, strlen(escaped));
        }
        text.at += used;
        text.size -= used;
    }
}

void svg_label(struct svg *to, double x, double y, const char *attributes,
               const char *text)
{
    svg_format(to, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
    svg_text(to, str_of(text));
    svg_format(to, "</text>\n");
}

/* A colour of its own for each scheme, without variables of CSS, which fewer
 * viewers know. */
static void put_style(struct svg *to)
{
    svg_format(to, "<style>\n"
                   "text { font: 13px system-ui, \"DejaVu Sans\", sans-serif; "
                   "fill: #1f2328; }\n"
                   ".title { font-size: 15px; font-weight: bold; }\n"
                   ".paper { fill: #ffffff; }\n"
                   ".dim { fill: #59636e; }\n"
                   ".grid { stroke: #d1d9e0; }\n"
                   ".asked { stroke: #59636e; stroke-dasharray: 2 4; }\n");
    svg_format(to, ".line { fill: none; stroke-width: 2.5; "
                   "stroke-linejoin: round; }\n"
                   ".limit { stroke: #cf222e; stroke-width: 2; "
                   "stroke-dasharray: 10 5; }\n"
                   ".l0 { stroke: #0969da; }\n"
                   ".l1 { stroke: #bc4c00; stroke-dasharray: 9 4; }\n"
                   ".l2 { stroke: #1a7f37; stroke-dasharray: 3 3; }\n"
                   ".l3 { stroke: #8250df; stroke-dasharray: 9 3 3 3; }\n");
    svg_format(to, "@media (prefers-color-scheme: dark) {\n"
                   "text { fill: #f0f6fc; }\n"
                   ".paper { fill: #0d1117; }\n"
                   ".dim { fill: #9198a1; }\n"
                   ".grid { stroke: #3d444d; }\n"
                   ".asked { stroke: #9198a1; }\n");
    svg_format(to, ".limit { stroke: #f85149; }\n"
                   ".l0 { stroke: #4493f8; }\n"
                   ".l1 { stroke: #f0883e; }\n"
                   ".l2 { stroke: #3fb950; }\n"
                   ".l3 { stroke: #ab7df8; }\n"
                   "}\n</style>\n");
}

struct mf_str svg_title(const char *path)
{
    const char *slash = strrchr(path, '/');

    return str_of(slash && slash[1] ? slash + 1 : path);
}

void svg_head(struct svg *to, int width, int height, int left,
              struct mf_str title, const char *what)
{
    svg_format(to,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
               "height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n<title>",
               width, height, width, height);
    svg_text(to, title);
    svg_format(to, "%s</title>\n", what);
    put_style(to);
    svg_format(to,
               "<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n"
               "<text x=\"%d\" y=\"24\" class=\"title\">",
               width, height, left);
    svg_text(to, title);
    svg_format(to, "</text>\n");
}

bool svg_write(struct run *run, struct mf_model *model,
               const struct buffer *picture, const char *path)
{
    const char *to = output_path(path);
    bool force = run->options->force;

    if ((model ? mf_output_write(model, to, force, picture->at, picture->size)
               : mf_file_write(run->env, to, force, picture->at,
                               picture->size)) != MF_OK) {
        report_failure(run, path);
        return false;
    }
    output_name_left(run, path, NULL, 0);
    report_done(run, path, "was written");
    return true;
}
