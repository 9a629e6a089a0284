/* SPDX-License-Identifier: MIT
 *
 * windows.h - bytes of remote files that were fetched, and what to fetch next
 *
 * A window is what one fetch has brought so far.  What is fetched fits how the
 * file is read:
 *
 * - Opening a file fetches 256 KiB, which is the header of most models.
 * - Reading on past the end of a window opens a stream: one request for all of
 *   the rest, of which as much is taken as the reader has asked for, and half a
 *   window more.  It is cut where the reader goes elsewhere.
 * - What the parser expects to read (WIRE_EXPECT) comes in blocks, several at a
 *   time, before it is asked for.  One that was read in part stays, as another
 *   thread may read the rest.  A header that is expected is one request.
 *
 * Whatever is longest unused goes first.
 */
#ifndef MF_CLI_REMOTE_WINDOWS_H
#define MF_CLI_REMOTE_WINDOWS_H

#include "cli/remote/fetch.h"
#include "cli/remote/shelf.h"

#define WINDOW_FIRST ((uint64_t)256 * 1024)
#define WINDOW_COUNT 256

/* Of expected bytes, divided by the number of threads, as each reads a block of
 * its own; and so many at a time, in connections of their own. */
#define WINDOW_BLOCKS ((uint64_t)4 * 1024 * 1024)
#define WINDOW_BLOCK  ((uint64_t)2 * 1024 * 1024)
#define WINDOW_AHEAD  4

/* Of all windows together, and of one.  A command that writes has buffers of
 * its own, and both processes have 16 MiB then. */
#define WINDOWS_MOST         ((uint64_t)32 * 1024 * 1024)
#define WINDOWS_MOST_WRITING ((uint64_t)10 * 1024 * 1024)
#define WINDOW_MOST          ((uint64_t)8 * 1024 * 1024)

/* The most that is read of a server that sends whole files only, unless all of
 * it may be read (--whole). */
#define WINDOW_WHOLE ((uint64_t)16 * 1024 * 1024)

struct window {
    struct remote_file *file; /* NULL: not in use */
    struct fetch *fetch;      /* NULL: it has all it will have */
    uint8_t *bytes;           /* a ring */
    size_t room;
    uint64_t base;       /* offset of the ring's first byte */
    uint64_t start, end; /* offsets of what is there */
    uint64_t limit;      /* where it will end */
    bool shortened;      /* its fetch would not end there */
    uint64_t used;       /* when */
    uint64_t read;       /* bytes that were asked for */
    bool block;          /* of expected bytes */
    bool fresh;          /* fetched ahead, and not read so far */
};

/* Bytes that will be read. */
struct expected {
    struct remote_file *file;
    uint64_t start, end;
};

#define EXPECTED_COUNT 4096

struct windows {
    struct fetcher *fetcher;
    struct shelf *shelf; /* for blocks */
    uint64_t most;       /* bytes of all windows */
    uint64_t block;      /* bytes of one of expected bytes */
    bool whole;          /* --whole */
    struct window window[WINDOW_COUNT];
    struct window *reading; /* stays, as it is read; may be NULL */
    uint64_t held, clock;
    struct expected expected[EXPECTED_COUNT]; /* in order */
    size_t expected_count;
    uint64_t header;         /* bytes of the last one that was expected */
    char why[WIRE_TEXT_MAX]; /* after an error */
};

/* How much to fetch at first of a file, which the command line names or not;
 * and what a block is, for so many threads. */
uint64_t windows_first(const struct windows *windows, const char *url,
                       bool named);
uint64_t windows_block(uint64_t threads);

/* Finds out about a file, with its first bytes.  0, or a number of errno. */
int windows_open(struct windows *windows, struct remote_file *file,
                 uint64_t first);

void windows_expect(struct windows *windows, struct remote_file *file,
                    uint64_t offset, uint64_t size);

/* *count bytes at offset, which is in the file, or fewer, or more of a block on
 * the shelf.  They stay until the next windows_used.  0, or a number of errno.
 */
int windows_read(struct windows *windows, struct remote_file *file,
                 uint64_t offset, const uint8_t **out, size_t *count);

/* How many of the bytes that were read last are not needed any more. */
void windows_used(struct windows *windows, uint64_t used);

/* Nothing more will be read: ends all requests. */
void windows_end(struct windows *windows);

#endif
