/* SPDX-License-Identifier: MIT
 *
 * type_errors.h - the error of each tensor in each type
 *
 * Private to type_errors.c, type_rows.c and type_kept.c.
 */
#ifndef MF_LIB_TYPE_ERRORS_H
#define MF_LIB_TYPE_ERRORS_H

#include "lib/codec/codecs.h"
#include "lib/program.h"
#include "lib/quantize/mix_sizes.h"
#include "lib/quantize/quantizing.h"
#include "lib/write/resume.h"

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
    struct mf_worklog log;                 /* of errors that are kept */
    uint64_t kept_for;                     /* a digest of its first record */
    size_t kept;                           /* tensors whose errors it has */
};

/* Measures the tensors that are listed, except those that are kept. */
enum mf_status mf_type_rows(struct mf_type_work *work);

/* ---- type_kept.c ---- */

/* Opens the log of what was measured, if the work can be resumed, and takes the
 * errors that it has. */
enum mf_status mf_type_kept_open(struct mf_type_work *work);

/* The errors of that tensor, which is the next one, are kept. */
enum mf_status mf_type_kept_add(struct mf_type_work *work, size_t number);

/* All errors are kept, and on the disk. */
enum mf_status mf_type_kept_all(struct mf_type_work *work);

/* Says whether work that failed can go on. */
void mf_type_kept_failed(struct mf_type_work *work);

/* Closes the log, which stays if it has errors. */
void mf_type_kept_close(struct mf_type_work *work);

#endif
