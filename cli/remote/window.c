/* SPDX-License-Identifier: MIT
 *
 * window.c - the memory of windows: rings, and what goes to make room
 */
#include "cli/remote/window.h"

#include <string.h>

/* ---- room ---- */

void window_end_fetch(struct window *window)
{
    if (window->fetch)
        fetch_end(window->fetch);
    window->fetch = NULL;
    window->limit = window->end;
}

static uint8_t *take_memory(struct windows *windows, size_t room)
{
    uint8_t *bytes = shelf_take(windows->shelf, room);

    return bytes ? bytes : mf_env_resize(windows->fetcher->env, NULL, 0, room);
}

static void give_memory(struct windows *windows, uint8_t *bytes, size_t room)
{
    if (bytes && !shelf_give_back(windows->shelf, bytes))
        mf_env_resize(windows->fetcher->env, bytes, room, 0);
}

void window_release(struct windows *windows, struct window *window)
{
    window_end_fetch(window);
    give_memory(windows, window->bytes, window->room);
    windows->held -= window->room;
    *window = (struct window){ 0 };
}

/* After so many reads elsewhere, the rest of a block is not expected. */
#define FORGOTTEN 256

static bool may_go(const struct window *window, enum going going,
                   uint64_t clock)
{
    if (!window->file)
        return false;
    if (going == GOES_READ)
        return !window->fresh && !window->fetch &&
               (!window->block || window->read >= window->end - window->start ||
                clock - window->used > FORGOTTEN);
    return going == GOES_ANY || window->fetch;
}

/* The one that is longest unused, but not `keep`; NULL if there is none. */
static struct window *oldest(struct windows *windows, enum going going,
                             const struct window *keep)
{
    struct window *found = NULL;

    for (size_t i = 0; i < WINDOW_COUNT; i++) {
        struct window *window = &windows->window[i];

        if (window != keep && window != windows->reading &&
            may_go(window, going, windows->clock) &&
            (!found || window->used < found->used))
            found = window;
    }
    return found;
}

/* It goes; false if there is none. */
static bool let_go(struct windows *windows, enum going going,
                   const struct window *keep)
{
    struct window *found = oldest(windows, going, keep);

    if (found)
        window_release(windows, found);
    return found != NULL;
}

/* The memory of a window of that size, which goes: a new block of the system's
 * would be filled with zeros first. */
static uint8_t *take_over(struct windows *windows, size_t room,
                          enum going going, const struct window *keep)
{
    struct window *found = oldest(windows, going, keep);
    uint8_t *bytes = NULL;

    if (!found || found->room != room)
        return NULL;
    bytes = found->bytes;
    found->bytes = NULL;
    windows->held -= room;
    found->room = 0;
    window_release(windows, found);
    return bytes;
}

/* A block of memory, for which others go. */
static uint8_t *make_room(struct windows *windows, size_t room,
                          enum going going, const struct window *keep)
{
    uint8_t *bytes = NULL;

    while (!bytes && windows->held > 0 &&
           windows->held + room > windows->most) {
        bytes = take_over(windows, room, going, keep);
        if (!bytes && !let_go(windows, going, keep))
            return NULL;
    }
    if (!bytes)
        bytes = take_memory(windows, room);
    while (!bytes && let_go(windows, going, keep))
        bytes = take_memory(windows, room);
    if (bytes)
        windows->held += room;
    return bytes;
}

static struct window *unused(struct windows *windows)
{
    for (size_t i = 0; i < WINDOW_COUNT; i++)
        if (!windows->window[i].file)
            return &windows->window[i];
    return NULL;
}

static bool has_connection(const struct windows *windows)
{
    size_t count = 0;

    for (size_t i = 0; i < WINDOW_COUNT; i++)
        count += windows->window[i].fetch != NULL;
    return count < CURL_CONNECTIONS;
}

/* ---- the ring ---- */

size_t window_place(const struct window *window, uint64_t offset)
{
    return (size_t)((offset - window->base) % window->room);
}

/* Bytes from there on that are in one piece. */
size_t window_piece(const struct window *window, uint64_t offset, uint64_t size)
{
    return (size_t)window_less(size,
                               window->room - window_place(window, offset));
}

static bool take(void *user, const uint8_t *bytes, size_t size)
{
    struct window *window = user;

    if (size > window->room - (size_t)(window->end - window->start))
        return false;
    while (size > 0) {
        size_t some = window_piece(window, window->end, size);

        memcpy(window->bytes + window_place(window, window->end), bytes, some);
        window->end += some;
        bytes += some;
        size -= some;
    }
    return true;
}

/* Gives the ring other room, which its bytes fit into. */
static bool resize(struct windows *windows, struct window *window, size_t room,
                   enum going going)
{
    uint8_t *bytes = make_room(windows, room, going, window);
    uint64_t at = window->start;

    if (!bytes)
        return false;
    for (size_t some; at < window->end; at += some) {
        some = window_piece(window, at, window->end - at);
        memcpy(bytes + (at - window->start),
               window->bytes + window_place(window, at), some);
    }
    give_memory(windows, window->bytes, window->room);
    windows->held -= window->room;
    window->bytes = bytes;
    window->room = room;
    window->base = window->start;
    return true;
}

/* Makes room for more of a stream: what was fetched first goes, once the ring
 * is as large as it may be. */
void window_go_on(struct windows *windows, struct window *window)
{
    bool whole = !window->file->ranges && !windows->whole;
    uint64_t most = whole ? WINDOW_WHOLE : WINDOW_MOST;
    uint64_t room = window_less(2 * (uint64_t)window->room, most);

    room = window_less(room, window->limit - window->start);
    if (room <= window->room ||
        !resize(windows, window, (size_t)room, GOES_ANY))
        window->start += (window->end - window->start + 1) / 2;
    fetch_go_on(window->fetch);
}

/* ---- windows ---- */

/* Room that a small file did not need goes. */
void window_finish(struct windows *windows, struct window *window)
{
    size_t size = (size_t)(window->end - window->start);

    if (!window->fetch ||
        (window->fetch->state != FETCH_DONE &&
         !(window->shortened && window->end >= window->limit)))
        return;
    window_end_fetch(window);
    if (size > 0 && size < window->room / 2)
        resize(windows, window, size, GOES_READ);
}

/* A stream ends where another window begins. */
static void shorten(struct windows *windows, const struct remote_file *file,
                    uint64_t offset)
{
    for (size_t i = 0; i < WINDOW_COUNT; i++) {
        struct window *window = &windows->window[i];

        if (window->file == file && window->fetch && offset >= window->end &&
            offset < window->limit) {
            window->limit = offset;
            window->shortened = true;
        }
    }
}

static void finish_all(struct windows *windows)
{
    for (size_t i = 0; i < WINDOW_COUNT; i++)
        window_finish(windows, &windows->window[i]);
}

bool window_free_connection(struct windows *windows, enum going going)
{
    while (!has_connection(windows))
        if (going == GOES_READ || !let_go(windows, GOES_FETCHED, NULL))
            return false;
    return true;
}

struct window *window_begin(struct windows *windows, struct remote_file *file,
                            struct mf_span span, uint64_t room,
                            enum going going)
{
    struct window *window;
    uint8_t *bytes;

    shorten(windows, file, span.offset);
    finish_all(windows);
    if (!window_free_connection(windows, going))
        return NULL;
    while (!unused(windows))
        if (!let_go(windows, going, NULL))
            return NULL;
    bytes = make_room(windows, (size_t)room, going, NULL);
    if (!bytes)
        return NULL;
    window = unused(windows);
    *window = (struct window){ .file = file,
                               .bytes = bytes,
                               .room = (size_t)room,
                               .base = span.offset,
                               .start = span.offset,
                               .end = span.offset,
                               .limit = span.offset + span.size,
                               .used = ++windows->clock };
    window->fetch = fetch_begin(windows->fetcher, file, span, take, window);
    return window;
}
