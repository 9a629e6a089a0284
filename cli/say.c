/* SPDX-License-Identifier: MIT
 *
 * say.c - lines on standard error
 */
#include "cli/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/progress.h"

/* Standard error is not buffered: one write per line, so that lines of several
 * programs do not mix. */
static void put(const char *text, size_t size)
{
    while (size > 0) {
        ssize_t wrote = write(STDERR_FILENO, text, size);

        if (wrote == 0 || (wrote < 0 && errno != EINTR))
            return; /* there is no way left to report it */
        if (wrote > 0) {
            text += wrote;
            size -= (size_t)wrote;
        }
    }
}

void say(struct run *run, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    int size;

    progress_clear(run);
    va_start(arguments, format);
    size = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (size > 0)
        put(text,
            (size_t)size < sizeof(text) ? (size_t)size : sizeof(text) - 1);
}
