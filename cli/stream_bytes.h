/* SPDX-License-Identifier: MIT
 *
 * stream_bytes.h - the bytes of a pipe: which are kept, and which have passed
 */
#ifndef MF_CLI_STREAM_BYTES_H
#define MF_CLI_STREAM_BYTES_H

#include "cli/cli.h"

/* What follows the last tensor: padding, and bytes that belong to none. */
#define STREAM_TAIL ((size_t)64 * 1024)

struct stream_bytes {
    struct run *run;
    uint8_t *kept; /* from the first byte on */
    size_t room, filled;
    uint8_t *tail; /* what passes from tail_at on; or NULL */
    uint8_t *last; /* what passed last, a ring by offset; or NULL */
    uint64_t tail_at;
    uint64_t taken;  /* bytes of the pipe so far: the next one's offset */
    bool keeps;      /* what is read; set until the header is complete */
    bool ended;      /* all of them were taken */
    const char *why; /* what a read failed for, more than errno says; or NULL */
};

/* For mf_byte_source: at any place what is kept, else forward only.  user: a
 * struct stream_bytes. */
int64_t stream_bytes_read(void *user, uint64_t offset, void *buffer,
                          size_t count);

/* Takes what there is up to an offset, and keeps it; 0, or a negative number of
 * errno. */
int64_t stream_bytes_keep(struct stream_bytes *bytes, uint64_t end);

/* Keeps the bytes from an offset on, and those that passed last, as far as
 * there is room for them. */
bool stream_bytes_keep_tail(struct stream_bytes *bytes, uint64_t at);

/* Once nothing reads them. */
void stream_bytes_release(struct stream_bytes *bytes);

/* Lets all that is left pass; 0, or a negative number of errno. */
int64_t stream_bytes_pass_all(struct stream_bytes *bytes);

#endif
