/* SPDX-License-Identifier: MIT
 *
 * codecs.h - the codec of a type for an instruction set
 *
 * The room codec/ turns rows of one type into rows of another: the table of
 * codecs (lib/quant/), and recoding by way of floats.  In: rows in a buffer.
 * Out: rows in the same buffer.  It knows types and shapes, no file.
 *
 * A program that includes this header links every codec: what only looks at a
 * model must not, and tests/layers.t checks that validation does not.
 */
#ifndef MF_LIB_CODECS_H
#define MF_LIB_CODECS_H

#include "lib/lanes/isa.h"
#include "lib/model/types.h"
#include "lib/quant/quant.h"

/* NULL where a type is not decoded. */
const struct mf_codec *mf_codec_of(const struct mf_isa *isa, enum mf_type type);

/* A codec that encodes as versions of the reference did before the one whose
 * bytes mf_codec_of gives: for files that one of them wrote.  NULL where there
 * is no difference. */
const struct mf_codec *mf_codec_older(const struct mf_isa *isa,
                                      enum mf_type type);

/* codec may be NULL. */
static inline bool mf_codec_encodes(const struct mf_codec *codec)
{
    return codec && (codec->encode || codec->encode_on_grid);
}

/* codec->encode_on_grid, and false where it needs weights and has none. */
static inline bool mf_encode_on_grid(const struct mf_codec *codec,
                                     const struct mf_grid_map *map,
                                     const float *row, const float *weights,
                                     uint8_t *blocks, size_t columns)
{
    return (weights || !codec->needs_weights) &&
           codec->encode_on_grid(map, row, weights, blocks, columns);
}

#endif
