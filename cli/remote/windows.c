/* SPDX-License-Identifier: MIT
 *
 * windows.c - bytes of remote files that were fetched, and what to fetch next
 */
#include "cli/remote/windows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Between expected bytes as many are fetched with them. */
#define GAP_MOST ((uint64_t)64 * 1024)

static uint64_t less(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

__attribute__((format(printf, 3, 4))) static int
fail(struct windows *windows, int reason, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(windows->why, sizeof(windows->why), format, arguments);
    va_end(arguments);
    return reason;
}

static int no_memory(struct windows *windows)
{
    return fail(windows, ENOMEM, "the network's process has no memory");
}

/* ---- room ---- */

static void end_fetch(struct window *window)
{
    if (window->fetch)
        fetch_end(window->fetch);
    window->fetch = NULL;
    window->limit = window->end;
}

static void release(struct windows *windows, struct window *window)
{
    end_fetch(window);
    if (window->bytes)
        mf_env_resize(windows->fetcher->env, window->bytes, window->room, 0);
    windows->held -= window->room;
    *window = (struct window){ 0 };
}

/* After so many reads elsewhere, nobody reads the rest of a block. */
#define FORGOTTEN 256

/* What may go to make room for another one. */
enum going {
    GOES_READ,    /* what was read, and has all it will have */
    GOES_FETCHED, /* what has a fetch */
    GOES_ANY
};

static bool may_go(const struct window *window, enum going going,
                   uint64_t clock)
{
    if (!window->file)
        return false;
    if (going == GOES_READ)
        return !window->fresh && !window->fetch &&
               (!window->block ||
                window->read >= window->end - window->start ||
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
            may_go(window, going, windows->clock) && (!found || window->used < found->used))
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
        release(windows, found);
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
    release(windows, found);
    return bytes;
}

/* A block of memory, for which others go. */
static uint8_t *make_room(struct windows *windows, size_t room,
                          enum going going, const struct window *keep)
{
    struct mf_env *env = windows->fetcher->env;
    uint8_t *bytes = NULL;

    while (!bytes && windows->held > 0 &&
           windows->held + room > windows->most) {
        bytes = take_over(windows, room, going, keep);
        if (!bytes && !let_go(windows, going, keep))
            return NULL;
    }
    if (!bytes)
        bytes = mf_env_resize(env, NULL, 0, room);
    while (!bytes && let_go(windows, going, keep))
        bytes = mf_env_resize(env, NULL, 0, room);
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

static size_t place_of(const struct window *window, uint64_t offset)
{
    return (size_t)((offset - window->base) % window->room);
}

/* Bytes from there on that are in one piece. */
static size_t piece_at(const struct window *window, uint64_t offset,
                       uint64_t size)
{
    return (size_t)less(size, window->room - place_of(window, offset));
}

static bool take(void *user, const uint8_t *bytes, size_t size)
{
    struct window *window = user;

    if (size > window->room - (size_t)(window->end - window->start))
        return false;
    while (size > 0) {
        size_t some = piece_at(window, window->end, size);

        memcpy(window->bytes + place_of(window, window->end), bytes, some);
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
        some = piece_at(window, at, window->end - at);
        memcpy(bytes + (at - window->start),
               window->bytes + place_of(window, at), some);
    }
    mf_env_resize(windows->fetcher->env, window->bytes, window->room, 0);
    windows->held -= window->room;
    window->bytes = bytes;
    window->room = room;
    window->base = window->start;
    return true;
}

/* Makes room for more of a stream: what was fetched first goes, once the ring
 * is as large as it may be. */
static void go_on(struct windows *windows, struct window *window)
{
    bool whole = !window->file->ranges && !windows->whole;
    uint64_t most = whole ? WINDOW_WHOLE : WINDOW_MOST;
    uint64_t room = less(2 * (uint64_t)window->room, most);

    room = less(room, window->limit - window->start);
    if (room <= window->room ||
        !resize(windows, window, (size_t)room, GOES_ANY))
        window->start += (window->end - window->start + 1) / 2;
    fetch_go_on(window->fetch);
}

/* ---- windows ---- */

/* Room that a small file did not need goes. */
static void settle(struct windows *windows, struct window *window)
{
    size_t size = (size_t)(window->end - window->start);

    if (!window->fetch ||
        (window->fetch->state != FETCH_DONE &&
         !(window->shortened && window->end >= window->limit)))
        return;
    end_fetch(window);
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

static void settle_all(struct windows *windows)
{
    for (size_t i = 0; i < WINDOW_COUNT; i++)
        settle(windows, &windows->window[i]);
}

static struct window *begin(struct windows *windows, struct remote_file *file,
                            struct mf_span span, uint64_t room,
                            enum going going)
{
    struct window *window;
    uint8_t *bytes;

    shorten(windows, file, span.offset);
    settle_all(windows);
    while (!has_connection(windows))
        if (going == GOES_READ || !let_go(windows, GOES_FETCHED, NULL))
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

static void wait(struct windows *windows)
{
    if (fetch_work(windows->fetcher, windows->other))
        windows->over();
}

static int failed(struct windows *windows, struct window *window)
{
    const struct fetch *fetch = window->fetch;
    int reason = fetch ? fetch->reason : EIO;

    fail(windows, reason, "%s",
         fetch ? fetch->why : "the server's answer ended early");
    release(windows, window);
    return reason;
}

static bool is_failed(const struct window *window)
{
    return !window->fetch || window->fetch->state == FETCH_FAILED;
}

int windows_open(struct windows *windows, struct remote_file *file,
                 uint64_t first)
{
    struct mf_span span = { 0, first };
    struct window *window = begin(windows, file, span, first, GOES_ANY);

    if (!window)
        return no_memory(windows);
    while (!file->known || file->size == FETCH_ENDLESS) {
        if (is_failed(window))
            return failed(windows, window);
        if (fetch_is_full(window->fetch)) {
            release(windows, window);
            return fail(windows, EIO,
                        "the server sends no ranges, and not the file's size");
        }
        if (window->fetch->state == FETCH_DONE)
            break;
        wait(windows);
    }
    window->limit = file->ranges ? less(first, file->size) : file->size;
    settle(windows, window);
    return 0;
}

/* ---- which bytes ---- */

/* Whether the window has the byte, or will, without much in between: other
 * threads may read that. */
static bool has(const struct window *window, uint64_t offset)
{
    if (offset < window->start || offset >= window->limit)
        return false;
    return offset < window->end || !window->file->ranges ||
           window->limit - window->start <= window->room ||
           offset - window->end <= window->room / 2;
}

static struct window *find(struct windows *windows,
                           const struct remote_file *file, uint64_t offset)
{
    for (size_t i = 0; i < WINDOW_COUNT; i++)
        if (windows->window[i].file == file &&
            has(&windows->window[i], offset))
            return &windows->window[i];
    return NULL;
}

/* Where the next window of the file begins, or the file ends. */
static uint64_t next_after(const struct windows *windows,
                           const struct remote_file *file, uint64_t offset)
{
    uint64_t next = file->size;

    for (size_t i = 0; i < WINDOW_COUNT; i++)
        if (windows->window[i].file == file &&
            windows->window[i].start > offset)
            next = less(next, windows->window[i].start);
    return next;
}

/* A stream that is read no more. */
static void end_streams(struct windows *windows, const struct remote_file *file)
{
    for (size_t i = 0; i < WINDOW_COUNT; i++) {
        struct window *window = &windows->window[i];

        if (window->file == file && window->fetch &&
            window->limit - window->start > window->room)
            end_fetch(window);
    }
}

/* ---- what is expected ---- */

void windows_expect(struct windows *windows, struct remote_file *file,
                    uint64_t offset, uint64_t size)
{
    size_t count = windows->expected_count;
    struct expected *last = &windows->expected[count > 0 ? count - 1 : 0];

    if (size > file->size || offset > file->size - size)
        return;
    if (count > 0 && last->file == file && offset >= last->start &&
        (offset <= last->end || offset - last->end <= GAP_MOST)) {
        if (offset + size > last->end)
            last->end = offset + size;
        return;
    }
    if (count == EXPECTED_COUNT)
        return; /* it is fetched when it is asked for */
    windows->expected[count] =
        (struct expected){ file, offset, offset + size };
    windows->expected_count = count + 1;
}

/* The expected bytes that have the one at offset; those before are done.  NULL:
 * it was not expected. */
static struct expected *expected_at(struct windows *windows,
                                    const struct remote_file *file,
                                    uint64_t offset)
{
    for (size_t i = 0; i < windows->expected_count; i++) {
        struct expected *expected = &windows->expected[i];

        if (expected->file != file || offset < expected->start ||
            offset >= expected->end)
            continue;
        windows->expected_count -= i;
        memmove(windows->expected, expected,
                windows->expected_count * sizeof(*expected));
        return windows->expected;
    }
    return NULL;
}

/* One that begins the file is its header, which is one request. */
static bool is_data(const struct expected *expected)
{
    return expected && expected->start > 0;
}

static size_t count_ahead(const struct windows *windows)
{
    size_t count = 0;

    for (size_t i = 0; i < WINDOW_COUNT; i++)
        count += windows->window[i].fresh;
    return count;
}

/* A block of expected bytes at offset. */
static struct window *begin_block(struct windows *windows,
                                  const struct expected *expected,
                                  uint64_t offset, enum going going)
{
    uint64_t next = next_after(windows, expected->file, offset);
    uint64_t size = less(expected->end - offset, windows->block);
    struct mf_span span = { offset, less(size < WINDOW_FIRST ? WINDOW_FIRST
                                                             : size,
                                         next - offset) };
    struct window *window =
        begin(windows, expected->file, span, span.size, going);

    if (window)
        window->block = true;
    return window;
}

/* Fetches what will be read after the window, as far as there is room. */
static void fetch_ahead(struct windows *windows, uint64_t offset)
{
    const struct expected *expected = windows->expected;
    const struct expected *end = expected + windows->expected_count;

    while (expected < end && expected->file->ranges &&
           count_ahead(windows) < WINDOW_AHEAD) {
        struct window *window = find(windows, expected->file, offset);

        if (window) {
            offset = window->limit;
        } else {
            window = begin_block(windows, expected, offset, GOES_READ);
            if (!window)
                return;
            window->fresh = true;
        }
        if (offset >= expected->end && ++expected < end)
            offset = expected->start;
    }
}

/* ---- fetching what is asked for ---- */

/* All from the beginning, of a server that sends nothing else. */
static struct window *begin_whole(struct windows *windows,
                                  struct remote_file *file)
{
    struct mf_span span = { 0, file->size };

    for (size_t i = 0; i < WINDOW_COUNT; i++)
        if (windows->window[i].file == file)
            release(windows, &windows->window[i]);
    return begin(windows, file, span, less(WINDOW_FIRST, file->size),
                 GOES_ANY);
}

static struct window *begin_at(struct windows *windows,
                               struct remote_file *file, uint64_t offset)
{
    const struct expected *expected = expected_at(windows, file, offset);
    const struct window *last =
        offset > 0 ? find(windows, file, offset - 1) : NULL;
    struct mf_span span = { offset, next_after(windows, file, offset) - offset };
    uint64_t room = last ? 2 * (uint64_t)last->room : WINDOW_FIRST;

    if (is_data(expected))
        return begin_block(windows, expected, offset, GOES_ANY);
    if (expected) {
        span.size = less(span.size, expected->end - offset);
        room = span.size;
    } else if (!last || last->block) {
        room = WINDOW_FIRST;
        span.size = less(span.size, WINDOW_FIRST);
    }
    room = less(less(room, WINDOW_MOST), span.size);
    return begin(windows, file, span, room, GOES_ANY);
}

/* NULL, or why a server without ranges is not read there. */
static const char *refused(const struct windows *windows,
                           const struct remote_file *file, uint64_t offset)
{
    if (file->ranges || offset < WINDOW_WHOLE)
        return NULL;
    return windows->whole
               ? "the server sends no ranges, so that the file can be read in "
                 "order only, and this is before what was read: download it"
               : "the server sends no ranges, and so of a file its first 16 "
                 "MiB only";
}

static int find_or_begin(struct windows *windows, struct remote_file *file,
                         uint64_t offset, struct window **out)
{
    const char *why;

    if (file->ranges && is_data(expected_at(windows, file, offset)))
        end_streams(windows, file);
    *out = find(windows, file, offset);
    why = refused(windows, file, offset);
    if (why && !(*out && (windows->whole || offset < (*out)->end)))
        return fail(windows, EIO, "%s", why);
    if (!*out)
        *out = file->ranges ? begin_at(windows, file, offset)
                            : begin_whole(windows, file);
    return *out ? 0 : no_memory(windows);
}

static int wait_for(struct windows *windows, struct window *window,
                    uint64_t offset)
{
    while (offset >= window->end) {
        if (is_failed(window))
            return failed(windows, window);
        if (fetch_is_full(window->fetch))
            go_on(windows, window);
        else
            wait(windows);
    }
    return 0;
}

/* A long stream goes on before all of it is read. */
static bool is_nearly_read(const struct window *window, uint64_t offset)
{
    return window->fetch && window->room >= WINDOW_MOST / 2 && fetch_is_full(window->fetch) &&
           window->end - offset < window->room / 4;
}

int windows_read(struct windows *windows, struct remote_file *file,
                 uint64_t offset, const uint8_t **out, size_t *count)
{
    struct window *window;
    int reason;

    windows->reading = NULL;
    reason = find_or_begin(windows, file, offset, &window);
    if (reason != 0)
        return reason;
    windows->reading = window;
    window->used = ++windows->clock;
    window->fresh = false;
    if (file->ranges && is_data(expected_at(windows, file, offset)))
        fetch_ahead(windows, window->limit);
    reason = wait_for(windows, window, offset);
    if (reason != 0)
        return reason;
    if (is_nearly_read(window, offset))
        go_on(windows, window);
    settle(windows, window);
    *out = window->bytes + place_of(window, offset);
    *count = piece_at(window, offset, less(window->end - offset, *count));
    window->read += *count;
    return 0;
}

void windows_end(struct windows *windows)
{
    for (size_t i = 0; i < WINDOW_COUNT; i++)
        end_fetch(&windows->window[i]);
}
