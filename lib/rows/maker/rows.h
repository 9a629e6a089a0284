/* SPDX-License-Identifier: MIT
 *
 * rows.h - what the checker of rows knows of a file of rows
 *
 * The rows of lib/families are programs that the library runs, and rows in
 * lib/hf/hub/names say what tensors are called.  This program reads all of them
 * when the library is built: a row that would fail, or do nothing, when it is
 * run is an error with its file and line.  It is compiled for the machine that
 * builds.
 *
 *     words       texts, and sets of words
 *     source      files as paragraphs of rows; errors, and words like others
 *     expression  the expressions of both languages; operand: their values
 *     loader      rows about what a loader reads: keys and tensors
 *     graph       rows about what an architecture computes
 *     family      rows about config.json; family_tensor: about its tensors
 *     naming      rows about what tensors are called
 *     write       all of them as tables in C
 */
#ifndef MF_ROWS_H
#define MF_ROWS_H

#include <stdbool.h>
#include <stddef.h>

/* A text in a row, not terminated. */
struct text {
    const char *at;
    size_t size;
};

struct row {
    const char *file;
    int line;
    const char *text; /* without comments, with single spaces */
    bool indented;
};

/* "group NAME WORDS", and the rows below it. */
struct part {
    struct row head;
    struct text kind, name, words;
    struct row *row;
    size_t count;
    bool used;
};

/* Rows of one kind, which make up sections of files.  Lists end with NULL. */
struct language {
    const char *const *sections; /* NULL: files of these rows have none */
    const char *const *kinds;    /* of paragraphs */
    bool margin; /* only at the left margin "#" begins a comment */
};

struct source {
    const struct language *language;
    struct part *part;
    size_t count;
    bool begins;       /* a section has begun, and no paragraph yet */
    struct row *loose; /* rows before the first paragraph */
    size_t loose_count;
};

/* Adds the paragraphs of a file, each to the source that has its section.  The
 * list ends with NULL. */
void source_read(struct source *const *sources, const char *file);

/* The same for a text, which is changed, and stays in use. */
void source_read_text(struct source *const *sources, const char *file,
                      char *text);

/* The paragraph with that kind and name, or NULL. */
struct part *source_find(const struct source *source, const char *kind,
                         struct text name);

/* ---- words ---- */

struct text text_of(const char *at);
bool text_is(struct text text, const char *other);
bool text_same(struct text a, struct text b);
/* Below, equal to or above 0, by bytes. */
int text_order(struct text a, struct text b);
bool text_begins(struct text text, const char *beginning);
bool text_ends(struct text text, const char *end);

/* Takes the text up to a sign, and the sign; all of it where the sign is
 * missing. */
struct text take_up_to(struct text *text, char sign);

/* The same up to a space. */
struct text take_word(struct text *text);

/* The same up to a sign outside of brackets, without spaces around it. */
struct text take_until(struct text *text, char sign);

struct text trimmed(struct text text);

/* ---- sets of words ---- */

struct words {
    struct text *at;
    size_t count, room;
    size_t *slot; /* where a word is, by its hash: its place, from 1 on */
};

/* False if it is there already. */
bool words_add(struct words *words, struct text word);
bool words_have(const struct words *words, struct text word);
/* The place of the word; the count of all where it is missing. */
size_t words_find(const struct words *words, struct text word);
/* Only the first ones stay. */
void words_cut(struct words *words, size_t count);
void words_free(struct words *words);

/* The same for places: false if that very word, not one like it, is there. */
bool words_add_place(struct words *places, struct text word);

/* ---- texts in one string ---- */

/* Each text is in there once. */
struct pool {
    struct words known; /* in their order */
    size_t *place;      /* of each */
    size_t size;        /* of all */
};

/* The place of a text, which takes so many bytes more than it has. */
size_t pool_place(struct pool *pool, struct text text, size_t more);

/* ---- lists of words, which end with NULL ---- */

/* The place of the word; the place of the NULL where it is missing. */
size_t list_find(const char *const *list, struct text word);
bool list_has(const char *const *list, struct text word);

/* ---- errors ---- */

/* How many there were. */
extern int row_errors;

void row_error(const struct row *row, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "unknown function 'frist': did you mean 'first'?" */
void row_unknown(const struct row *row, struct text word, const char *what,
                 const struct words *known);

/* The same with a list. */
void row_unknown_of(const struct row *row, struct text word, const char *what,
                    const char *const *list);

void *take_memory(void *block, size_t size);

#endif
