/* SPDX-License-Identifier: MIT
 *
 * windows.c - bytes of remote files that were fetched, and what to fetch next
 */
#include "cli/remote/window.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What is fetched of a shard at first, and what more than the header of the
 * one before had. */
#define SHARD_LEAST ((uint64_t)64 * 1024)
#define SHARD_MORE  ((uint64_t)48 * 1024)

#define SAFETENSORS ".safetensors"

/* Between expected bytes as many are fetched with them. */
#define GAP_MOST ((uint64_t)64 * 1024)

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

static int failed(struct windows *windows, struct window *window)
{
    const struct fetch *fetch = window->fetch;
    bool is_fetch = fetch && fetch->state == FETCH_FAILED;
    int reason = is_fetch ? fetch->reason : EIO;

    fail(windows, reason, "%s",
         is_fetch ? fetch->why : "the server's answer has another length");
    window_release(windows, window);
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
    struct window *window = window_begin(windows, file, span, first, GOES_ANY);

    if (!window)
        return no_memory(windows);
    while (!file->known || file->size == FETCH_ENDLESS) {
        if (is_failed(window))
            return failed(windows, window);
        if (fetch_is_full(window->fetch)) {
            window_release(windows, window);
            return fail(windows, EIO,
                        "the server sends no ranges, and not the file's size");
        }
        if (window->fetch->state == FETCH_DONE)
            break;
        fetch_wait(windows->fetcher);
    }
    window->limit = file->ranges ? window_less(first, file->size) : file->size;
    window_finish(windows, window);
    return 0;
}

/* ---- how much ---- */

static bool ends_with(const char *url, const char *suffix)
{
    size_t size = strlen(suffix), all = strlen(url);

    return all > size && strcmp(url + all - size, suffix) == 0;
}

/* How much to fetch of a new file: of a shard what the header of the shard
 * before had, and some more, so that it takes one request. */
uint64_t windows_first(const struct windows *windows, const char *url,
                       bool named)
{
    uint64_t header = windows->header;

    if (named || !(ends_with(url, ".gguf") || ends_with(url, SAFETENSORS)))
        return WINDOW_FIRST;
    if (header <= SHARD_LEAST - SHARD_MORE || !ends_with(url, SAFETENSORS))
        return SHARD_LEAST;
    return header < WINDOW_MOST - SHARD_MORE ? header + SHARD_MORE
                                             : WINDOW_MOST;
}

/* Each thread reads a block of its own; 0: one for each processor. */
uint64_t windows_block(uint64_t threads)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t block = WINDOW_BLOCK;

    if (threads == 0)
        threads = processors > 0 ? (uint64_t)processors : 1;
    while (block > WINDOW_FIRST && block > WINDOW_BLOCKS / threads)
        block /= 2;
    return block;
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
        if (windows->window[i].file == file && has(&windows->window[i], offset))
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
            next = window_less(next, windows->window[i].start);
    return next;
}

/* A stream that is read no more. */
static void end_streams(struct windows *windows, const struct remote_file *file)
{
    for (size_t i = 0; i < WINDOW_COUNT; i++) {
        struct window *window = &windows->window[i];

        if (window->file == file && window->fetch &&
            window->limit - window->start > window->room)
            window_end_fetch(window);
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
    if (offset == 0 && ends_with(file->url, SAFETENSORS))
        windows->header = size;
    if (count > 0 && last->file == file && offset >= last->start &&
        (offset <= last->end || offset - last->end <= GAP_MOST)) {
        if (offset + size > last->end)
            last->end = offset + size;
        return;
    }
    if (count == EXPECTED_COUNT)
        return; /* it is fetched when it is asked for */
    windows->expected[count] = (struct expected){ file, offset, offset + size };
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
    uint64_t size = window_less(expected->end - offset, windows->block);
    struct mf_span span = {
        offset,
        window_less(size < WINDOW_FIRST ? WINDOW_FIRST : size, next - offset)
    };
    struct window *window =
        window_begin(windows, expected->file, span, span.size, going);

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
            window_release(windows, &windows->window[i]);
    return window_begin(windows, file, span,
                        window_less(WINDOW_FIRST, file->size), GOES_ANY);
}

static struct window *begin_at(struct windows *windows,
                               struct remote_file *file, uint64_t offset)
{
    const struct expected *expected = expected_at(windows, file, offset);
    const struct window *last =
        offset > 0 ? find(windows, file, offset - 1) : NULL;
    struct mf_span span = { offset,
                            next_after(windows, file, offset) - offset };
    uint64_t room = last ? 2 * (uint64_t)last->room : WINDOW_FIRST;

    if (is_data(expected))
        return begin_block(windows, expected, offset, GOES_ANY);
    if (expected) {
        span.size = window_less(span.size, expected->end - offset);
        room = span.size;
    } else if (!last || last->block) {
        room = WINDOW_FIRST;
        span.size = window_less(span.size, WINDOW_FIRST);
    }
    room = window_less(window_less(room, WINDOW_MOST), span.size);
    return window_begin(windows, file, span, room, GOES_ANY);
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
    if (why && !(*out && windows->whole))
        return fail(windows, EIO, "%s", why);
    if (!*out)
        *out = file->ranges ? begin_at(windows, file, offset)
                            : begin_whole(windows, file);
    return *out ? 0 : no_memory(windows);
}

/* False if there is no room for what has come, although the window is empty:
 * it is more than the file had. */
static bool makes_room(struct windows *windows, struct window *window)
{
    bool empty = window->end == window->start;
    size_t room = window->room;

    window_go_on(windows, window);
    return !empty || window->room > room || window->end > window->start ||
           !fetch_is_full(window->fetch);
}

static int wait_for(struct windows *windows, struct window *window,
                    uint64_t offset)
{
    while (offset >= window->end) {
        if (is_failed(window) || window->fetch->state == FETCH_DONE)
            return failed(windows, window);
        if (!fetch_is_full(window->fetch))
            fetch_wait(windows->fetcher);
        else if (!makes_room(windows, window))
            return failed(windows, window);
    }
    return 0;
}

/* A long stream goes on before all of it is read. */
static bool is_nearly_read(const struct window *window, uint64_t offset)
{
    return window->fetch && window->room >= WINDOW_MOST / 2 &&
           fetch_is_full(window->fetch) &&
           window->end - offset < window->room / 4;
}

void windows_used(struct windows *windows, uint64_t used)
{
    if (windows->reading)
        windows->reading->read += used;
    windows->reading = NULL;
}

int windows_read(struct windows *windows, struct remote_file *file,
                 uint64_t offset, const uint8_t **out, size_t *count)
{
    struct window *window;
    uint64_t most;
    int reason;

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
        window_go_on(windows, window);
    window_finish(windows, window);
    most = window->end - offset;
    /* Of a stream no more, or what one thread has not read yet could go when
     * another reads on. */
    if (!window->block || shelf_find(windows->shelf, window->bytes) == 0)
        most = window_less(most, *count);
    *out = window->bytes + window_place(window, offset);
    *count = window_piece(window, offset, most);
    return 0;
}

void windows_end(struct windows *windows)
{
    for (size_t i = 0; i < WINDOW_COUNT; i++)
        window_end_fetch(&windows->window[i]);
}
