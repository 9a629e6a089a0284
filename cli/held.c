/* SPDX-License-Identifier: MIT
 *
 * held.c - the line that standard error ends with
 */
#include "cli/held.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static void (*held_sink)(void *user, const char *text, size_t size);
static void *held_user;

void held_to(void (*sink)(void *user, const char *text, size_t size),
             void *user)
{
    held_user = user;
    held_sink = sink;
}

void held_write(const char *text, size_t size)
{
    if (held_sink && size > 0) {
        held_sink(held_user, text, size);
        return;
    }
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

static char held[HELD_SIZE];
static volatile sig_atomic_t held_size; /* 0: there is none */

void held_keep(const char *line, size_t size)
{
    assert(size <= HELD_SIZE);
    held_print();
    memcpy(held, line, size);
    held_size = (sig_atomic_t)size;
}

void held_print(void)
{
    sig_atomic_t size = held_size;

    held_size = 0;
    held_write(held, (size_t)size);
}
