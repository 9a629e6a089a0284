/* SPDX-License-Identifier: MIT
 *
 * missing.h - what a file has and a reader leaves out
 *
 * A member of an archive can be damaged, and a tensor of a kind that is not
 * read.  The others are read all the same, and what is missing is kept here by
 * name: else two files that differ in nothing but these would be called the
 * same.  Code whose answer covers a whole model calls mf_missing_refuse first.
 *
 * A tensor that is listed although its data cannot be read is not here: it has
 * MF_TENSOR_DAMAGED.
 */
#ifndef MF_LIB_MISSING_H
#define MF_LIB_MISSING_H

#include "lib/base/error.h"

struct mf_index;

struct mf_missing_table {
    struct mf_missed *row;
    size_t count, room;
    size_t skipped; /* rows after those: the caller does not want them */
    size_t rest;    /* number of a row that also stands for everything after it,
                       whose names are unknown, or 0 */
    bool allowed;   /* mf_open_options.allow_missing */
};

/* ---- for formats, while they parse ---- */

/* For the severity of a finding about what is missing: it is an error, and does
 * not keep the others from being copied once the caller allows that. */
#define MF_ERROR_MISSED MF_ERROR_ELSEWHERE

/* Keeps the name and why it is not read.  The reason follows a colon: "a sparse
 * tensor".  Out of memory is kept as mf_index_note does. */
void mf_index_miss(struct mf_index *index, uint32_t shard, struct mf_str name,
                   const char *format, ...) MF_PRINTF(4, 5);

void mf_missing_release(struct mf_env *env, struct mf_missing_table *table);

/* ---- for what needs all of a model ---- */

/* MF_ERR_UNSUPPORTED if anything is missing, unless the caller allows that. */
enum mf_status mf_missing_refuse(const struct mf_model *model);

#endif
