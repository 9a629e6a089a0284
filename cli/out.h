/* SPDX-License-Identifier: MIT
 *
 * out.h - standard output: buffered, counted, and told when nobody listens
 *
 * No stdio: starting it costs an allocation, and it would hide the error of a
 * full disk until the program has gone.
 */
#ifndef MF_CLI_OUT_H
#define MF_CLI_OUT_H

#include <string.h>

#include "lib/program.h"

#define OUT_BUFFER ((size_t)64 * 1024)

struct out {
    int fd;
    bool closed;   /* the reader went away: the rest is not for anyone */
    bool stopped;  /* a signal came while we waited for it */
    int error;     /* errno of a write that failed, else 0 */
    bool terminal; /* fd is one */
    bool colour;
    unsigned columns;           /* of the terminal; 0: as wide as need be */
    void (*before)(void *user); /* something is written; may be NULL */
    void *user;
    size_t filled;
    size_t cell; /* where an open cell begins; OUT_BUFFER: none is open */
    char buffer[OUT_BUFFER];
};

/* Where standard input, output or error is closed, no file that is opened later
 * may take its number and get what is meant for it.  Before anything is opened;
 * false where that cannot be had. */
bool out_hold_standard(void);

void out_init(struct out *out, int fd);

/* TERM is dumb, or says nothing: it gets no escape sequences. */
bool out_is_dumb(void);

/* Of a terminal; one that does not say has 80.  0: this is none. */
unsigned out_terminal_columns(int fd);
void out_flush(struct out *out);

/* For more than there is room for. */
void out_bytes_slow(struct out *out, const char *at, size_t size);

/* Inline: a listing of 20,000 tensors calls these half a million times. */
static inline void out_bytes(struct out *out, const char *at, size_t size)
{
    if (size >= OUT_BUFFER - out->filled) {
        out_bytes_slow(out, at, size);
        return;
    }
    memcpy(out->buffer + out->filled, at, size);
    out->filled += size;
}

static inline void out_text(struct out *out, const char *text)
{
    out_bytes(out, text, strlen(text));
}

void out_line(struct out *out, const char *text); /* and a newline */
void out_format(struct out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void out_spaces(struct out *out, size_t count);

/* The text and a newline, broken between words where it would pass the line;
 * what follows starts in the column where the text does.  An empty line in it
 * stays one. */
void out_wrapped(struct out *out, const char *text, size_t column);

/* Columns of the terminal, else of an ordinary one. */
size_t out_columns(const struct out *out);

/* Bold where colour is wanted. */
void out_bold(struct out *out, const char *text);

/* Text from a file: what a terminal must not see is escaped.  keep: characters
 * that go through all the same ("\n\t" or ""). */
void out_escaped(struct out *out, struct mf_str text, const char *keep);

/* Columns that out_escaped takes for it. */
size_t out_width(struct mf_str text);

/* Escaped text in a column of that width, spaces behind it; a longer one is
 * cut in the middle where cut is set, else overflows. */
void out_column(struct out *out, struct mf_str text, size_t width, bool cut);

/* What is written between the two, already escaped and of one line, loses its
 * end where it takes more than width columns (at least 1).  What is too long
 * for the buffer stays whole. */
void out_cell_begin(struct out *out);
void out_cell_end(struct out *out, size_t width);

/* A number with separators of thousands, right-aligned. */
void out_number(struct out *out, uint64_t number, size_t width);

struct mf_str str_of(const char *text);

/* "1,234,567" */
struct number_text {
    char at[32];
};
struct number_text number_text(uint64_t number);

/* Digits of number without separators, at out; returns how many.  20 bytes are
 * enough, nothing is terminated. */
size_t put_decimal(char *out, uint64_t number);

/* 0x1f80, right-aligned. */
void out_hex(struct out *out, uint64_t number, size_t width);

/* "4.1 GiB", "17 B" */
struct number_text size_text(uint64_t bytes);

/* "6.74B", "125.3M", "12" of anything */
struct number_text count_text(uint64_t count);

#endif
