/* SPDX-License-Identifier: MIT
 *
 * say.c - lines on standard error
 */
#include "cli/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/held.h"
#include "cli/progress.h"

void say(struct run *run, const char *format, ...)
{
    char text[HELD_SIZE];
    va_list arguments;
    int size;

    progress_clear(run);
    va_start(arguments, format);
    size = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (size > 0)
        held_write(text, (size_t)size < sizeof(text) ? (size_t)size
                                                     : sizeof(text) - 1);
}

/* "modelfile: TEXT" and a newline; its beginning is in that colour where
 * standard error has colours. */
static size_t named_line(struct run *run, char *line, const char *colour,
                         const char *format, va_list arguments)
{
    bool coloured =
        out_wants_colour(run->options->colour, isatty(STDERR_FILENO) == 1);
    int size = snprintf(line, HELD_SIZE, "%smodelfile:%s ",
                        coloured ? colour : "", coloured ? OUT_PLAIN : "");
    size_t room = HELD_SIZE - (size_t)size - 1;
    int added = vsnprintf(line + size, room, format, arguments);
    size_t end = (size_t)size;

    if (added > 0)
        end += (size_t)added < room ? (size_t)added : room - 1;
    line[end] = '\n';
    return end + 1;
}

void say_warning(struct run *run, const char *format, ...)
{
    char line[HELD_SIZE];
    va_list arguments;
    size_t size;

    progress_clear(run);
    va_start(arguments, format);
    size = named_line(run, line, OUT_YELLOW, format, arguments);
    va_end(arguments);
    held_write(line, size);
}

void say_error(struct run *run, const char *format, ...)
{
    char line[HELD_SIZE];
    va_list arguments;
    size_t size;

    progress_clear(run);
    va_start(arguments, format);
    size = named_line(run, line, OUT_RED, format, arguments);
    va_end(arguments);
    held_keep(line, size);
}
