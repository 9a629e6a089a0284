/* SPDX-License-Identifier: MIT
 *
 * windows.h - bytes of remote files that were fetched, and what to fetch next
 *
 * A window is what one request has brought.  The first of a file has 256 KiB,
 * which is the header of most models; reading on past a window's end fetches
 * one twice as large, up to 8 MiB.  Whatever is longest unused goes first.
 */
#ifndef MF_CLI_REMOTE_WINDOWS_H
#define MF_CLI_REMOTE_WINDOWS_H

#include "cli/remote/fetch.h"

#define WINDOW_FIRST ((uint64_t)256 * 1024)
#define WINDOW_MOST  ((uint64_t)8 * 1024 * 1024)
#define WINDOW_COUNT 32

/* Of all windows together. */
#define WINDOWS_MOST ((uint64_t)32 * 1024 * 1024)

struct window {
    const struct remote_file *file; /* NULL: not in use */
    uint8_t *bytes;
    size_t room, size;
    uint64_t offset;
    uint64_t asked; /* as many bytes were asked for */
    uint64_t used;  /* when */
};

struct windows {
    struct fetcher *fetcher;
    struct window window[WINDOW_COUNT];
    uint64_t held, clock;
};

/* Finds out about a file, with its first bytes.  0, or a number of errno. */
int windows_open(struct windows *windows, struct remote_file *file);

/* Bytes at offset, which is in the file; at least one.  They stay until the
 * next call.  0, or a number of errno. */
int windows_read(struct windows *windows, struct remote_file *file,
                 uint64_t offset, const uint8_t **out, size_t *count);

#endif
