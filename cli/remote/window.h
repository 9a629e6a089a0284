/* SPDX-License-Identifier: MIT
 *
 * window.h - the memory of windows: rings, and what goes to make room
 */
#ifndef MF_CLI_REMOTE_WINDOW_H
#define MF_CLI_REMOTE_WINDOW_H

#include "cli/remote/windows.h"

static inline uint64_t window_less(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* What may go to make room for another window. */
enum going {
    GOES_READ,    /* what was read, and has all it will have */
    GOES_FETCHED, /* what has a fetch */
    GOES_ANY
};

/* A window with so much room, which begins to fetch the span; NULL without
 * memory, or a connection, for which no window may go. */
struct window *window_begin(struct windows *windows, struct remote_file *file,
                            struct mf_span span, uint64_t room,
                            enum going going);

/* A connection for one more fetch; false: no window may go for it. */
bool window_free_connection(struct windows *windows, enum going going);

void window_release(struct windows *windows, struct window *window);

/* It stays with what it has. */
void window_end_fetch(struct window *window);

/* After its fetch: room that a small file did not need goes. */
void window_finish(struct windows *windows, struct window *window);

/* Makes room for more of a stream: what was fetched first goes, once the ring
 * is as large as it may be. */
void window_go_on(struct windows *windows, struct window *window);

/* Where in its ring a byte is, and how many of `size` bytes from there on are
 * in one piece. */
size_t window_place(const struct window *window, uint64_t offset);
size_t window_piece(const struct window *window, uint64_t offset,
                    uint64_t size);

#endif
