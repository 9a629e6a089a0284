/* SPDX-License-Identifier: MIT
 *
 * swap.h - tensors of big-endian files, as a little-endian file has them
 *
 * Codecs, digests and all others that look at a tensor's bytes know one order.
 * So the source of a big-endian file has every tensor twice: where it lies in
 * the file, and at that offset with MF_SWAPPED_BIT, where the numbers in its
 * blocks are turned around while they are read.  Code that needs values asks
 * mf_record_data for the place; code that copies, checks or names bytes of the
 * file takes the record's own offset.
 */
#ifndef MF_LIB_SWAP_H
#define MF_LIB_SWAP_H

#include "lib/io/source.h"
#include "lib/model/types.h"

struct mf_index;

/* Whether blocks of the type differ between the two orders. */
bool mf_type_swaps(enum mf_type type);

/* Turns the numbers in so many blocks around: from either order to the other.
 */
void mf_swap_blocks(enum mf_type type, uint8_t *bytes, size_t blocks);

/* Wraps the source of a shard whose file is big-endian, which the new one owns
 * and closes; the index must live as long.  *file is left alone after an
 * error. */
enum mf_status mf_swapped_open(struct mf_env *env, struct mf_source *file,
                               const struct mf_index *index, uint32_t shard);

#endif
