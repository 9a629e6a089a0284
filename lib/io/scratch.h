/* SPDX-License-Identifier: MIT
 *
 * scratch.h - a file without a name, for bytes that are too many for memory
 *
 * An env has one, from the first use on.  Its space is gone when the last user
 * leaves, and with the process, however that ends: no name leads to it.
 * mf_env_free closes it.
 */
#ifndef MF_LIB_SCRATCH_H
#define MF_LIB_SCRATCH_H

#include "lib/base/heap.h"

/* Becomes a user of the file; false with errno where there is none. */
bool mf_scratch_join(struct mf_env *env);
void mf_scratch_leave(struct mf_env *env);

/* Users: room for so many bytes, at *at; false with errno. */
bool mf_scratch_take(struct mf_env *env, uint64_t size, uint64_t *at);

/* Gives up the room, if it is the last one that was taken. */
void mf_scratch_give(struct mf_env *env, uint64_t at, uint64_t size);

/* Within room that was taken; false with errno. */
bool mf_scratch_write(const struct mf_env *env, uint64_t at, const void *bytes,
                      size_t size);
bool mf_scratch_read(const struct mf_env *env, uint64_t at, void *bytes,
                     size_t size);

#endif
