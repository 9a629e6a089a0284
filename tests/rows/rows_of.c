/* SPDX-License-Identifier: MIT
 *
 * rows_of.c - rows and expressions of a test, made into bytes as the library's
 */
#include "tests/rows/rows_of.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/rows/maker/languages.h"

static const struct language *const languages[] = {
    &loader_language,
    &graph_language,
    &family_language,
};

static const char *const kinds[] = { "arch",      "graph",   "family",
                                     "projector", "tensors", "config",
                                     "restore",   "group" };

static enum mf_rows_kind kind_of(const struct part *part)
{
    unsigned kind = 0;

    while (!text_is(part->kind, kinds[kind]))
        kind++;
    return (enum mf_rows_kind)kind;
}

/* The compiler of rows gives no memory back: it is a program that ends. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:take_memory";
}

static const struct mf_rows *finish(struct program *program)
{
    const struct source *source = program->source;
    struct mf_rows_part *parts =
        take_memory(NULL, source->count * sizeof(*parts));
    struct mf_rows *rows = take_memory(NULL, sizeof(*rows));

    for (size_t i = 0; i < source->count; i++)
        parts[i] = (struct mf_rows_part){
            kind_of(&source->part[i]),
            (uint32_t)text_place(program, source->part[i].words),
            (uint32_t)program->begin[i],
            (uint32_t)program->begin[i + 1],
        };
    *rows = (struct mf_rows){ program->code.at, program->texts.at,
                              program->texts.size, parts, source->count };
    return rows;
}

/* Rows of a test need not be indented. */
static char *indented(const struct language *language, const char *text)
{
    char *out = take_memory(NULL, 2 * strlen(text) + 64);
    size_t at = (size_t)sprintf(out, "section %s\n", language->sections[0]);

    while (*text) {
        size_t size = strcspn(text, "\n");
        struct text line = { text, size };
        bool head = list_has(language->kinds, take_word(&line));

        at += (size_t)sprintf(out + at, "%s%.*s\n", head ? "" : " ", (int)size,
                              text);
        text += size + (text[size] == '\n');
    }
    return out;
}

const struct mf_rows *rows_of(enum rows_language language, const char *text)
{
    struct source *source = take_memory(NULL, sizeof(*source));
    struct program program;

    *source = (struct source){ .language = languages[language] };
    source_read_text((struct source *const[]){ source, NULL }, "a test",
                     indented(source->language, text));
    program = rows_program(source, (enum rows_table)language);
    return finish(&program);
}

struct mf_code rows_in(enum rows_language language, const char *kind,
                       const char *text)
{
    size_t room = strlen(kind) + strlen(text) + 16;
    char *all = take_memory(NULL, room);
    const struct mf_rows *rows;

    snprintf(all, room, "%s test\n%s", kind, text);
    rows = rows_of(language, all);
    return mf_part_rows(rows, rows->part);
}

/* The code of the only row, which is a condition. */
static struct mf_code condition(enum rows_language language, const char *text,
                                const char *parameters)
{
    size_t room = strlen(text) + strlen(parameters) + 32;
    char *all = take_memory(NULL, room);
    const struct mf_rows *rows;
    enum mf_code_row word;
    struct mf_code code;

    snprintf(all, room, "group test %s\nif %s\nend\n", parameters, text);
    rows = rows_of(language, all);
    code = mf_part_rows(rows, rows->part);
    code = mf_code_row(&code, &word);
    return mf_code_expression(&code);
}

struct mf_code family_expression(const char *text)
{
    return condition(OF_FAMILY, text, "");
}

struct mf_code loader_expression(const char *text, const char *parameters)
{
    return condition(OF_LOADER, text, parameters);
}
