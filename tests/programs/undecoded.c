/* SPDX-License-Identifier: MIT
 *
 * undecoded.c - in the place of lib/codec/codecs.c: a caller that asks for a
 * codec dies
 */
#include <stdlib.h>

#include "lib/codec/codecs.h"

const struct mf_codec_set *const mf_codec_sets[MF_TYPE_COUNT] = { NULL };

const struct mf_codec *mf_env_codec(const struct mf_env *env,
                                    const struct mf_isa *isa, enum mf_type type)
{
    (void)env;
    (void)isa;
    (void)type;
    abort();
}

const struct mf_codec *mf_codec_of(const struct mf_isa *isa, enum mf_type type)
{
    (void)isa;
    (void)type;
    abort();
}
