/* SPDX-License-Identifier: MIT
 *
 * quant.h - what a codec is: floats into blocks, blocks into floats
 *
 * A codec is pure: no file, no memory, no thread, and no failure except in
 * encode_on_grid.  Each file of lib/quant is compiled once for every
 * instruction set, and gives the same bytes in each of them.  Its only global
 * symbols are codecs, and the search of further.c:
 *
 *     const struct mf_codec MF_CODEC(q8_0) = { .decode = decode, .encode =
 * encode };
 *
 * Rows match ggml's reference code, built without fused multiply-add:
 * the same operations on floats, in the same order.  Where that reference is
 * undefined (a NaN, an infinity, scales below the range of halves) a codec does
 * something defined.
 */
#ifndef MF_LIB_QUANT_QUANT_H
#define MF_LIB_QUANT_QUANT_H

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/quant/grid_map.h"
#include "lib/quant/makeup.h"

/* With registers that are wider than a float, numbers would be rounded twice.
 */
_Static_assert(FLT_EVAL_METHOD == 0, "floats are computed as floats");

struct mf_codec;

/* Makes blocks that a codec has encoded better: see further.c.  Efforts are in
 * makeup.h; the portable codec has the makeup. */
typedef void mf_further(const struct mf_codec *codec,
                        const struct mf_makeup *makeup, int effort,
                        const float *row, const float *weights, uint8_t *blocks,
                        size_t columns);

struct mf_codec {
    /* Columns are whole blocks; neither side need be aligned. */
    void (*decode)(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns);
    /* A whole row: some types look at its mean square.  weights say how much
     * each column matters, or are NULL; types that have no use for them do not
     * read them.  NULL for types that are not encoded, or on a grid only. */
    void (*encode)(const float *restrict row, const float *restrict weights,
                   uint8_t *restrict blocks, size_t columns);
    /* The same for a type whose codes are on a grid: with its map.  False
     * where the reference stops, for numbers so large that their squares are
     * infinite, say; the blocks are then anything. */
    bool (*encode_on_grid)(const struct mf_grid_map *map,
                           const float *restrict row,
                           const float *restrict weights,
                           uint8_t *restrict blocks, size_t columns);
    enum mf_grid grid;
    bool needs_weights; /* encode_on_grid does not take NULL */
    /* Encodes as versions of the reference did before the one whose bytes this
     * gives: for files that one of them wrote.  NULL where there is no
     * difference. */
    const struct mf_codec *older;
    /* What searches further; NULL for types that have no scales to be
     * searched.  What it needs to know is the same for all instruction sets,
     * and only the portable codec has it. */
    mf_further *further;
    const struct mf_makeup *makeup;
};

/* A library that is compiled with MF_NO_ENCODE decodes only, and a linker that
 * leaves out what nothing refers to leaves out all encoders. */
#if defined(MF_NO_ENCODE)
#define MF_ENCODER(function) (0 ? (function) : NULL)
#else
#define MF_ENCODER(function) (function)
#endif

/* Of a type whose codes stay, where the scale is a half `at` there. */
#define MF_KEPT_MAKEUP(size, numbers_, at)                                     \
    {                                                                          \
        .bytes = (size), .block_size = (numbers_), .block_count = 1,           \
        .numbers = MF_NUMBERS_KEPT, .unit = (at)                               \
    }

enum { MF_ONCE_portable = 1, MF_ONCE_avx2 = 0, MF_ONCE_avx512 = 0 };
#define MF_ONCE_JOIN_(isa) MF_ONCE_##isa
#define MF_ONCE_JOIN(isa)  MF_ONCE_JOIN_(isa)
#define MF_ONCE(its)       (MF_ONCE_JOIN(MF_ISA) ? (its) : NULL)

#define MF_MAKEUP(its)                                                         \
    .further = MF_ENCODER(MF_FURTHER), .makeup = MF_ENCODER(MF_ONCE(&(its)))

#define MF_CODEC_JOIN_(name, isa) mf_codec_##name##_##isa
#define MF_CODEC_JOIN(name, isa)  MF_CODEC_JOIN_(name, isa)
#define MF_CODEC(name)            MF_CODEC_JOIN(name, MF_ISA)

#define MF_FURTHER_JOIN_(isa) mf_further_##isa
#define MF_FURTHER_JOIN(isa)  MF_FURTHER_JOIN_(isa)
#define MF_FURTHER            MF_FURTHER_JOIN(MF_ISA)

mf_further MF_FURTHER;

/* The codec of a file whose `type` says in what it differs from its family: by
 * mf_<family>_decode, _encode, _encode_weighted and _store.  The rest is its
 * struct mf_makeup. */
#define MF_FAMILY_CODEC(family, name, ...)                                     \
    static void decode(const uint8_t *restrict blocks, float *restrict out,    \
                       size_t columns)                                         \
    {                                                                          \
        mf_##family##_decode(&type, blocks, out, columns);                     \
    }                                                                          \
                                                                               \
    static void encode(const float *restrict row,                              \
                       const float *restrict weights,                          \
                       uint8_t *restrict blocks, size_t columns)               \
    {                                                                          \
        if (weights)                                                           \
            mf_##family##_encode_weighted(&type, row, weights, blocks,         \
                                          columns);                            \
        else                                                                   \
            mf_##family##_encode(&type, row, blocks, columns);                 \
    }                                                                          \
                                                                               \
    static void store(const struct mf_parts *parts, uint8_t *block)            \
    {                                                                          \
        mf_##family##_store(&type, parts, block);                              \
    }                                                                          \
                                                                               \
    static const struct mf_makeup makeup = __VA_ARGS__;                        \
                                                                               \
    const struct mf_codec MF_CODEC(name) = { .decode = decode,                 \
                                             .encode = MF_ENCODER(encode),     \
                                             MF_MAKEUP(makeup) }

#endif
