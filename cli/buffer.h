/* SPDX-License-Identifier: MIT
 *
 * buffer.h - text that grows on the env's heap
 */
#ifndef MF_CLI_BUFFER_H
#define MF_CLI_BUFFER_H

#include "cli/cli.h"

struct buffer {
    char *at; /* not terminated */
    size_t size, room;
};

/* False after an error of the env. */
bool buffer_add(struct run *run, struct buffer *buffer, const char *at,
                size_t size);
void buffer_release(struct run *run, struct buffer *buffer);

#endif
