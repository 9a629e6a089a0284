/* SPDX-License-Identifier: MIT
 *
 * roff.c - text of a manual page, in the macros of man(7)
 */
#include "cli/commands/help/roff.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define LINE 56 /* columns of the source; a page does not show them */

/* Set by the Makefile: when the version came out. */
#ifndef MF_RELEASED
#define MF_RELEASED ""
#endif

/* A character that means something to roff, as one that does not. */
static const char *escape(char one)
{
    switch (one) {
    case '\\':
        return "\\e";
    case '-':
        return "\\-";
    case '\'':
        return "\\(aq";
    case '`':
        return "\\(ga";
    case '"':
        return "\\(dq";
    case '^':
        return "\\(ha";
    case '~':
        return "\\(ti";
    default:
        return NULL;
    }
}

static void part(struct out *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const char *escaped = escape(text[i]);

        if (escaped)
            out_text(out, escaped);
        else
            out_bytes(out, text + i, 1);
    }
}

void roff_part(struct out *out, const char *text)
{
    part(out, text, strlen(text));
}

/* A request begins with one of these at the front of a line. */
static void guard(struct out *out, const char *text)
{
    if (*text == '.' || *text == '\'')
        out_text(out, "\\&");
}

static void title(struct out *out, const char *name, int section)
{
    out_text(out, ".TH ");
    for (; *name; name++) {
        char one = (char)toupper((unsigned char)*name);

        part(out, &one, 1);
    }
    out_format(out,
               " %d \"%s\" \"modelfile %s\" \"modelfile manual\"\n"
               ".ad l\n.nh\n", /* words are not taken apart */
               section, MF_RELEASED, mf_version());
}

void roff_name(struct out *out, const char *name, int section,
               const char *summary)
{
    title(out, name, section);
    roff_heading(out, "NAME");
    roff_part(out, name);
    out_text(out, " \\-\n");
    guard(out, summary);
    roff_part(out, summary);
    out_text(out, "\n");
}

void roff_heading(struct out *out, const char *heading)
{
    out_format(out, ".SH %s\n", heading);
}

/* With its first letter a capital. */
void roff_subheading(struct out *out, const char *heading)
{
    char first = (char)toupper((unsigned char)*heading);

    out_text(out, ".SS ");
    part(out, &first, 1);
    roff_part(out, heading + 1);
    out_text(out, "\n");
}

void roff_reference(struct out *out, const char *name, int section,
                    const char *after)
{
    out_text(out, ".BR ");
    roff_part(out, name);
    out_format(out, " (%d)%s\n", section, after);
}

/* How much of a word is an option: "--top" of "--top,". */
static size_t option_size(const char *word, size_t size)
{
    size_t end = 2;

    if (size < 3 || memcmp(word, "--", 2) != 0 ||
        !isalpha((unsigned char)word[2]))
        return 0;
    while (end < size &&
           (isalnum((unsigned char)word[end]) || word[end] == '-'))
        end++;
    return end;
}

/* bold: whether an odd number of backticks came before. */
static void put_word(struct out *out, const char *text, size_t size, bool *bold)
{
    size_t option = *bold ? 0 : option_size(text, size);

    if (option > 0) {
        out_text(out, "\\fB");
        part(out, text, option);
        out_text(out, "\\fR");
    }
    for (size_t i = option; i < size; i++)
        if (text[i] == '`') {
            *bold = !*bold;
            out_text(out, *bold ? "\\fB" : "\\fR");
        } else {
            part(out, text + i, 1);
        }
}

/* Up to an empty line; returns what follows it. */
static const char *paragraph(struct out *out, const char *text)
{
    size_t column = 0;
    bool bold = false;

    while (*text && !(text[0] == '\n' && (text[1] == '\n' || !text[1]))) {
        size_t size = strcspn(text, " \n");

        if (column > 0 && column + size >= LINE) {
            out_text(out, "\n");
            column = 0;
        } else if (column > 0 && size > 0) {
            out_text(out, " ");
            column++;
        }
        if (column == 0)
            guard(out, text);
        put_word(out, text, size, &bold);
        column += size;
        text += size;
        if (*text == ' ' || (*text == '\n' && text[1] != '\n' && text[1] != 0))
            text++;
    }
    out_text(out, "\n");
    return text + strspn(text, "\n");
}

void roff_text(struct out *out, const char *text)
{
    text = paragraph(out, text);
    roff_paragraphs(out, text);
}

void roff_paragraphs(struct out *out, const char *text)
{
    while (*text) {
        out_text(out, ".PP\n");
        text = paragraph(out, text);
    }
}

void roff_lines_begin(struct out *out)
{
    out_text(out, ".nf\n");
}

void roff_line(struct out *out, const char *text, size_t size)
{
    guard(out, text);
    part(out, text, size);
    out_text(out, "\n");
}

void roff_lines_end(struct out *out)
{
    out_text(out, ".fi\n");
}

void roff_tag(struct out *out, const char *tag, const char *text)
{
    out_text(out, ".TP\n\\fB");
    roff_part(out, tag);
    out_text(out, "\\fR\n");
    roff_text(out, text);
}
