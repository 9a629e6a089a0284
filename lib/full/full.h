/* SPDX-License-Identifier: MIT
 *
 * full.h - what an env knows: all formats and codecs, or the program's choice
 *
 * The room full/ is where envs are made.  In: options, and features that a
 * program names.  Out: an env with tables of formats and codecs.  It knows no
 * file.
 *
 * It is the top of the house: only mf_env_new refers to all formats and codecs,
 * and a feature to its own, so that a program is linked with what it names.
 * Everything else asks its env.
 */
#ifndef MF_LIB_FULL_H
#define MF_LIB_FULL_H

#include "lib/codec/codecs.h"
#include "lib/model/format.h"

/* Every format, in the order of detection; ends with NULL. */
extern const struct mf_format *const mf_formats[];

/* Places in that order. */
enum mf_format_place {
#define FORMAT(folder, row) MF_PLACE_##row,
#include "lib/model/formats.def"
#undef FORMAT
    MF_FORMAT_COUNT
};

/* What a program can give an env: the rows of one format, or one codec. */
struct mf_feature {
    struct mf_feature_format {
        enum mf_format_place place;
        const struct mf_format *row; /* NULL: no more */
    } format[2];
    enum mf_type type;
    const struct mf_codec_set *codec; /* of the type; or NULL */
};

#endif
