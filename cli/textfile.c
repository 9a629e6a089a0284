/* SPDX-License-Identifier: MIT
 *
 * textfile.c - a whole text file in memory: a manifest, an earlier report
 */
#include "cli/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/inputs.h"
#include "cli/measure/measure.h"
#include "cli/report.h"

#define ROOM_MIN ((size_t)64 * 1024)

/* How long a pipe that has no writer is waited for, in milliseconds. */
#define WRITER_MS 5000

struct reading {
    struct run *run;
    const char *path;
    const struct textkind *kind;
    struct textfile file;
    size_t room;
    int fd;
};

static bool cannot(struct reading *reading, const char *why)
{
    report_input(reading->run, reading->path, "cannot read %s: %s",
                 reading->kind->what, why);
    return false;
}

static bool too_large(struct reading *reading)
{
    char why[64];

    snprintf(why, sizeof(why), "it is larger than %zu MiB",
             reading->kind->size_max >> 20);
    return cannot(reading, why);
}

/* Room for size_max bytes, one more that would be too many, and the end. */
static bool grow(struct reading *reading)
{
    struct textfile *file = &reading->file;
    size_t most = reading->kind->size_max + 2;
    size_t more = reading->room ? reading->room * 2 : ROOM_MIN;
    char *moved;

    more = more < most ? more : most;
    moved = mf_env_resize(reading->run->env, file->text, reading->room, more);
    if (!moved) {
        report_memory(reading->run, reading->path);
        return false;
    }
    file->text = moved;
    reading->room = more;
    return true;
}

/* Opening a pipe must not wait for a writer that never comes. */
static bool open_input(struct reading *reading)
{
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

    do
        reading->fd = open(inputs_path(reading->path), flags);
    while (reading->fd < 0 && errno == EINTR);
    return reading->fd >= 0 || cannot(reading, strerror(errno));
}

/* A file of that size is not read before it is refused. */
static bool check_size(struct reading *reading)
{
    struct stat status;

    return fstat(reading->fd, &status) != 0 || !S_ISREG(status.st_mode) ||
           status.st_size < 0 ||
           (uint64_t)status.st_size <= reading->kind->size_max ||
           too_large(reading);
}

/* Whether this is a pipe without new bytes for a while. */
static bool is_silent(int fd)
{
    struct pollfd waiting = { .fd = fd, .events = POLLIN };
    struct stat status;

    return fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode) &&
           poll(&waiting, 1, WRITER_MS) == 0;
}

/* The next bytes, 0 at the end, -1 after a report. */
static ssize_t read_some(struct reading *reading, bool silent)
{
    struct textfile *file = &reading->file;
    size_t room = reading->room - file->size - 1;
    ssize_t got;

    do
        got = read(reading->fd, file->text + file->size, room);
    while (got < 0 &&
           (errno == EINTR ||
            /* There is a writer: wait for it. */
            (errno == EAGAIN && fcntl(reading->fd, F_SETFL, O_RDONLY) == 0)));
    if (got < 0)
        cannot(reading, strerror(errno));
    else if (got > 0 || file->size > 0 || !silent)
        return got;
    else
        cannot(reading, "no process writes to this pipe");
    return -1;
}

static bool read_all(struct reading *reading)
{
    struct textfile *file = &reading->file;
    const struct textkind *kind = reading->kind;
    bool silent = is_silent(reading->fd);

    for (;;) {
        ssize_t got;

        if (file->size + 1 >= reading->room && !grow(reading))
            return false;
        got = read_some(reading, silent);
        if (got <= 0)
            return got == 0;
        if (kind->nul_refused &&
            memchr(file->text + file->size, 0, (size_t)got))
            return cannot(reading, "it contains a NUL");
        file->size += (size_t)got;
        if (file->size > kind->size_max)
            return too_large(reading);
    }
}

/* So that no output replaces it. */
static bool keep_input(struct reading *reading)
{
    if (mf_env_keep_input(reading->run->env, reading->fd) == MF_OK)
        return true;
    report_memory(reading->run, reading->path);
    return false;
}

/* The room that is too much goes back; all of it, unless the file is there. */
static bool give_back(struct reading *reading, bool done)
{
    struct textfile *file = &reading->file;
    struct mf_env *env = reading->run->env;
    char *text = NULL;

    if (done)
        text = mf_env_resize(env, file->text, reading->room, file->size + 1);
    if (done && !text)
        report_memory(reading->run, reading->path);
    if (!text && reading->room > 0)
        mf_env_resize(env, file->text, reading->room, 0);
    file->text = text;
    return text;
}

bool textfile_read(struct run *run, const char *path,
                   const struct textkind *kind, struct textfile *out)
{
    struct reading reading = {
        .run = run, .path = path, .kind = kind, .fd = -1
    };
    struct textfile *file = &reading.file;
    bool done = open_input(&reading) && check_size(&reading) &&
                read_all(&reading) && keep_input(&reading);

    if (reading.fd >= 0)
        close(reading.fd);
    if (!give_back(&reading, done))
        return false;
    file->text[file->size] = 0;
    *out = *file;
    record_text(file->text, file->size);
    return true;
}

void textfile_release(struct run *run, struct textfile *file)
{
    if (file->text)
        mf_env_resize(run->env, file->text, file->size + 1, 0);
    *file = (struct textfile){ 0 };
}
