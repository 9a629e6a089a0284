/* SPDX-License-Identifier: MIT
 *
 * out.h - standard output: buffered, and aware of a reader that went away
 *
 * stdio is not used: its first write allocates a buffer, and an error such as
 * a full disk would show only at exit.
 */
#ifndef MF_CLI_OUT_H
#define MF_CLI_OUT_H

#include <string.h>

#include "lib/program.h"

#define OUT_BUFFER ((size_t)16 * 1024)

struct out {
    int fd;
    bool closed;   /* the reader went away: nothing more is written */
    bool stopped;  /* a signal came while we waited for the reader */
    int error;     /* errno of a write that failed, else 0 */
    bool terminal; /* fd is a terminal */
    bool colour;
    unsigned columns;           /* of the terminal; 0: no limit */
    void (*before)(void *user); /* called before a write; may be NULL */
    void *user;
    size_t piece; /* bytes of a write at most; 0: as many as there are */
    bool (*is_stopped)(void); /* a signal came; may be NULL */
    /* Takes what would be written to fd; NULL: it is written there. */
    void (*sink)(void *user, const char *at, size_t size);
    size_t filled;
    size_t cell;  /* where the open cell begins; OUT_BUFFER: no cell is open */
    char *buffer; /* OUT_BUFFER bytes */
};

/* Opens /dev/null for each of standard input, output and error that is closed,
 * so that no file opened later gets its number, and our output.  Call it before
 * anything is opened; false if /dev/null cannot be opened. */
bool out_hold_standard(void);

/* buffer: OUT_BUFFER bytes, which must stay. */
void out_init(struct out *out, int fd, char *buffer);

/* TERM is "dumb" or not set: no escape sequences. */
bool out_is_dumb(void);

/* Columns of a terminal, 80 if it does not report them; 0: not a terminal. */
unsigned out_terminal_columns(int fd);
void out_flush(struct out *out);

/* For more than the buffer has room for. */
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

/* The text and a newline, wrapped between words; further lines are indented to
 * column.  Empty lines are kept. */
void out_wrapped(struct out *out, const char *text, size_t column);

/* Columns of the terminal; 80 if there is no terminal. */
size_t out_columns(const struct out *out);

/* Escape sequences, which OUT_PLAIN ends. */
#define OUT_RED    "\033[1;31m"
#define OUT_YELLOW "\033[1;33m"
#define OUT_PLAIN  "\033[0m"

enum colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

/* Whether there are any. */
bool out_wants_colour(enum colour colour, bool terminal);

/* Bold if colour is on. */
void out_bold(struct out *out, const char *text);

/* "error" in red, "warning" in yellow, "note", if colour is on. */
void out_severity(struct out *out, enum mf_severity severity);

/* Text from a file, with control characters, invalid UTF-8 and the like escaped
 * so that it cannot drive the terminal.  keep: characters that pass ("\n\t" or
 * ""). */
void out_escaped(struct out *out, struct mf_str text, const char *keep);

/* The same for a program to read: a backslash of the text is doubled, so that
 * reading the escapes gives the same bytes. */
void out_reversible(struct out *out, struct mf_str text);

/* Columns that out_escaped takes for the text. */
size_t out_width(struct mf_str text);

/* Escaped text, padded with spaces to the width.  Longer text is shortened in
 * the middle if cut is set, else it overflows. */
void out_column(struct out *out, struct mf_str text, size_t width, bool cut);

/* Output between the two, escaped and of one line, is cut to width columns (at
 * least 1) by an ellipsis at its end.  Output larger than the buffer is not
 * cut. */
void out_cell_begin(struct out *out);
void out_cell_end(struct out *out, size_t width);

/* A number with thousands separators, right-aligned. */
void out_number(struct out *out, uint64_t number, size_t width);

struct mf_str str_of(const char *text);

static inline bool str_same(struct mf_str a, struct mf_str b)
{
    return a.size == b.size && memcmp(a.at, b.at, a.size) == 0;
}

/* "1,234,567" */
struct number_text {
    char at[32];
};
struct number_text number_text(uint64_t number);

/* Writes the digits of number to out, at most 20 and not terminated; returns
 * how many. */
size_t put_decimal(char *out, uint64_t number);

/* 0x1f80, right-aligned. */
void out_hex(struct out *out, uint64_t number, size_t width);

/* "4.1 GiB", "17 B" */
struct number_text size_text(uint64_t bytes);

/* "6.74B", "125.3M", "12" of anything */
struct number_text count_text(uint64_t count);

#endif
