/* SPDX-License-Identifier: MIT
 *
 * stream_bytes.c - the bytes of a pipe: which are kept, and which have passed
 */
#include "cli/stream_bytes.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "cli/progress.h"

/* Headers of nearly all models have less than 32 MiB. */
#define KEPT_MAX ((uint64_t)256 * 1024 * 1024)

/* What a window of the library's readers takes at once. */
#define KEPT_FIRST ((size_t)256 * 1024)

#define PASSED_AT_ONCE ((size_t)16 * 1024)

/* ---- the pipe ---- */

/* A program may have left it such that reading does not wait. */
static bool again(void)
{
    struct pollfd ready = { .fd = STDIN_FILENO, .events = POLLIN };

    if (errno == EAGAIN)
        poll(&ready, 1, 1000);
    else if (errno != EINTR)
        return false;
    if (progress_signal() == 0)
        return true;
    errno = ECANCELED;
    return false;
}

/* At most size bytes, what has come so far; 0 at the end. */
static int64_t take(struct stream_bytes *bytes, void *into, size_t size)
{
    ssize_t got;

    if (bytes->ended)
        return 0;
    do
        got = read(STDIN_FILENO, into, size);
    while (got < 0 && again());
    if (got < 0)
        return -(int64_t)errno;
    bytes->ended = got == 0;
    bytes->taken += (uint64_t)got;
    bytes->run->read_again -= (uint64_t)got;
    return got;
}

/* ---- what is kept ---- */

static int64_t refuse(struct stream_bytes *bytes, const char *why)
{
    bytes->why = why;
    return -(int64_t)ESPIPE;
}

static bool begins_with(const struct stream_bytes *bytes, const char *magic)
{
    size_t size = strlen(magic);

    return bytes->filled >= size && memcmp(bytes->kept, magic, size) == 0;
}

static const char *why_far(const struct stream_bytes *bytes)
{
    if (begins_with(bytes, "PK"))
        return "an archive, as PyTorch and NumPy write, has its index at the "
               "end: save it to a file first";
    if (begins_with(bytes, "PAR1"))
        return "a Parquet file has its index at the end: save it to a file "
               "first";
    return "what comes before its data is more than the 256 MiB that are kept "
           "of a pipe: save it to a file first";
}

static bool make_room(struct stream_bytes *bytes, size_t size)
{
    size_t room = bytes->room > 0 ? bytes->room : KEPT_FIRST;
    void *moved;

    while (room < size)
        room *= 2;
    if (room == bytes->room)
        return true;
    moved = mf_env_resize(bytes->run->env, bytes->kept, bytes->room, room);
    if (!moved)
        return false;
    bytes->kept = moved;
    bytes->room = room;
    return true;
}

int64_t stream_bytes_keep(struct stream_bytes *bytes, uint64_t end)
{
    int64_t got = 1;

    if (end > KEPT_MAX)
        return refuse(bytes, why_far(bytes));
    if (!make_room(bytes, (size_t)end))
        return -(int64_t)ENOMEM;
    while (bytes->filled < end && got > 0) {
        got = take(bytes, bytes->kept + bytes->filled,
                   (size_t)end - bytes->filled);
        bytes->filled += got > 0 ? (size_t)got : 0;
    }
    return got < 0 ? got : 0;
}

static int64_t copy(const uint8_t *from, uint64_t there, void *buffer,
                    size_t count)
{
    size_t size = there < count ? (size_t)there : count;

    memcpy(buffer, from, size);
    return (int64_t)size;
}

/* ---- what passes ---- */

/* Keeps of these bytes, the last that were taken, what the tail wants. */
static void add_to_tail(struct stream_bytes *bytes, const uint8_t *at,
                        size_t size)
{
    uint64_t end = bytes->taken, begin = end - size;
    uint64_t from = begin > bytes->tail_at ? begin : bytes->tail_at;
    uint64_t stop = bytes->tail_at + STREAM_TAIL;

    if (!bytes->tail || from >= end || from >= stop)
        return;
    stop = stop < end ? stop : end;
    memcpy(bytes->tail + (from - bytes->tail_at), at + (from - begin),
           (size_t)(stop - from));
}

/* The same for what passed last. */
static void add_to_last(struct stream_bytes *bytes, const uint8_t *at,
                        size_t size)
{
    size_t some = size < STREAM_TAIL ? size : STREAM_TAIL;
    size_t to = (size_t)((bytes->taken - some) % STREAM_TAIL);
    size_t first = some < STREAM_TAIL - to ? some : STREAM_TAIL - to;

    if (!bytes->last)
        return;
    at += size - some;
    memcpy(bytes->last + to, at, first);
    memcpy(bytes->last, at + first, some - first);
}

static int64_t take_passing(struct stream_bytes *bytes, void *into, size_t size)
{
    int64_t got = take(bytes, into, size);

    if (got > 0) {
        add_to_tail(bytes, into, (size_t)got);
        add_to_last(bytes, into, (size_t)got);
    }
    return got;
}

static int64_t pass_up_to(struct stream_bytes *bytes, uint64_t offset)
{
    uint8_t passed[PASSED_AT_ONCE];
    int64_t got = 1;

    while (bytes->taken < offset && got > 0) {
        uint64_t left = offset - bytes->taken;

        got =
            take_passing(bytes, passed,
                         left < sizeof(passed) ? (size_t)left : sizeof(passed));
        if (got > 0 && progress_signal() != 0)
            got = -(int64_t)ECANCELED;
    }
    return got < 0 ? got : 0;
}

/* The bytes that the tail has, of which so many were taken. */
static uint64_t tail_end(const struct stream_bytes *bytes)
{
    uint64_t end = bytes->tail_at + STREAM_TAIL;

    if (!bytes->tail || bytes->taken < bytes->tail_at)
        return 0;
    return end < bytes->taken ? end : bytes->taken;
}

/* Up to where the ring begins again. */
static int64_t copy_last(const struct stream_bytes *bytes, uint64_t offset,
                         void *buffer, size_t count)
{
    size_t from = (size_t)(offset % STREAM_TAIL);
    uint64_t left = bytes->taken - offset;

    return copy(bytes->last + from,
                left < STREAM_TAIL - from ? left : STREAM_TAIL - from, buffer,
                count);
}

/* ---- the door ---- */

static int64_t read_any(struct stream_bytes *bytes, uint64_t offset,
                        void *buffer, size_t count)
{
    int64_t got = 0;

    if (bytes->keeps && !bytes->ended)
        got = stream_bytes_keep(bytes, offset + count);
    if (got < 0)
        return got;
    if (offset < bytes->filled)
        return copy(bytes->kept + offset, bytes->filled - offset, buffer,
                    count);
    if (offset >= bytes->tail_at && offset < tail_end(bytes))
        return copy(bytes->tail + (offset - bytes->tail_at),
                    tail_end(bytes) - offset, buffer, count);
    if (bytes->last && offset < bytes->taken &&
        bytes->taken - offset <= STREAM_TAIL)
        return copy_last(bytes, offset, buffer, count);
    if (offset < bytes->taken)
        return refuse(bytes, "these bytes of the pipe have passed, and would "
                             "be read again: save it to a file first");
    got = pass_up_to(bytes, offset);
    return got < 0 ? got : take_passing(bytes, buffer, count);
}

int64_t stream_bytes_read(void *user, uint64_t offset, void *buffer,
                          size_t count)
{
    struct stream_bytes *bytes = user;
    int64_t got = read_any(bytes, offset, buffer, count);

    /* The library counts these; less what was taken, which may be more. */
    bytes->run->read_again += got > 0 ? (uint64_t)got : 0;
    return got;
}

bool stream_bytes_keep_tail(struct stream_bytes *bytes, uint64_t at)
{
    bytes->tail = mf_env_resize(bytes->run->env, NULL, 0, STREAM_TAIL);
    bytes->last = mf_env_resize(bytes->run->env, NULL, 0, STREAM_TAIL);
    bytes->tail_at = at;
    if (bytes->tail && at < bytes->filled)
        add_to_tail(bytes, bytes->kept, bytes->filled);
    return bytes->tail && bytes->last;
}

int64_t stream_bytes_pass_all(struct stream_bytes *bytes)
{
    return pass_up_to(bytes, UINT64_MAX);
}

void stream_bytes_release(struct stream_bytes *bytes)
{
    struct mf_env *env = bytes->run->env;

    if (bytes->kept)
        mf_env_resize(env, bytes->kept, bytes->room, 0);
    if (bytes->tail)
        mf_env_resize(env, bytes->tail, STREAM_TAIL, 0);
    if (bytes->last)
        mf_env_resize(env, bytes->last, STREAM_TAIL, 0);
    bytes->kept = bytes->tail = bytes->last = NULL;
    bytes->room = bytes->filled = 0;
}
