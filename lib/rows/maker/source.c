/* SPDX-License-Identifier: MIT
 *
 * source.c - files as paragraphs of rows; errors, and words like others
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/rows/maker/rows.h"

int row_errors;

void *take_memory(void *block, size_t size)
{
    block = realloc(block, size ? size : 1);
    if (!block) {
        fputs("rows: out of memory\n", stderr);
        exit(2);
    }
    return block;
}

/* ---- errors ---- */

static void report(const struct row *row, const char *format, va_list list)
{
    row_errors++;
    fprintf(stderr, "%s:%d: ", row->file, row->line);
    vfprintf(stderr, format, list);
}

void row_error(const struct row *row, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    report(row, format, list);
    va_end(list);
    fputc('\n', stderr);
}

/* How many letters have to be changed, added, left out or changed places with
 * the next one; at most `most` + 1. */
static size_t distance(struct text a, struct text b, size_t most)
{
    size_t line[3][64];

    if (a.size > 60 || b.size > 60 || a.size > b.size + most ||
        b.size > a.size + most)
        return most + 1;
    for (size_t j = 0; j <= b.size; j++)
        line[0][j] = j;
    for (size_t i = 1; i <= a.size; i++) {
        size_t *now = line[i % 3], *before = line[(i + 2) % 3];

        now[0] = i;
        for (size_t j = 1; j <= b.size; j++) {
            size_t least = before[j - 1] + (a.at[i - 1] != b.at[j - 1]);

            least = before[j] + 1 < least ? before[j] + 1 : least;
            least = now[j - 1] + 1 < least ? now[j - 1] + 1 : least;
            if (i > 1 && j > 1 && a.at[i - 1] == b.at[j - 2] &&
                a.at[i - 2] == b.at[j - 1] &&
                line[(i + 1) % 3][j - 2] + 1 < least)
                least = line[(i + 1) % 3][j - 2] + 1;
            now[j] = least;
        }
    }
    return line[a.size % 3][b.size];
}

void row_unknown(const struct row *row, struct text word, const char *what,
                 const struct words *known)
{
    size_t most = word.size < 5 ? 1 : 2, best = most + 1;
    struct text near = { "", 0 };

    for (size_t i = 0; known && i < known->count; i++) {
        size_t far = distance(word, known->at[i], most);

        if (far < best) {
            best = far;
            near = known->at[i];
        }
    }
    if (near.size > 0)
        row_error(row, "unknown %s '%.*s': did you mean '%.*s'?", what,
                  (int)word.size, word.at, (int)near.size, near.at);
    else
        row_error(row, "unknown %s '%.*s'", what, (int)word.size, word.at);
}

void row_unknown_of(const struct row *row, struct text word, const char *what,
                    const char *const *list)
{
    struct words known = { .count = 0 };

    for (; *list; list++)
        words_add(&known, text_of(*list));
    row_unknown(row, word, what, &known);
    words_free(&known);
}

/* ---- files ---- */

/* A text would end at a NUL, and all that follows it would be left out. */
static void refuse_nul(const char *path, const char *text, size_t size)
{
    struct row row = { path, 1, "", false };

    if (strlen(text) == size)
        return;
    for (; *text; text++)
        row.line += *text == '\n';
    row_error(&row, "a NUL in the text");
}

static char *load(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0, got = 1;

    if (!file) {
        perror(path);
        exit(2);
    }
    while (got > 0) {
        text = take_memory(text, size + 65537);
        got = fread(text + size, 1, 65536, file);
        size += got;
    }
    fclose(file);
    text[size] = 0;
    refuse_nul(path, text, size);
    return text;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* In place: without comment, with single spaces.  "#" is a comment only after a
 * space, or at the left margin: patterns of names have it, too. */
static void squeeze(char *line, bool margin)
{
    char *to = line;

    for (const char *at = line; *at; at++) {
        if (*at == '#' && (at == line || (!margin && is_blank(at[-1]))))
            break;
        if (!is_blank(*at))
            *to++ = *at;
        else if (to > line && to[-1] != ' ')
            *to++ = ' ';
    }
    while (to > line && to[-1] == ' ')
        to--;
    *to = 0;
}

static void begin_part(struct source *source, const struct row *head)
{
    struct text words = text_of(head->text);
    struct part *part;

    source->part =
        take_memory(source->part, (source->count + 1) * sizeof(*source->part));
    part = &source->part[source->count++];
    *part = (struct part){ .head = *head };
    part->kind = take_word(&words);
    part->words = words;
    part->name = take_word(&words);
    if (part->name.size == 0)
        row_error(head, "a paragraph '%.*s' has a name", (int)part->kind.size,
                  part->kind.at);
}

/* Where there are paragraphs at all, a row belongs to one. */
static void add_loose(struct source *source, const struct row *row)
{
    if (source->language->kinds[0])
        row_error(row, "a row before the first paragraph");
    source->loose = take_memory(source->loose, (source->loose_count + 1) *
                                                   sizeof(*source->loose));
    source->loose[source->loose_count++] = *row;
}

static void add_row(struct source *source, const struct row *row)
{
    struct text words = text_of(row->text), word = take_word(&words);
    struct part *part =
        source->count > 0 ? &source->part[source->count - 1] : NULL;

    if (!row->indented && list_has(source->language->kinds, word)) {
        begin_part(source, row);
        source->begins = false;
        return;
    }
    if (!row->indented && source->language->kinds[0])
        row_error(row,
                  "a paragraph expected at the left margin, not '%.*s': "
                  "rows are indented",
                  (int)word.size, word.at);
    if (!part || source->begins) {
        add_loose(source, row);
        return;
    }
    part->row = take_memory(part->row, (part->count + 1) * sizeof(*part->row));
    part->row[part->count++] = *row;
}

/* The one that has the section; NULL after an error. */
static struct source *of_section(struct source *const *sources,
                                 const struct row *row, struct text name)
{
    struct words known = { .count = 0 };
    struct source *found = NULL;

    for (; *sources; sources++)
        for (const char *const *each = (*sources)->language->sections; *each;
             each++) {
            words_add(&known, text_of(*each));
            if (text_is(name, *each))
                found = *sources;
        }
    if (!found)
        row_unknown(row, name, "section", &known);
    words_free(&known);
    return found;
}

/* What is read of a file. */
struct reading {
    struct source *const *sources;
    struct source *source; /* of the section; NULL: there is none */
    struct row row;
    size_t size; /* of its text; 0: none is begun */
};

static void take_row(struct reading *reading)
{
    struct text words = text_of(reading->row.text);

    if (!reading->sources[0]->language->sections || reading->row.indented ||
        !text_is(take_word(&words), "section")) {
        if (reading->source)
            add_row(reading->source, &reading->row);
        else
            row_error(&reading->row, "a row outside of a section");
        return;
    }
    reading->source = of_section(reading->sources, &reading->row, words);
    if (reading->source)
        reading->source->begins = true;
}

/* Adds a line to the row; true: it goes on in the next one. */
static bool add_line(struct reading *reading, const char *line)
{
    size_t size = strlen(line), room = reading->size + size + 2;
    char *text =
        take_memory((char *)(reading->size ? reading->row.text : NULL), room);

    reading->size += (size_t)sprintf(text + reading->size, "%s%s",
                                     reading->size > 0 ? " " : "", line);
    reading->row.text = text;
    if (size == 0 || line[size - 1] != '\\')
        return false;
    while (reading->size > 0 && strchr("\\ ", text[reading->size - 1]))
        text[--reading->size] = 0;
    return true;
}

void source_read(struct source *const *sources, const char *file)
{
    source_read_text(sources, file, load(file));
}

/* A line that ends with a backslash goes on in the next one. */
void source_read_text(struct source *const *sources, const char *file,
                      char *text)
{
    struct reading reading = { .sources = sources, .row.file = file };
    bool goes_on = false;
    int number = 0, errors = row_errors;

    if (!sources[0]->language->sections)
        reading.source = sources[0];
    while (*text) {
        char *line = text, *end = text + strcspn(text, "\n");

        number++;
        text = end + (*end == '\n');
        *end = 0;
        if (!goes_on) {
            reading.row.line = number;
            reading.row.indented = is_blank(*line);
        }
        squeeze(line, reading.source && reading.source->language->margin);
        if (!goes_on && *line == 0)
            continue;
        goes_on = add_line(&reading, line);
        if (goes_on)
            continue;
        take_row(&reading);
        reading.size = 0;
    }
    if (goes_on)
        row_error(&reading.row, "the last line goes on in none");
    if (!reading.source && row_errors == errors)
        row_error(&(struct row){ file, 1, "", false }, "a section is missing");
}

struct part *source_find(const struct source *source, const char *kind,
                         struct text name)
{
    for (size_t i = 0; i < source->count; i++)
        if (text_is(source->part[i].kind, kind) &&
            text_same(source->part[i].name, name))
            return &source->part[i];
    return NULL;
}
