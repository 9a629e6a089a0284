/* SPDX-License-Identifier: MIT
 *
 * read.h - numbers of tensors for programs
 *
 * In: elements of a tensor, wherever and however the file has them.  Out: as
 * many numbers of the type that a program wants, in its memory.  The source
 * unpacks, orders and swaps (lib/model/stored.h, swap.h); a codec decodes.
 *
 * A reader has one buffer and an env of its own for errors, so that threads can
 * read at once; that env has no heap, which proves that nothing is allocated.
 */
#ifndef MF_LIB_READ_H
#define MF_LIB_READ_H

#include "lib/lanes/isa.h"
#include "lib/model/model.h"

/* No block has more elements. */
#define MF_BLOCK_MAX 256

struct mf_tensor_reader {
    struct mf_model *model;
    struct mf_env env;
    const struct mf_isa *isa;
    uint8_t *buffer;
    size_t room;
    float block[MF_BLOCK_MAX]; /* one of which not all elements are wanted */
};

/* Turns numbers of one type into numbers of another.  False where one does not
 * fit; *bad is its place. */
typedef bool mf_turn(const uint8_t *bytes, enum mf_type from, void *out,
                     size_t count, size_t *bad);

/* How numbers of the type become others without a codec; NULL where they do
 * not. */
mf_turn *mf_turn_of(enum mf_type from, enum mf_read_as as);

/* Bytes of a number that is read so. */
size_t mf_read_size(enum mf_read_as as);

/* In the place of doubles, of which the floats take the second half. */
void mf_turn_floats(double *out, size_t count);

#endif
