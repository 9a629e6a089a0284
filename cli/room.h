/* SPDX-License-Identifier: MIT
 *
 * room.h - memory for the rest of the process, for what few runs need
 *
 * It takes the place of a large static variable: bytes of zero that are not on
 * the heap, may be taken before there is an env, and are never given back.
 */
#ifndef MF_CLI_ROOM_H
#define MF_CLI_ROOM_H

#include <stddef.h>

/* NULL: the system has none; nothing is reported. */
void *room_take(size_t size);

/* Likewise, of this process and of those that it forks. */
void *room_share(size_t size);

/* For this process. */
void room_only_read(void *at, size_t size);

#endif
