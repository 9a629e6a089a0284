/* SPDX-License-Identifier: MIT
 *
 * quant.h - what the tests of codecs share: every codec that runs here
 */
#ifndef TESTS_QUANT_H
#define TESTS_QUANT_H

#include "lib/codec/codecs.h"
#include "lib/codec/grid_maps.h"
#include "tests/support.h"

/* Bytes of so many columns: one tensor of APR's types is one row. */
static inline size_t quant_row_size(enum mf_type type, size_t columns)
{
    const struct mf_type_row *row = &mf_types[type];

    if (type == MF_TYPE_APR_Q8 && columns > 0)
        return 4 + columns;
    return (columns + row->block - 1) / row->block * row->bytes;
}

/* Calls each for every type that has a codec and every instruction set that
 * runs here; the first codec is the portable one of the same type.  Then for
 * older ones. */
static inline void each_codec(void (*each)(enum mf_type type,
                                           const struct mf_codec *portable,
                                           const struct mf_codec *codec))
{
    for (int type = 0; type < MF_TYPE_COUNT; type++)
        for (const struct mf_isa *isa = mf_isas; isa->name; isa++) {
            const struct mf_codec *codec = mf_codec_of(isa, (enum mf_type)type);
            const struct mf_codec *portable =
                mf_codec_of(mf_isas, (enum mf_type)type);

            if (!codec || !mf_isa_runs(isa))
                continue;
            each((enum mf_type)type, portable, codec);
            if (codec->older)
                each((enum mf_type)type, portable->older, codec->older);
        }
}

/* False where the type has no codes for the row, which a type on a grid alone
 * may say. */
static inline bool quant_encode(const struct mf_codec *codec, const float *row,
                                const float *weights, uint8_t *blocks,
                                size_t columns)
{
    static struct mf_env *env;

    if (codec->encode) {
        codec->encode(row, weights, blocks, columns);
        return true;
    }
    if (!env)
        env = mf_env_new(NULL);
    return mf_encode_on_grid(codec, mf_grid_map_of(env, codec->grid), row,
                             weights, blocks, columns);
}

/* A test that passes says nothing of what could not run here. */
static inline void say_what_runs(void)
{
    printf("# instruction sets:");
    for (const struct mf_isa *isa = mf_isas; isa->name; isa++)
        printf(" %s%s", isa->name, mf_isa_runs(isa) ? "" : " (not here)");
    puts("");
}

#endif
