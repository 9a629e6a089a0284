/* SPDX-License-Identifier: MIT
 *
 * codecs.h - the codec of a type for an instruction set
 *
 * The room codec/ turns rows of one type into rows of another: the table of
 * codecs (lib/quant/), and recoding by way of floats.  In: rows in a buffer.
 * Out: rows in the same buffer.  It knows types and shapes, no file.
 *
 * Each env has a table of its own, and so a program that names the codecs it
 * wants is linked with those only.  What only looks at a model has none, and
 * tests/project/layers.t checks that validation does not.
 */
#ifndef MF_LIB_CODECS_H
#define MF_LIB_CODECS_H

#include "lib/base/heap.h"
#include "lib/lanes/isa.h"
#include "lib/model/types.h"
#include "lib/quant/quant.h"

/* The codec of a type for each instruction set, in the order of mf_isas. */
struct mf_codec_set {
    const struct mf_codec *of[MF_ISAS];
};

/* mf_codec_set_q4_k and so on. */
#define CODEC(NAME, name) extern const struct mf_codec_set mf_codec_set_##name;
#include "lib/codec/codecs.def"
#undef CODEC

/* All of them, by enum mf_type; NULL where a type is not decoded. */
extern const struct mf_codec_set *const mf_codec_sets[];

/* Of those that the env knows; NULL where a type is not decoded. */
const struct mf_codec *mf_env_codec(const struct mf_env *env,
                                    const struct mf_isa *isa,
                                    enum mf_type type);

/* Of all; NULL where a type is not decoded. */
const struct mf_codec *mf_codec_of(const struct mf_isa *isa, enum mf_type type);

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
