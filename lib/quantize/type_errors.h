/* SPDX-License-Identifier: MIT
 *
 * type_errors.h - the error of each tensor in each type
 *
 * Private to type_errors.c and type_rows.c.
 */
#ifndef MF_LIB_TYPE_ERRORS_H
#define MF_LIB_TYPE_ERRORS_H

#include "lib/codec/codecs.h"
#include "lib/program.h"
#include "lib/quantize/mix_sizes.h"
#include "lib/quantize/quantizing.h"

struct mf_type_trial {
    enum mf_type type;
    const struct mf_codec *codec;
    const struct mf_grid_map *map; /* of a type on a grid; or NULL */
};

struct mf_type_work {
    struct mf_type_errors errors; /* what the program sees */
    struct mf_quantizing quantizing;
    struct mf_env *env;
    struct mf_arena arena;
    const struct mf_isa *isa;
    struct mf_type_errors_options what;
    struct mf_type_trial trial[MF_TYPES_MAX];
    struct mf_mix *mix;                    /* errors.mixes of them */
    const struct mf_draft_tensor **tensor; /* errors.count of them */
};

/* Measures the tensors that are listed. */
enum mf_status mf_type_rows(struct mf_type_work *work);

#endif
