/* SPDX-License-Identifier: MIT
 *
 * piece.h - a part of a tensor on its way from file to file
 */
#ifndef MF_LIB_PIECE_H
#define MF_LIB_PIECE_H

#include "lib/codec/recode.h"
#include "lib/write/convert.h"

struct mf_piece {
    struct mf_output *output;
    const struct mf_model *model;         /* of the source; NULL: of none */
    const struct mf_source *source;       /* NULL: zeros */
    const struct mf_draft_tensor *tensor; /* NULL: bytes of no tensor */
    struct mf_span span;                  /* of the tensor, in the source */
    uint64_t at, size; /* of the piece, in the tensor's bytes, which come in
                          the order that they will have */
    uint64_t to;       /* in the target */
    struct mf_recoding recoding;
    struct mf_deviation deviation;
    const struct mf_isa *scanner; /* what looks for numbers that are infinite or
                                   none, and are refused; NULL: they are not */
    bool measured; /* its numbers are not written, but compared: */
    float largest;
};

/* Reads, recodes and writes it, or only looks at it, in a worker's thread. */
enum mf_status mf_piece_move(struct mf_worker *worker, struct mf_piece *piece);

/* True where piece, of all of its span, lies behind last here and there and
 * both are small: last is then both. */
bool mf_piece_join(struct mf_piece *last, const struct mf_piece *piece);

/* Says that the piece's span is not in its file. */
enum mf_status mf_piece_out_of_bounds(struct mf_env *env,
                                      const struct mf_piece *piece);

#endif
