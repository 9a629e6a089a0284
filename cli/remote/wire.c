/* SPDX-License-Identifier: MIT
 *
 * wire.c - what the parser and the helper write to each other
 *
 * read and write only: the parser's sandbox refuses recv and send.
 */
#include "cli/remote/wire.h"

#include <errno.h>
#include <unistd.h>

/* After a call that did not work: whether to try again. */
static bool again(bool (*is_stopped)(void))
{
    if (errno != EINTR)
        return false;
    if (!is_stopped || !is_stopped())
        return true;
    errno = ECANCELED;
    return false;
}

bool wire_read(int fd, void *bytes, size_t size, bool (*is_stopped)(void))
{
    char *into = bytes;

    while (size > 0) {
        ssize_t got = read(fd, into, size);

        if (got == 0)
            errno = EPIPE;
        if (got == 0 || (got < 0 && !again(is_stopped)))
            return false;
        into += got > 0 ? got : 0;
        size -= got > 0 ? (size_t)got : 0;
    }
    return true;
}

bool wire_write(int fd, const void *bytes, size_t size,
                bool (*is_stopped)(void))
{
    const char *from = bytes;

    while (size > 0) {
        ssize_t put = write(fd, from, size);

        if (put < 0 && !again(is_stopped))
            return false;
        from += put > 0 ? put : 0;
        size -= put > 0 ? (size_t)put : 0;
    }
    return true;
}
