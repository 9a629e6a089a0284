/* SPDX-License-Identifier: MIT
 *
 * piece.h - a part of a tensor that one thread moves from file to file
 */
#ifndef MF_LIB_PIECE_H
#define MF_LIB_PIECE_H

#include "lib/codec/recode.h"
#include "lib/write/convert.h"

/* What moving a piece yields. */
struct mf_piece_result {
    struct mf_deviation deviation;
    float largest;      /* absolute, of a piece that is measured */
    uint64_t digest[2]; /* of what is recoded, where it has a hasher */
    uint64_t input[2];  /* the same, before that */
    bool differs;       /* from what is in the target */
};

struct mf_piece {
    struct mf_output *output;
    const struct mf_model *model;         /* whose file the source is */
    const struct mf_source *source;       /* NULL: zeros are written */
    const struct mf_draft_tensor *tensor; /* NULL: bytes between tensors */
    struct mf_span span;                  /* of the tensor, in the source */
    uint64_t at, size; /* of the piece within the span, in the new file's order
                          of rows */
    uint64_t to;       /* offset in the target */
    bool big_endian; /* the source's bytes are, and stay so: copied from a file
                        of that order */
    bool follows;    /* the piece before it, which the same thread moves first:
                        what they come from is unpacked forward only */
    struct mf_recoding recoding;
    struct mf_piece_result result;
    const struct mf_isa *scanner; /* scans for NaN and infinite values, which
                                     are refused; NULL: they are accepted */
    /* Of several outputs that are made of the same rows: the piece reads them
     * for itself and for so many that follow in the list; or it is one of
     * those, and moved with the one that reads (piece_together.c). */
    size_t riders;
    bool rides;
    bool measured; /* nothing is written: only the largest value is wanted */
    /* Where stopped work can go on (resume.h): */
    const struct mf_isa *hasher; /* digests what is recoded; NULL: not wanted */
    uint64_t number; /* in the list of all, where outputs are made together */
    bool kept;       /* it is in the target already, and only verified */
    bool inputs;     /* of a kept one: `input` is wanted, too */
    bool again;      /* it was written, and is made again and compared */
};

/* Whether it comes of a program's source that tells its version. */
static inline bool mf_piece_is_fetched(const struct mf_piece *piece)
{
    return piece->source && mf_source_is_known(piece->source);
}

/* Whether it has a digest where stopped work can go on: what is copied of a
 * file is compared with that. */
static inline bool mf_piece_is_digested(const struct mf_piece *piece)
{
    return piece->recoding.decode || mf_piece_is_fetched(piece);
}

/* Whether a digest of what it is made of says if an input was touched: of a
 * file, as other sources have a version. */
static inline bool mf_piece_has_input(const struct mf_piece *piece)
{
    return piece->recoding.decode && !mf_piece_is_fetched(piece);
}

/* Reads, recodes, checks and writes it, in a worker's thread. */
enum mf_status mf_piece_move(struct mf_worker *worker, struct mf_piece *piece);

/* The same for a piece with riders, which are moved, too. */
enum mf_status mf_piece_move_together(struct mf_worker *worker,
                                      struct mf_piece *piece);

/* Reads `size` bytes of the span from its byte `at` on, in the new file's order
 * of rows. */
enum mf_status mf_piece_read(struct mf_worker *worker,
                             const struct mf_piece *piece, uint64_t at,
                             uint8_t *into, size_t size);

/* Reads rows of the tensor, and what has to be before them to decode them, to
 * the start of the worker's buffer; fails where they are scanned and are not
 * finite. */
enum mf_status mf_piece_read_rows(struct mf_worker *worker,
                                  const struct mf_piece *piece, uint64_t first,
                                  size_t rows);

/* Of rows that were recoded, from row `first` of the tensor on: makes them what
 * is written, of *size bytes; fails where they are scanned and are not finite.
 */
enum mf_status mf_piece_finish_rows(struct mf_worker *worker,
                                    const struct mf_piece *piece,
                                    uint64_t first, size_t rows,
                                    uint8_t *result, size_t *size);

/* Fails where the piece is scanned, and the bytes, of the tensor from its byte
 * `at` on as that type, are not finite. */
enum mf_status mf_piece_check(struct mf_worker *worker,
                              const struct mf_piece *piece, enum mf_type type,
                              uint64_t at, const uint8_t *bytes, size_t size);

/* Turns numbers around where the target has another order of bytes.  Twice is
 * not at all. */
void mf_piece_swap(const struct mf_piece *piece, uint8_t *bytes, size_t size);

/* Sets where the bytes of the tensor come from: unchanged bytes of a big-endian
 * file from there, all others as a little-endian file has them. */
void mf_piece_take(struct mf_piece *piece, const struct mf_record *record);

/* Where nothing is recoded: bytes that have to be read as a whole, to be
 * scanned or to be turned around. */
size_t mf_piece_stride(const struct mf_piece *piece);

/* Makes last the union of both where piece follows it in the source and in the
 * target and both are small.  piece: all of its span. */
bool mf_piece_join(struct mf_piece *last, const struct mf_piece *piece);

/* The error that the piece's span is outside its source. */
enum mf_status mf_piece_out_of_bounds(struct mf_env *env,
                                      const struct mf_piece *piece);

/* ---- the importance weights of tensors that are being encoded ---- */

/* One buffer for all tensors, one after the other, and from its start again:
 * where the next tensor's do not fit after the last one's (mf_weights_fit),
 * pieces that use any of them must be done before they are loaded. */
struct mf_weight_buffer {
    float *at;
    size_t first, count; /* the last tensor's */
    size_t room;         /* of all weights that it can have */
    const char *of;      /* whose they are: mf_draft_tensor.weights.at */
};

/* How many weights the tensor can have in all; 0: it has none. */
size_t mf_weights_count(const struct mf_weights *from,
                        const struct mf_draft_tensor *tensor,
                        bool fastest_first, const struct mf_recoding *recoding);

bool mf_weights_fit(const struct mf_weight_buffer *buffer, size_t count);

/* Reads so many weights of the tensor, and has the recoding use them.  Nothing
 * changes where the matrix has none for it. */
enum mf_status mf_weights_load(struct mf_weight_buffer *buffer,
                               struct mf_crew *crew,
                               const struct mf_weights *from,
                               const struct mf_draft_tensor *tensor,
                               size_t count, bool fastest_first,
                               struct mf_recoding *recoding);

/* Has the recoding use those that are in the buffer, if they are the tensor's:
 * another output loaded them. */
bool mf_weights_again(const struct mf_weight_buffer *buffer,
                      const struct mf_draft_tensor *tensor, bool fastest_first,
                      struct mf_recoding *recoding);

void mf_weights_release(struct mf_weight_buffer *buffer, struct mf_env *env);

#endif
