/* SPDX-License-Identifier: MIT
 *
 * chunk.h - chunks as large as memory allows
 *
 * Windows, buffers and lists of pieces may have any size from a small least one
 * up; a larger one only costs fewer calls.  So none asks for more than a share
 * of the memory that is left, one that is refused is halved, and after 16 in a
 * row that fit the next is doubled.  No result may depend on a size.
 */
#ifndef MF_LIB_CHUNK_H
#define MF_LIB_CHUNK_H

#include "lib/base/heap.h"

/* Chunks in a row that fit before the next is doubled: few enough to be back at
 * full size soon, enough that chunks refused are rare among those that fit. */
#define MF_CHUNK_FITS 16

/* How many units, bytes or rows of a table, a chunk has. */
struct mf_chunk_size {
    size_t now, least, most;
    unsigned fits; /* in a row */
};

/* Between `least` and `most` units of `each` bytes: as many as fit one of
 * `parts` equal parts of the memory that is left. */
struct mf_chunk_size mf_chunk_size(const struct mf_env *env, size_t least,
                                   size_t most, size_t each, size_t parts);

/* The chunk was refused: halves it.  False, and unchanged, at the least. */
bool mf_chunk_refused(struct mf_chunk_size *size);

/* The chunk fitted.  True if the next one is larger. */
bool mf_chunk_fitted(struct mf_chunk_size *size);

/* size->now units of memory, or of as many fewer as it takes to get them; NULL
 * after mf_fail where not even the least can be had. */
void *mf_chunk_alloc(struct mf_env *env, struct mf_chunk_size *size,
                     size_t each);

/* A table of at most `most` rows of `each` bytes, and of at least one, in a
 * small share of the memory that is left; NULL after mf_fail. */
void *mf_chunk_table(struct mf_env *env, size_t most, size_t each,
                     size_t *rows);

#endif
