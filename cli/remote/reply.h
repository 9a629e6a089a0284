/* SPDX-License-Identifier: MIT
 *
 * reply.h - the header of a server's answer, line by line
 *
 * Only what decides about a range of bytes is kept.  Duplicate lines, invalid
 * numbers and a header that does not end are refused.
 */
#ifndef MF_CLI_REMOTE_REPLY_H
#define MF_CLI_REMOTE_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of all headers of one request together, with proxies and status 1xx. */
#define REPLY_HEADER_MAX ((size_t)64 * 1024)

struct reply {
    unsigned status;
    bool complete; /* the blank line after it has come */
    bool has_range, has_length;
    bool has_bytes; /* the range has bytes, not only the size of the file */
    uint64_t first, last, total; /* Content-Range */
    uint64_t length;             /* Content-Length */
    bool has_wait;
    uint64_t wait;       /* Retry-After in seconds */
    char wait_until[40]; /* or as a date; "" if there is none */
    char etag[256];      /* "" if there is none */
    char modified[64];   /* Last-Modified; likewise */
    char problem[32];    /* X-Error-Code of the Hub; likewise */
    char next[2048];     /* what Link names as rel="next"; likewise */
    bool next_is_wrong;  /* it cannot be kept */
    size_t header_size;  /* so far */
    const char *wrong;   /* NULL, or what is wrong with it */
};

/* Takes one line, with its line end; false if the answer is wrong. */
bool reply_line(struct reply *reply, const char *line, size_t size);

/* NULL if it has the bytes of a file from first on, or its last ones, up to
 * `last`; else what is wrong. */
const char *reply_range_wrong(const struct reply *reply, uint64_t first,
                              uint64_t last);

#endif
