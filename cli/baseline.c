/* SPDX-License-Identifier: MIT
 *
 * baseline.c - findings that are known and accepted: the text report of an
 * earlier run
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/validate.h"

/* A thousand findings of a thousand files take less. */
#define SIZE_LIMIT ((size_t)256 * 1024 * 1024)

/* All of fd; false where that fails. */
static bool read_all(struct run *run, int fd, struct baseline *baseline)
{
    size_t room = 0;

    for (;;) {
        ssize_t got;

        if (baseline->size + 1 >= room) {
            size_t more = room ? room * 2 : 64 * 1024;
            char *moved = more > SIZE_LIMIT
                              ? NULL
                              : mf_resize(run->env, baseline->text, room, more);

            if (!moved) {
                errno = EFBIG;
                mf_resize(run->env, baseline->text, room, 0);
                return false;
            }
            baseline->text = moved;
            room = more;
        }
        got = read(fd, baseline->text + baseline->size,
                   room - 1 - baseline->size);
        if (got < 0 && errno != EINTR) {
            mf_resize(run->env, baseline->text, room, 0);
            return false;
        }
        if (got == 0)
            break;
        baseline->size += got > 0 ? (size_t)got : 0;
    }
    baseline->text[baseline->size] = 0;
    baseline->text =
        mf_resize(run->env, baseline->text, room, baseline->size + 1);
    return true;
}

bool baseline_read(struct run *run, const char *path, struct baseline *baseline)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool done = fd >= 0 && read_all(run, fd, baseline);

    if (!done)
        report_input(run, path, "the baseline cannot be read: %s",
                     strerror(errno));
    if (fd >= 0)
        close(fd);
    for (size_t i = 0; done && i < baseline->size; i++)
        if (baseline->text[i] == '\n')
            baseline->text[i] = 0;
    return done;
}

void baseline_release(struct run *run, struct baseline *baseline)
{
    if (baseline->text)
        mf_resize(run->env, baseline->text, baseline->size + 1, 0);
}

bool baseline_has(const struct baseline *baseline, const char *line)
{
    size_t size = strlen(line), at = 0;

    while (at < baseline->size) {
        size_t here = strlen(baseline->text + at);

        if (here == size && memcmp(baseline->text + at, line, size) == 0)
            return true;
        at += here + 1;
    }
    return false;
}
