/* SPDX-License-Identifier: MIT
 *
 * resume_piece.h - a piece whose bytes were written before a stop is verified
 */
#ifndef MF_LIB_RESUME_PIECE_H
#define MF_LIB_RESUME_PIECE_H

#include <stdalign.h>

#include "lib/write/piece.h"

/* XXH3's state, whose header would be compiled into every file otherwise. */
struct mf_piece_digest {
    alignas(64) uint8_t state[640];
};

void mf_piece_digest_begin(struct mf_piece_digest *digest);
void mf_piece_digest_add(struct mf_piece_digest *digest,
                         const struct mf_isa *isa, const void *bytes,
                         size_t size);
void mf_piece_digest_end(const struct mf_piece_digest *digest, uint64_t out[2]);

/* Bytes of the new file that the piece is. */
uint64_t mf_piece_written(const struct mf_piece *piece);

/* Adds rows of the source, as mf_piece_read_rows has read them; first: those
 * that the piece begins with. */
void mf_piece_digest_input(struct mf_piece_digest *digest,
                           const struct mf_piece *piece, const uint8_t *buffer,
                           bool first, size_t size);

/* In a worker's thread: sets piece->differs where the target has other bytes.
 */
enum mf_status mf_piece_compare(struct mf_worker *worker,
                                struct mf_piece *piece, uint64_t to,
                                const uint8_t *bytes, size_t size);

/* In a worker's thread: whether the target has what was written.  Sets
 * piece->differs, or of a piece that is recoded piece->digest. */
enum mf_status mf_piece_verify(struct mf_worker *worker,
                               struct mf_piece *piece);

#endif
