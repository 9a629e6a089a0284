/* SPDX-License-Identifier: MIT
 *
 * codecs.h - the codec of a type, for the instruction set that is used
 *
 * Whoever includes this links every codec.  What only looks at a file does not.
 */
#ifndef MF_LIB_CODECS_H
#define MF_LIB_CODECS_H

#include "lib/lanes/isa.h"
#include "lib/model/types.h"
#include "lib/quant/quant.h"

/* NULL where a type is not decoded. */
const struct mf_codec *mf_codec_of(const struct mf_isa *isa, enum mf_type type);

#endif
