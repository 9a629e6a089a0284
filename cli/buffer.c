/* SPDX-License-Identifier: MIT
 *
 * buffer.c - text that grows on the env's heap
 */
#include "cli/buffer.h"

#include <string.h>

bool buffer_add(struct run *run, struct buffer *buffer, const char *at,
                size_t size)
{
    size_t room = buffer->room ? buffer->room : 1024;
    char *moved;

    while (room - buffer->size < size)
        room *= 2;
    if (room > buffer->room) {
        moved = mf_env_resize(run->env, buffer->at, buffer->room, room);
        if (!moved)
            return false;
        buffer->at = moved;
        buffer->room = room;
    }
    memcpy(buffer->at + buffer->size, at, size);
    buffer->size += size;
    return true;
}

void buffer_release(struct run *run, struct buffer *buffer)
{
    if (buffer->at)
        mf_env_resize(run->env, buffer->at, buffer->room, 0);
    *buffer = (struct buffer){ 0 };
}
