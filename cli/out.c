/* SPDX-License-Identifier: MIT
 *
 * out.c - standard output: buffered, and aware of a reader that went away
 */
#include "cli/out.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool out_hold_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        int held;

        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
            continue;
        /* All lower numbers are open, so open returns this one.  It is opened
         * the wrong way round, so that using it still fails. */
        held = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        if (held != fd)
            return false;
    }
    return true;
}

unsigned out_terminal_columns(int fd)
{
    struct winsize size;

    if (isatty(fd) != 1)
        return 0;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                : 80;
}

bool out_is_dumb(void)
{
    const char *term = getenv("TERM");

    return !term || !*term || strcmp(term, "dumb") == 0;
}

bool out_wants_colour(enum colour colour, bool terminal)
{
    const char *no_colour = getenv("NO_COLOR");

    return colour == COLOUR_ALWAYS ||
           (colour == COLOUR_AUTO && terminal && !out_is_dumb() &&
            !(no_colour && *no_colour));
}

void out_init(struct out *out, int fd, char *buffer)
{
    out->buffer = buffer;
    out->fd = fd;
    out->closed = out->stopped = false;
    out->error = 0;
    out->filled = 0;
    out->cell = OUT_BUFFER;
    out->before = NULL;
    out->piece = 0;
    out->is_stopped = NULL;
    out->sink = NULL;
    out->terminal = isatty(fd) == 1;
    out->colour = false;
    out->columns = out_terminal_columns(fd);
}

/* After a write that failed.  EAGAIN: another process that shares our end of a
 * pipe has made it non-blocking. */
static void handle_error(struct out *out)
{
    struct pollfd ready = { .fd = out->fd, .events = POLLOUT };

    if (errno == EAGAIN && poll(&ready, 1, -1) >= 0)
        return;
    if (errno == EPIPE)
        out->closed = true;
    else if (errno == EINTR)
        out->stopped = out->is_stopped && out->is_stopped();
    else
        out->error = errno;
}

void out_flush(struct out *out)
{
    size_t at = 0;

    if (out->sink) {
        out->sink(out->user, out->buffer, out->filled);
        at = out->filled;
    }
    while (at < out->filled && !out->closed && !out->stopped &&
           out->error == 0) {
        size_t size = out->filled - at;
        ssize_t wrote;

        if (out->before)
            out->before(out->user);
        if (out->piece > 0 && size > out->piece)
            size = out->piece;
        wrote = write(out->fd, out->buffer + at, size);
        if (wrote > 0)
            at += (size_t)wrote;
        else if (wrote < 0)
            handle_error(out);
        else
            out->error = EIO;
    }
    out->filled = 0;
    out->cell = OUT_BUFFER;
}

void out_bytes_slow(struct out *out, const char *at, size_t size)
{
    while (size > 0) {
        size_t room = OUT_BUFFER - out->filled;
        size_t part = size < room ? size : room;

        memcpy(out->buffer + out->filled, at, part);
        out->filled += part;
        at += part;
        size -= part;
        if (out->filled == OUT_BUFFER)
            out_flush(out);
    }
}

void out_line(struct out *out, const char *text)
{
    out_text(out, text);
    out_bytes(out, "\n", 1);
}

void out_format(struct out *out, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (size > 0)
        out_bytes(out, text,
                  (size_t)size < sizeof(text) ? (size_t)size
                                              : sizeof(text) - 1);
}

void out_spaces(struct out *out, size_t count)
{
    static const char spaces[] = "                                ";

    for (; count >= sizeof(spaces); count -= sizeof(spaces) - 1)
        out_bytes(out, spaces, sizeof(spaces) - 1);
    out_bytes(out, spaces, count);
}

size_t out_columns(const struct out *out)
{
    return out->columns > 0 ? out->columns : 80;
}

void out_wrapped(struct out *out, const char *text, size_t column)
{
    size_t at = column, most = out_columns(out);

    while (*text) {
        size_t size = strcspn(text, " \n");

        if (*text == '\n') {
            out_text(out, "\n\n");
            at = column;
        } else if (at > column && at + 1 + size > most) {
            out_text(out, "\n");
            out_spaces(out, column);
            at = column;
        } else if (at > column) {
            out_text(out, " ");
            at++;
        }
        out_bytes(out, text, size);
        at += size;
        text += size + (text[size] != 0);
        text += *text == '\n' && text[1] == 0; /* at the very end */
    }
    out_text(out, "\n");
}

void out_bold(struct out *out, const char *text)
{
    if (out->colour)
        out_text(out, "\033[1m");
    out_text(out, text);
    if (out->colour)
        out_text(out, OUT_PLAIN);
}

void out_severity(struct out *out, enum mf_severity severity)
{
    bool coloured = out->colour && severity != MF_NOTE;

    if (coloured)
        out_text(out, severity == MF_ERROR ? OUT_RED : OUT_YELLOW);
    out_text(out, mf_severity_name(severity));
    if (coloured)
        out_text(out, OUT_PLAIN);
}

/* ---- text from files ---- */

struct mf_str str_of(const char *text)
{
    return (struct mf_str){ text, strlen(text) };
}

void out_escaped(struct out *out, struct mf_str text, const char *keep)
{
    char escape[12];

    while (text.size > 0) {
        size_t clean = mf_text_clean(text.at, text.size);

        out_bytes(out, text.at, clean);
        text.at += clean;
        text.size -= clean;
        if (text.size == 0)
            return;
        if (*text.at != 0 && strchr(keep, *text.at)) {
            out_bytes(out, text.at, 1);
            clean = 1;
        } else {
            clean = mf_text_escape(text.at, text.size, escape);
            out_text(out, escape);
        }
        text.at += clean;
        text.size -= clean;
    }
}

void out_reversible(struct out *out, struct mf_str text)
{
    const char *backslash;

    while ((backslash = memchr(text.at, '\\', text.size)) != NULL) {
        size_t plain = (size_t)(backslash - text.at);

        out_escaped(out, (struct mf_str){ text.at, plain }, "");
        out_bytes(out, "\\\\", 2);
        text.at += plain + 1;
        text.size -= plain + 1;
    }
    out_escaped(out, text, "");
}

size_t out_width(struct mf_str text)
{
    size_t width = 0;
    char escape[12];

    while (text.size > 0) {
        size_t clean = mf_text_clean(text.at, text.size);

        width += mf_text_width(text.at, clean);
        text.at += clean;
        text.size -= clean;
        if (text.size > 0) {
            clean = mf_text_escape(text.at, text.size, escape);
            width += strlen(escape);
            text.at += clean;
            text.size -= clean;
        }
    }
    return width;
}

static bool starts_character(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

/* The longest beginning or end of clean text that fits width columns.  A
 * combining mark stays with the character before it. */
static struct mf_str front(struct mf_str text, size_t width)
{
    size_t size = 0;

    while (size < text.size) {
        size_t next = size + 1;

        while (next < text.size && !starts_character(text.at[next]))
            next++;
        if (mf_text_width(text.at, next) > width)
            break;
        size = next;
    }
    return (struct mf_str){ text.at, size };
}

static struct mf_str back(struct mf_str text, size_t width)
{
    size_t from = text.size, at = text.size;

    while (at > 0) {
        do
            at--;
        while (at > 0 && !starts_character(text.at[at]));
        if (mf_text_width(text.at + at, text.size - at) > width)
            break;
        if (mf_text_width(text.at + at, from - at) > 0)
            from = at; /* not at a combining mark */
    }
    return (struct mf_str){ text.at + from, text.size - from };
}

void out_column(struct out *out, struct mf_str text, size_t width, bool cut)
{
    bool clean = mf_text_clean(text.at, text.size) == text.size;
    size_t takes = out_width(text);

    if (!clean) {
        out_escaped(out, text, "");
    } else if (takes > width && cut && width > 2) {
        struct mf_str head = front(text, (width - 1) / 2);
        struct mf_str tail = back(text, width - 1 - (width - 1) / 2);

        out_bytes(out, head.at, head.size);
        out_text(out, "…");
        out_bytes(out, tail.at, tail.size);
        takes = mf_text_width(head.at, head.size) + 1 +
                mf_text_width(tail.at, tail.size);
    } else {
        out_bytes(out, text.at, text.size);
    }
    out_spaces(out, takes < width ? width - takes : 0);
}

void out_cell_begin(struct out *out)
{
    if (out->filled > OUT_BUFFER / 2)
        out_flush(out);
    out->cell = out->filled;
}

void out_cell_end(struct out *out, size_t width)
{
    struct mf_str text;

    if (out->cell == OUT_BUFFER)
        return;
    text = (struct mf_str){ out->buffer + out->cell, out->filled - out->cell };
    if (mf_text_width(text.at, text.size) <= width)
        return;
    out->filled = out->cell + front(text, width - 1).size;
    out_text(out, "…");
}

/* ---- numbers ---- */

/* Writes number with separators up to end; returns where it begins. */
static char *put_grouped(char *end, uint64_t number)
{
    unsigned digits = 0;

    do {
        if (digits > 0 && digits % 3 == 0)
            *--end = ',';
        *--end = (char)('0' + number % 10);
        number /= 10;
        digits++;
    } while (number > 0);
    return end;
}

struct number_text number_text(uint64_t number)
{
    struct number_text text;
    char *end = text.at + sizeof(text.at) - 1, *at = put_grouped(end, number);

    memmove(text.at, at, (size_t)(end - at));
    text.at[end - at] = 0;
    return text;
}

void out_number(struct out *out, uint64_t number, size_t width)
{
    char text[32], *end = text + sizeof(text);
    char *at = put_grouped(end, number);
    size_t size = (size_t)(end - at);

    out_spaces(out, size < width ? width - size : 0);
    out_bytes(out, at, size);
}

size_t put_decimal(char *out, uint64_t number)
{
    char digits[20];
    size_t count = 0;

    do {
        digits[sizeof(digits) - ++count] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    memcpy(out, digits + sizeof(digits) - count, count);
    return count;
}

void out_hex(struct out *out, uint64_t number, size_t width)
{
    char text[2 + 16];
    size_t at = sizeof(text);

    do {
        text[--at] = "0123456789abcdef"[number & 15];
        number >>= 4;
    } while (number > 0);
    text[--at] = 'x';
    text[--at] = '0';
    out_spaces(out,
               sizeof(text) - at < width ? width - (sizeof(text) - at) : 0);
    out_bytes(out, text + at, sizeof(text) - at);
}

/* value / step^n < limit, with its unit */
static struct number_text scaled(uint64_t number, double step,
                                 const char *const *units, int digits)
{
    struct number_text text;
    double value = (double)number;
    int unit = 0;

    /* What would be printed as 1024.0 KiB is 1.0 MiB. */
    while (units[unit + 1] && value >= step - 0.05) {
        value /= step;
        unit++;
    }
    if (unit == 0)
        snprintf(text.at, sizeof(text.at), "%" PRIu64 "%s", number, units[0]);
    else
        snprintf(text.at, sizeof(text.at), "%.*f%s", digits, value,
                 units[unit]);
    return text;
}

struct number_text size_text(uint64_t bytes)
{
    static const char *const units[] = { " B",   " KiB", " MiB", " GiB",
                                         " TiB", " PiB", " EiB", NULL };

    return scaled(bytes, 1024, units, 1);
}

struct number_text count_text(uint64_t count)
{
    static const char *const units[] = { "", "K", "M", "B", "T", NULL };

    return scaled(count, 1000, units, 2);
}
