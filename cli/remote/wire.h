/* SPDX-License-Identifier: MIT
 *
 * wire.h - what the parser and the helper write to each other
 *
 * Both are processes of one program, so records go as they are in memory.
 * Neither trusts the other: sizes are checked on both sides.
 */
#ifndef MF_CLI_REMOTE_WIRE_H
#define MF_CLI_REMOTE_WIRE_H

#include "cli/remote/remote.h"

enum wire_op {
    WIRE_OPEN,   /* file: which of the command line's URLs */
    WIRE_BESIDE, /* file: a number of WIRE_OPEN; a name follows */
    WIRE_READ,   /* file: a number of either */
    WIRE_EXPECT, /* likewise: these bytes will be read; has no answer */
    WIRE_COST,   /* nothing more will be read: what has it cost? */

    /* Of the Hub; file: which of the command line's repositories, and a name
     * follows.  What the first two and WIRE_NEXT open is there as a whole. */
    WIRE_COMMIT, /* of a revision */
    WIRE_LIST,   /* of the files of a commit */
    WIRE_FILE,   /* "COMMIT/PATH" */
    WIRE_NEXT    /* file: a number of WIRE_LIST or this: the next page */
};

#define WIRE_NAME_MAX 4096
#define WIRE_TEXT_MAX 512
#define WIRE_READ_MAX ((uint32_t)1024 * 1024)

struct wire_ask {
    uint32_t op, file;
    uint64_t offset, size; /* of the bytes, or of the name */
    uint64_t used;         /* bytes that the last answer had, and were read */
};

struct wire_answer {
    int32_t reason; /* errno; 0: it has worked */
    uint32_t file;  /* the number of what was opened */
    uint64_t size;  /* of the bytes that follow, or of the text that says why
                     */
    uint64_t found; /* where the bytes are on the shelf, counted from 1; 0: they
                     * follow.  These can be more than was asked for, and stay
                     * there until the next question. */
    uint64_t total; /* bytes of the file */
    uint64_t version[2]; /* of it: see struct mf_byte_source */
    struct remote_cost cost;
};

/* false, with errno set, where the other process has ended, or is_stopped says
 * so after a signal; NULL: signals change nothing. */
bool wire_read(int fd, void *bytes, size_t size, bool (*is_stopped)(void));
bool wire_write(int fd, const void *bytes, size_t size,
                bool (*is_stopped)(void));

#endif
