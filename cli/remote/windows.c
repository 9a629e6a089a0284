/* SPDX-License-Identifier: MIT
 *
 * windows.c - bytes of remote files that were fetched, and what to fetch next
 */
#include "cli/remote/windows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static void release(struct windows *windows, struct window *window)
{
    if (window->bytes)
        mf_env_resize(windows->fetcher->env, window->bytes, window->room, 0);
    windows->held -= window->room;
    *window = (struct window){ 0 };
}

/* The one that is longest unused; NULL if none is in use. */
static struct window *oldest(struct windows *windows)
{
    struct window *found = NULL;

    for (size_t i = 0; i < WINDOW_COUNT; i++) {
        struct window *window = &windows->window[i];

        if (window->file && (!found || window->used < found->used))
            found = window;
    }
    return found;
}

static struct window *unused(struct windows *windows)
{
    for (size_t i = 0; i < WINDOW_COUNT; i++)
        if (!windows->window[i].file)
            return &windows->window[i];
    return NULL;
}

/* A window with so much room, for which others go; NULL if out of memory. */
static struct window *make(struct windows *windows, size_t room)
{
    struct mf_env *env = windows->fetcher->env;
    struct window *window;
    uint8_t *bytes;

    while (!unused(windows) || windows->held > WINDOWS_MOST - room)
        release(windows, oldest(windows));
    bytes = mf_env_resize(env, NULL, 0, room);
    while (!bytes && oldest(windows)) {
        release(windows, oldest(windows));
        bytes = mf_env_resize(env, NULL, 0, room);
    }
    if (!bytes)
        return NULL;
    window = unused(windows);
    *window = (struct window){ .bytes = bytes, .room = room };
    windows->held += room;
    return window;
}

/* Room that the file did not need. */
static void shrink(struct windows *windows, struct window *window)
{
    uint8_t *bytes = window->size > 0
                         ? mf_env_resize(windows->fetcher->env, window->bytes,
                                         window->room, window->size)
                         : NULL;

    if (!bytes)
        return;
    windows->held -= window->room - window->size;
    window->bytes = bytes;
    window->room = window->size;
}

static int fetch(struct windows *windows, struct remote_file *file,
                 uint64_t offset, uint64_t size, struct window **out)
{
    struct fetcher *fetcher = windows->fetcher;
    struct window *window = make(windows, (size_t)size);
    size_t got = 0;
    int reason;

    if (!window) {
        snprintf(fetcher->why, sizeof(fetcher->why),
                 "the network's process has no memory");
        return ENOMEM;
    }
    reason =
        fetch_block(fetcher, file, offset, window->bytes, window->room, &got);
    if (reason != 0) {
        release(windows, window);
        return reason;
    }
    window->file = file;
    window->offset = offset;
    window->size = got;
    window->asked = size;
    window->used = ++windows->clock;
    if (got < window->room)
        shrink(windows, window);
    *out = window;
    return 0;
}

/* ---- which bytes ---- */

static uint64_t end_of(const struct window *window)
{
    return window->offset + window->size;
}

static struct window *find(struct windows *windows,
                           const struct remote_file *file, uint64_t offset)
{
    for (size_t i = 0; i < WINDOW_COUNT; i++) {
        struct window *window = &windows->window[i];

        if (window->file == file && offset >= window->offset &&
            offset < end_of(window))
            return window;
    }
    return NULL;
}

/* The one that ends at offset; NULL if there is none. */
static struct window *before(struct windows *windows,
                             const struct remote_file *file, uint64_t offset)
{
    return offset > 0 ? find(windows, file, offset - 1) : NULL;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* How many bytes to fetch: not those that another window has. */
static uint64_t size_at(const struct windows *windows,
                        const struct remote_file *file, uint64_t offset,
                        const struct window *last)
{
    uint64_t size = last ? less(2 * last->asked, WINDOW_MOST) : WINDOW_FIRST;
    const struct mf_span *expected = &file->expected;

    if (offset >= expected->offset &&
        offset - expected->offset < expected->size)
        size = less(expected->size - (offset - expected->offset),
                    WINDOWS_MOST / 2);
    for (size_t i = 0; i < WINDOW_COUNT; i++) {
        const struct window *window = &windows->window[i];

        if (window->file == file && window->offset > offset)
            size = less(size, window->offset - offset);
    }
    return less(size, file->size - offset);
}

/* All up to offset, and some more, from the beginning. */
static int fetch_whole(struct windows *windows, struct remote_file *file,
                       uint64_t offset, struct window **out)
{
    struct fetcher *fetcher = windows->fetcher;
    struct window *first = find(windows, file, 0);
    uint64_t size = first ? 2 * first->asked : WINDOW_FIRST;

    if (offset >= FETCH_WHOLE_MAX) {
        snprintf(fetcher->why, sizeof(fetcher->why),
                 "the server sends no ranges, and so of a file its first "
                 "%" PRIu64 " MiB only",
                 FETCH_WHOLE_MAX / 1024 / 1024);
        return EIO;
    }
    while (size <= offset)
        size *= 2;
    if (first)
        release(windows, first);
    return fetch(windows, file, 0,
                 less(less(size, FETCH_WHOLE_MAX), file->size), out);
}

static int fetch_at(struct windows *windows, struct remote_file *file,
                    uint64_t offset, struct window **out)
{
    struct window *last = before(windows, file, offset);
    uint64_t size = size_at(windows, file, offset, last);

    if (!file->ranges)
        return fetch_whole(windows, file, offset, out);
    return fetch(windows, file, offset, size, out);
}

int windows_open(struct windows *windows, struct remote_file *file)
{
    struct window *window;

    return fetch(windows, file, 0, WINDOW_FIRST, &window);
}

int windows_read(struct windows *windows, struct remote_file *file,
                 uint64_t offset, const uint8_t **out, size_t *count)
{
    struct window *window = find(windows, file, offset);
    int reason = window ? 0 : fetch_at(windows, file, offset, &window);

    if (reason != 0)
        return reason;
    window->used = ++windows->clock;
    *out = window->bytes + (offset - window->offset);
    *count = (size_t)(end_of(window) - offset);
    return 0;
}
