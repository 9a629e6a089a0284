/* SPDX-License-Identifier: MIT
 *
 * rows_code.c - paragraphs as bytes: what rows of all languages have
 */
#include <stdlib.h>
#include <string.h>

#include "lib/rows/maker/languages.h"

/* ---- parts of rows ---- */

void put_whole(struct writing *to, struct text text)
{
    put_expression(to, &text);
}

/* Expressions between commas, as a list. */
void put_list(struct writing *to, struct text text)
{
    size_t place = begin_byte(to), count = 0;

    for (; text.size > 0; count++)
        put_whole(to, take_until(&text, ','));
    end_byte(to, place, count);
}

/* ---- rows of all languages ---- */

static size_t index_of(const struct writing *to, const struct part *part)
{
    return (size_t)(part - to->program->source->part);
}

/* Whether an argument is a word that may be the name of a tensor, a piece of
 * one, or a pattern; and whether it may be a number. */
static bool is_word(struct text argument)
{
    return !memchr(argument.at, ' ', argument.size) &&
           !memchr(argument.at, '(', argument.size);
}

static bool is_number(struct text argument)
{
    for (size_t i = 0; i < argument.size && is_word(argument); i++)
        if (strchr("*|{", argument.at[i]))
            return false;
    return true;
}

static void put_arguments(struct writing *to, struct text rest)
{
    size_t place = begin_byte(to), count = 0;

    for (; rest.size > 0; count++) {
        struct text argument = take_until(&rest, ',');
        size_t begun;

        put_word(to, is_word(argument) ? argument : (struct text){ "", 0 });
        begun = begin_size(to);
        if (is_number(argument))
            put_whole(to, argument);
        end_size(to, begun);
    }
    end_byte(to, place, count);
}

/* It was checked for paragraphs of all kinds; a group can only use what is one
 * in each of them. */
static size_t used_by(const struct writing *to, struct text name)
{
    const struct part *used =
        rows_used(to->program->source, to->part->kind, name);

    if (!used) {
        row_error(&to->part->head, "it uses '%.*s', which is not a group",
                  (int)name.size, name.at);
        exit(2);
    }
    return index_of(to, used);
}

static void put_use(struct writing *to, struct text rest, bool optional)
{
    put_byte(to, optional);
    put_two(to, used_by(to, take_word(&rest)));
    put_arguments(to, rest);
}

static void put_like(struct writing *to, struct text name)
{
    const struct part *part = source_find(to->program->source, "arch", name);

    if (!part)
        part = source_find(to->program->source, "graph", name);
    put_two(to, part ? index_of(to, part) : 0);
}

/* A name has no parameters of the group in its expression. */
static void put_let(struct writing *to, struct text rest)
{
    const struct part *part = to->part;
    bool none;

    put_text(to, take_word(&rest));
    none = to->json && text_is(rest, "none");
    put_byte(to, none);
    to->part = NULL;
    if (!none)
        put_whole(to, rest);
    to->part = part;
}

/* ---- rows and those in them ---- */

struct rows {
    const struct part *part;
    size_t at;
    put_row *put;
};

static struct text word_at(const struct rows *rows, struct text *rest)
{
    *rest = text_of(rows->part->row[rows->at].text);
    return take_word(rest);
}

static void put_rows(struct writing *to, struct rows *rows);

/* After "if" or "elif". */
static void put_if(struct writing *to, struct rows *rows, struct text condition)
{
    struct text rest;
    size_t begun;

    put_whole(to, condition);
    begun = begin_size(to);
    put_rows(to, rows);
    end_size(to, begun);
    if (rows->at == rows->part->count)
        return;
    if (text_is(word_at(rows, &rest), "elif")) {
        put_byte(to, MF_DO_IF);
        begun = begin_size(to);
        rows->at++;
        put_if(to, rows, rest);
        end_size(to, begun);
        return; /* its `end` is also the outer one's */
    }
    if (text_is(word_at(rows, &rest), "else")) {
        rows->at++;
        put_rows(to, rows);
    }
    rows->at++;
}

/* "FROM .. TO" */
static void put_each(struct writing *to, struct rows *rows, struct text rest)
{
    put_expression(to, &rest);
    take_word(&rest);
    put_whole(to, rest);
    put_rows(to, rows);
    rows->at++;
}

static void put_one(struct writing *to, struct rows *rows, struct text word,
                    struct text rest)
{
    static const struct {
        const char *word;
        enum mf_code_row code;
    } common[] = { { "let", MF_DO_LET },   { "if", MF_DO_IF },
                   { "each", MF_DO_EACH }, { "use", MF_DO_USE },
                   { "use?", MF_DO_USE },  { "like", MF_DO_LIKE } };
    size_t place = begin_byte(to), begun = begin_size(to), i = 0;

    while (i < sizeof(common) / sizeof(*common) &&
           !text_is(word, common[i].word))
        i++;
    if (i == sizeof(common) / sizeof(*common)) {
        end_byte(to, place, rows->put(to, word, rest));
        end_size(to, begun);
        return;
    }
    end_byte(to, place, common[i].code);
    if (common[i].code == MF_DO_LET)
        put_let(to, rest);
    else if (common[i].code == MF_DO_IF)
        put_if(to, rows, rest);
    else if (common[i].code == MF_DO_EACH)
        put_each(to, rows, rest);
    else if (common[i].code == MF_DO_USE)
        put_use(to, rest, text_is(word, "use?"));
    else
        put_like(to, rest);
    end_size(to, begun);
}

/* Up to what ends them, which stays. */
static void put_rows(struct writing *to, struct rows *rows)
{
    struct text rest, word;

    while (rows->at < rows->part->count) {
        word = word_at(rows, &rest);
        if (text_is(word, "end") || text_is(word, "else") ||
            text_is(word, "elif"))
            return;
        to->program->row = &rows->part->row[rows->at++];
        put_one(to, rows, word, rest);
    }
}

/* ---- a language ---- */

struct program program_of(const struct source *source,
                          const struct function *functions, put_row *put)
{
    struct program program = { .source = source };
    struct writing to = { .program = &program,
                          .functions = functions,
                          .json = source->language == &family_language };

    program.begin =
        take_memory(NULL, (source->count + 1) * sizeof(*program.begin));
    for (size_t i = 0; i < source->count; i++) {
        struct rows rows = { .part = &source->part[i], .put = put };

        program.begin[i] = program.code.size;
        to.part = rows.part;
        put_rows(&to, &rows);
    }
    program.begin[source->count] = program.code.size;
    return program;
}
