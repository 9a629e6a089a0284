/* SPDX-License-Identifier: MIT
 *
 * textfile.c - a whole text file in memory: a manifest, an earlier report
 */
#include "cli/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/inputs.h"
#include "cli/report.h"

/* Far above the size of a manifest of a million tensors. */
#define SIZE_LIMIT ((size_t)256 * 1024 * 1024)

/* Doubles the room; false with errno set, and with ENOMEM an error of run->env.
 */
static bool grow(struct run *run, struct textfile *file, size_t *room)
{
    size_t more = *room ? *room * 2 : 64 * 1024;
    char *moved = more > SIZE_LIMIT
                      ? NULL
                      : mf_env_resize(run->env, file->text, *room, more);

    if (!moved) {
        errno = more > SIZE_LIMIT ? EFBIG : ENOMEM;
        return false;
    }
    file->text = moved;
    *room = more;
    return true;
}

/* All of fd; false with errno set. */
static bool read_all(struct run *run, int fd, struct textfile *file,
                     size_t *room)
{
    for (;;) {
        ssize_t got;

        if (file->size + 1 >= *room && !grow(run, file, room))
            return false;
        got = read(fd, file->text + file->size, *room - 1 - file->size);
        if (got < 0 && errno != EINTR)
            return false;
        if (got == 0)
            return true;
        file->size += got > 0 ? (size_t)got : 0;
    }
}

bool textfile_read(struct run *run, const char *path, const char *what,
                   struct textfile *out)
{
    struct textfile file = { 0 };
    size_t room = 0;
    int fd = open(inputs_path(path), O_RDONLY | O_CLOEXEC);
    bool done = fd >= 0 && read_all(run, fd, &file, &room);

    if (!done && fd >= 0 && errno == ENOMEM)
        report_memory(run, path);
    else if (!done)
        report_input(run, path, "cannot read %s: %s", what, strerror(errno));
    if (fd >= 0)
        close(fd);
    if (room > 0)
        file.text =
            mf_env_resize(run->env, file.text, room, done ? file.size + 1 : 0);
    if (!done)
        return false;
    file.text[file.size] = 0;
    *out = file;
    return true;
}

void textfile_release(struct run *run, struct textfile *file)
{
    if (file->text)
        mf_env_resize(run->env, file->text, file->size + 1, 0);
    *file = (struct textfile){ 0 };
}
