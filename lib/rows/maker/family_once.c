/* SPDX-License-Identifier: MIT
 *
 * family_once.c - rows of a family that are there once, or in one place
 *
 * `class` and `mtp` are looked for among the rows of the paragraph itself, and
 * `arch` of a paragraph that is used means nothing.  Which `arch` and `vocab`
 * rows are run depends on config.json: on each way through the rows there is
 * one `arch`, and a vocabulary comes once.
 */
#include "lib/rows/maker/family.h"

/* How far a way through the rows has come, and a set of these as bits. */
enum state {
    NONE = 1,
    BEGUN = 2, /* "vocab" where the vocabulary begins */
    DONE = 4
};

struct ways {
    const struct source *source;
    const struct part *part; /* the family */
    const char *word;        /* "arch" or "vocab" */
    struct words *missed;    /* places where something is wrong that was said */
};

/* Others that use the row would say the same. */
static void say(struct ways *ways, const struct row *row, struct text word,
                const char *what)
{
    if (words_add_place(ways->missed, word))
        row_error(row, "%s", what);
}

static unsigned after_arch(struct ways *ways, const struct row *row,
                           struct text word, unsigned states)
{
    if (states & DONE)
        say(ways, row, word, "'arch' is there twice");
    return DONE;
}

/* Special tokens come after a vocabulary. */
static unsigned after_vocab(struct ways *ways, const struct row *row,
                            struct text word, unsigned states)
{
    struct text rest = text_of(row->text);

    take_word(&rest);
    if (rest.size == 0) {
        if (states & (BEGUN | DONE))
            say(ways, row, word,
                "'vocab' without a vocabulary comes before any other");
        return BEGUN;
    }
    if (states & DONE && !text_is(take_word(&rest), "special"))
        say(ways, row, word, "a vocabulary is there already");
    return DONE;
}

static unsigned run(struct ways *ways, const struct part *part, size_t *at,
                    unsigned states);

/* The sides of an `if`, and its end: any of them may be run, or none. */
static unsigned run_sides(struct ways *ways, const struct part *part,
                          size_t *at, unsigned states)
{
    unsigned out = 0;
    bool other = false;

    for (;;) {
        struct text rest, word;

        out |= run(ways, part, at, states);
        if (*at == part->count)
            break;
        rest = text_of(part->row[(*at)++].text);
        word = take_word(&rest);
        if (text_is(word, "end"))
            break;
        other = other || text_is(word, "else");
    }
    return other ? out : out | states;
}

/* Up to what ends the rows, which stays. */
static unsigned run(struct ways *ways, const struct part *part, size_t *at,
                    unsigned states)
{
    static const char *const end[] = { "end", "else", "elif", NULL };

    while (*at < part->count) {
        const struct row *row = &part->row[*at];
        struct text rest = text_of(row->text), word = take_word(&rest);
        bool arch = text_is(text_of(ways->word), "arch");
        const struct part *used =
            text_is(word, "use") && !arch
                ? rows_used(ways->source, ways->part->kind, rest)
                : NULL;
        size_t begin = 0;

        if (list_has(end, word))
            break;
        (*at)++;
        if (text_is(word, "if"))
            states = run_sides(ways, part, at, states);
        else if (used)
            states = run(ways, used, &begin, states);
        else if (text_is(word, ways->word))
            states = arch ? after_arch(ways, row, word, states)
                          : after_vocab(ways, row, word, states);
    }
    return states;
}

static void check_ways(const struct source *source, const struct part *part,
                       struct words *missed)
{
    struct ways ways = { source, part, "arch", missed };
    size_t at = 0, rows = rows_most(source, part, "arch", false);

    if (run(&ways, part, &at, NONE) & NONE)
        row_error(&part->head, "a row 'arch' is missing%s",
                  rows > 0 ? " where no 'if' of it holds" : "");
    at = 0;
    ways.word = "vocab";
    if (run(&ways, part, &at, NONE) & BEGUN)
        row_error(&part->head, "a vocabulary is missing after 'vocab'");
}

/* ---- rows that are looked for ---- */

static void check_places(const struct part *part)
{
    static const char *const words[] = { "class", "mtp", "arch", NULL };
    bool group = text_is(part->kind, "group"), there[2] = { false, false };
    size_t depth = 0;

    for (size_t i = 0; i < part->count; i++) {
        const struct row *row = &part->row[i];
        struct text rest = text_of(row->text), word = take_word(&rest);
        size_t which = list_find(words, word);

        depth += text_is(word, "if");
        depth -= text_is(word, "end");
        if (words[which] && group)
            row_error(row, "'%s' does nothing in a group", words[which]);
        else if (which < 2 && depth > 0)
            row_error(row, "'%s' does nothing in 'if'", words[which]);
        else if (which < 2 && there[which])
            row_error(row, "'%s' is there twice", words[which]);
        if (which < 2)
            there[which] = true;
    }
}

void family_check_once(const struct source *source)
{
    struct words missed = { .count = 0 };

    for (size_t i = 0; i < source->count; i++) {
        check_places(&source->part[i]);
        if (text_is(source->part[i].kind, "family"))
            check_ways(source, &source->part[i], &missed);
    }
    words_free(&missed);
}
