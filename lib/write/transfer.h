/* SPDX-License-Identifier: MIT
 *
 * transfer.h - cutting tensors into pieces, which run in batches
 */
#ifndef MF_LIB_TRANSFER_H
#define MF_LIB_TRANSFER_H

#include "lib/write/piece.h"

struct mf_transfer {
    struct mf_outputs *outputs;
    struct mf_crew *crew;
    const struct mf_isa *isa;
    struct mf_piece *piece;
    size_t count, taken; /* pieces, and the memory for them */
    size_t room;         /* how many are collected at most */
    uint64_t listed;     /* pieces so far, in all runs */
    bool joined;         /* the piece added last was joined to the one before */
    struct mf_weight_buffer
        weights;   /* of the tensor whose pieces were added last */
    float largest; /* absolute value in the tensor that was measured */
    bool flushes;  /* the first task of the run syncs what is written */
};

/* Moves the pieces that were added. */
enum mf_status mf_transfer_run(struct mf_transfer *transfer);

/* Fills the space before a tensor of an output, by its number in the order of
 * data; the count of all: after the last one. */
enum mf_status mf_transfer_gap(struct mf_transfer *transfer,
                               struct mf_output *output, size_t number);

/* All of a tensor as one piece, which is not added.  Its importance weights are
 * loaded: pieces that use other weights run before. */
enum mf_status mf_transfer_prepare(struct mf_transfer *transfer,
                                   struct mf_output *output,
                                   const struct mf_draft_tensor *tensor,
                                   struct mf_piece *piece);

/* Adds it, cut into pieces, after the one scale of its type if it has one. */
enum mf_status mf_transfer_add_whole(struct mf_transfer *transfer,
                                     struct mf_piece *piece);

/* Measures a tensor whose type has one scale, writes that, and moves the place
 * of the piece, which is all of the tensor, after it. */
enum mf_status mf_transfer_scale(struct mf_transfer *transfer,
                                 struct mf_piece *piece);

/* Cuts piece.span, whose first byte goes to piece.to, into pieces. */
enum mf_status mf_transfer_add(struct mf_transfer *transfer,
                               struct mf_piece piece);

/* How many bytes of its span a piece has at most. */
size_t mf_transfer_most(const struct mf_transfer *transfer,
                        const struct mf_piece *piece);

/* The piece is added next: whether it is kept, where stopped work can go on. */
enum mf_status mf_transfer_place(const struct mf_transfer *transfer,
                                 struct mf_piece *piece);

/* Whether threads would wait for each other at pieces of it. */
bool mf_transfer_is_serial(const struct mf_piece *piece);

/* What scans a tensor of so many bytes for NaN and infinite values; NULL where
 * that was not asked for, its type has no floats, or its bytes are not whole
 * blocks. */
const struct mf_isa *mf_transfer_scanner(const struct mf_transfer *transfer,
                                         const struct mf_draft_tensor *tensor,
                                         uint64_t size);

/* The model's only file, byte for byte (verbatim.c). */
enum mf_status mf_transfer_file(struct mf_transfer *transfer);

/* All tensors of outputs that are made of the same ones (together.c). */
enum mf_status mf_transfer_together(struct mf_transfer *transfer);

#endif
