/* SPDX-License-Identifier: MIT
 *
 * group.c - what paragraphs of all languages share: nesting, groups, names
 */
#include "lib/rows/maker/group.h"

#include <stdlib.h>
#include <string.h>

static size_t count_items(struct text list)
{
    size_t count = 0;

    for (; list.size > 0; count++)
        take_until(&list, ',');
    return count;
}

static size_t count_words(struct text text)
{
    size_t count = 0;

    for (; text.size > 0; count++)
        take_word(&text);
    return count;
}

/* The parameters of a group. */
static struct text parameters(const struct part *part)
{
    struct text rest = part->words;

    take_word(&rest);
    return rest;
}

static void known_groups(const struct source *source, struct words *out)
{
    for (size_t i = 0; i < source->count; i++)
        if (text_is(source->part[i].kind, "group"))
            words_add(out, source->part[i].name);
}

struct part *rows_use(const struct source *source, const struct row *row,
                      struct text rest)
{
    struct text name = take_word(&rest);
    struct part *group = source_find(source, "group", name);
    struct words known = { .count = 0 };
    size_t wanted, given = count_items(rest);

    if (!group) {
        known_groups(source, &known);
        row_unknown(row, name, "group", &known);
        words_free(&known);
        return NULL;
    }
    wanted = count_words(parameters(group));
    if (given != wanted)
        row_error(row, "group '%.*s' has %zu parameters, not %zu",
                  (int)name.size, name.at, wanted, given);
    group->used = true;
    return group;
}

/* The next row ends what this one would begin. */
static void rows_expected(const struct row *row)
{
    static const char *const begin[] = { "if", "elif", "else", "each", NULL };
    struct text rest = text_of(row->text), word = take_word(&rest);

    if (list_has(begin, word))
        row_error(row, "'%.*s' has no rows", (int)word.size, word.at);
}

void rows_nesting(const struct part *part, bool elif)
{
    const struct row *open[32];
    bool last[32]; /* after "else", or in "each" */
    size_t depth = 0;

    for (size_t i = 0; i < part->count; i++) {
        const struct row *row = &part->row[i];
        struct text rest = text_of(row->text), word = take_word(&rest);
        bool other = text_is(word, "else") || (elif && text_is(word, "elif"));

        if (i > 0 && (other || text_is(word, "end")))
            rows_expected(&part->row[i - 1]);
        if ((text_is(word, "if") || text_is(word, "each")) && depth < 32) {
            open[depth] = row;
            last[depth++] = text_is(word, "each");
        }
        if (depth == 32)
            row_error(row, "too deep");
        if ((other || text_is(word, "end")) && depth == 0)
            row_error(row, "'%.*s' without 'if'", (int)word.size, word.at);
        else if (other && last[depth - 1])
            row_error(row, "'%.*s' after 'else' or in 'each'", (int)word.size,
                      word.at);
        else if (other)
            last[depth - 1] = text_is(word, "else");
        if (text_is(word, "end") && depth > 0)
            depth--;
        if ((text_is(word, "else") || text_is(word, "end")) && rest.size > 0)
            row_error(row, "nothing follows '%.*s'", (int)word.size, word.at);
    }
    while (depth-- > 0)
        row_error(open[depth], "its 'end' is missing");
}

size_t rows_parameter(const struct part *part, struct text name)
{
    struct text list = parameters(part);

    if (!text_is(part->kind, "group"))
        return 0;
    for (size_t at = 1; list.size > 0; at++)
        if (text_same(take_word(&list), name))
            return at;
    return 0;
}

void rows_parameters(const struct part *part, size_t most)
{
    struct text list = parameters(part);
    size_t count = count_words(list);

    if (!text_is(part->kind, "group"))
        return;
    if (count > most)
        row_error(&part->head, "a group has at most %zu parameters here", most);
    for (size_t at = 1; list.size > 0; at++) {
        struct text name = take_word(&list);

        if (rows_parameter(part, name) != at)
            row_error(&part->head, "parameter '%.*s' is there twice",
                      (int)name.size, name.at);
    }
}

static bool has_word(struct text words, struct text word)
{
    while (words.size > 0)
        if (text_same(take_word(&words), word))
            return true;
    return false;
}

struct part *rows_used(const struct source *source, struct text kind,
                       struct text name)
{
    struct part *part = source_find(source, "group", name);

    for (size_t i = 0; i < source->count && !part; i++)
        if (text_same(source->part[i].kind, kind) &&
            has_word(source->part[i].words, name))
            part = &source->part[i];
    return part;
}

/* ---- paragraphs that use each other ---- */

const struct part *rows_next(const struct source *source,
                             const struct part *part, const struct row *row)
{
    struct text rest = text_of(row->text), word = take_word(&rest);

    if (text_is(word, "use") || text_is(word, "use?"))
        return rows_used(source, part->kind, take_word(&rest));
    for (size_t i = 0; i < source->count && text_is(word, "like"); i++)
        if (text_same(source->part[i].kind, part->kind) &&
            text_same(source->part[i].name, rest))
            return &source->part[i];
    return NULL;
}

enum visited { NEVER, OPEN, DONE };

static void find_cycles(const struct source *source, const struct part *part,
                        unsigned char *visited)
{
    size_t at = (size_t)(part - source->part);

    visited[at] = OPEN;
    for (size_t i = 0; i < part->count; i++) {
        const struct row *row = &part->row[i];
        const struct part *next = rows_next(source, part, row);

        if (!next)
            continue;
        if (visited[next - source->part] == OPEN)
            row_error(row, "'%.*s' uses this paragraph, which would not end",
                      (int)next->name.size, next->name.at);
        else if (visited[next - source->part] == NEVER)
            find_cycles(source, next, visited);
    }
    visited[at] = DONE;
}

bool rows_cycles(const struct source *source)
{
    unsigned char *visited = take_memory(NULL, source->count);
    int errors = row_errors;

    memset(visited, NEVER, source->count);
    for (size_t i = 0; i < source->count; i++)
        if (visited[i] == NEVER)
            find_cycles(source, &source->part[i], visited);
    free(visited);
    return row_errors > errors;
}

/* ---- how many rows are run ---- */

struct counting {
    const struct source *source;
    const char *word;
    bool all;
};

static size_t count_rows(const struct counting *counting,
                         const struct part *part, size_t *at);

/* The sides of an `if`, and its end. */
static size_t count_sides(const struct counting *counting,
                          const struct part *part, size_t *at)
{
    size_t most = 0;
    bool ends = false;

    while (!ends) {
        size_t count = count_rows(counting, part, at);
        struct text rest = text_of(part->row[(*at)++].text);

        ends = text_is(take_word(&rest), "end");
        most = counting->all ? most + count : count > most ? count : most;
    }
    return most;
}

/* Up to what ends them, which stays. */
static size_t count_rows(const struct counting *counting,
                         const struct part *part, size_t *at)
{
    static const char *const end[] = { "end", "else", "elif", NULL };
    size_t count = 0;

    while (*at < part->count) {
        const struct row *row = &part->row[*at];
        struct text rest = text_of(row->text), word = take_word(&rest);
        const struct part *next = rows_next(counting->source, part, row);

        if (list_has(end, word))
            return count;
        (*at)++;
        count += text_is(word, counting->word);
        if (next)
            count += rows_most(counting->source, next, counting->word,
                               counting->all);
        else if (text_is(word, "if") || text_is(word, "each"))
            count += count_sides(counting, part, at);
    }
    return count;
}

size_t rows_most(const struct source *source, const struct part *part,
                 const char *word, bool all)
{
    struct counting counting = { source, word, all };
    size_t at = 0;

    return count_rows(&counting, part, &at);
}

/* ---- names ---- */

void rows_one_name(const struct part *part)
{
    struct text rest = part->words;

    take_word(&rest);
    if (rest.size > 0)
        row_error(&part->head, "nothing follows the name of '%.*s': '%.*s'",
                  (int)part->kind.size, part->kind.at, (int)rest.size, rest.at);
}

/* A paragraph that comes first hides another one of its name. */
void rows_twice(const struct source *source, const struct part *part)
{
    const struct part *first = source->part;

    while (first < part && (!text_same(first->kind, part->kind) ||
                            !text_same(first->name, part->name)))
        first++;
    if (first < part)
        row_error(&part->head, "'%.*s' is there twice, first at %s:%d",
                  (int)part->name.size, part->name.at, first->head.file,
                  first->head.line);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* Whether the word is anywhere in the text. */
static bool has_name(struct text text, struct text name)
{
    for (size_t at = 0; at + name.size <= text.size; at++) {
        const char *after = text.at + at + name.size;

        if (memcmp(text.at + at, name.at, name.size) == 0 &&
            (at == 0 || !is_letter(after[-(long)name.size - 1])) &&
            (at + name.size == text.size || !is_letter(*after)))
            return true;
    }
    return false;
}

/* Names that no row uses: a slip, or left over. */
static void unused_lets(const struct part *part, const struct words *used)
{
    for (size_t i = 0; i < part->count; i++) {
        struct text rest = text_of(part->row[i].text), name;

        if (!text_is(take_word(&rest), "let"))
            continue;
        name = take_word(&rest);
        if (!words_have(used, name))
            row_error(&part->row[i], "nothing uses '%.*s'", (int)name.size,
                      name.at);
    }
}

void rows_unused(const struct part *part, const struct words *used)
{
    bool group = text_is(part->kind, "group");
    struct text list = parameters(part);

    unused_lets(part, used);
    if (group && !part->used)
        row_error(&part->head, "nothing uses this group");
    while (group && list.size > 0) {
        struct text name = take_word(&list);
        bool found = false;

        for (size_t i = 0; i < part->count && !found; i++)
            found = has_name(text_of(part->row[i].text), name);
        if (!found)
            row_error(&part->head, "nothing uses the parameter '%.*s'",
                      (int)name.size, name.at);
    }
}
