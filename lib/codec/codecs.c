/* SPDX-License-Identifier: MIT
 *
 * codecs.c - the codec of a type for an instruction set
 */
#include "lib/codec/codecs.h"

#include <assert.h>

#include "lib/lanes/isa.h"

#define CODEC(NAME, name)                                                      \
    extern const struct mf_codec mf_codec_##name##_portable,                   \
        mf_codec_##name##_avx2, mf_codec_##name##_avx512;
#include "lib/codec/codecs.def"
CODEC(IQ1_M, iq1_m_older)
#undef CODEC

/* In the order of mf_isas. */
#if defined(MF_X86_64)
#define ISAS 3
#define CODEC(NAME, name)                                                      \
    [MF_TYPE_##NAME] = { &mf_codec_##name##_portable, &mf_codec_##name##_avx2, \
                         &mf_codec_##name##_avx512 },
#else
#define ISAS              1
#define CODEC(NAME, name) [MF_TYPE_##NAME] = { &mf_codec_##name##_portable },
#endif

static const struct mf_codec *const codecs[MF_TYPE_COUNT][ISAS] = {
#include "lib/codec/codecs.def"
};

static const struct mf_codec *const older[MF_TYPE_COUNT][ISAS] = { CODEC(
    IQ1_M, iq1_m_older) };

const struct mf_codec *mf_codec_of(const struct mf_isa *isa, enum mf_type type)
{
    assert(isa >= mf_isas && isa < mf_isas + ISAS);
    return type < MF_TYPE_COUNT ? codecs[type][isa - mf_isas] : NULL;
}

const struct mf_codec *mf_codec_older(const struct mf_isa *isa,
                                      enum mf_type type)
{
    assert(isa >= mf_isas && isa < mf_isas + ISAS);
    return type < MF_TYPE_COUNT ? older[type][isa - mf_isas] : NULL;
}
