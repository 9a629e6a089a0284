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
#undef CODEC

#define CODEC(NAME, name)                                                      \
    const struct mf_codec_set mf_codec_set_##name = { MF_LANES(                \
        &mf_codec_##name) };
#include "lib/codec/codecs.def"
#undef CODEC

const struct mf_codec_set *const mf_codec_sets[MF_TYPE_COUNT] = {
#define CODEC(NAME, name) [MF_TYPE_##NAME] = &mf_codec_set_##name,
#include "lib/codec/codecs.def"
#undef CODEC
};

static const struct mf_codec *of(const struct mf_codec_set *set,
                                 const struct mf_isa *isa)
{
    assert(isa >= mf_isas && isa < mf_isas + MF_ISAS);
    return set ? set->of[isa - mf_isas] : NULL;
}

const struct mf_codec *mf_env_codec(const struct mf_env *env,
                                    const struct mf_isa *isa, enum mf_type type)
{
    return type < MF_TYPE_COUNT ? of(env->codecs[type], isa) : NULL;
}

const struct mf_codec *mf_codec_of(const struct mf_isa *isa, enum mf_type type)
{
    return type < MF_TYPE_COUNT ? of(mf_codec_sets[type], isa) : NULL;
}
