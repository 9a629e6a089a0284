/* SPDX-License-Identifier: MIT
 *
 * imatrix.h - an importance matrix: how much each column of a tensor matters
 *
 * Files of llama-imatrix, the old ones (.dat) and those that are GGUF.  Names
 * and places are kept; values are read when they are asked for.
 */
#ifndef MF_LIB_IMATRIX_H
#define MF_LIB_IMATRIX_H

#include "lib/model/model.h"

struct mf_imatrix_entry {
    struct mf_str name;
    uint64_t count;   /* values */
    uint64_t offset;  /* where they stand: sums */
    uint64_t columns; /* values that were summed up as often as each other */
    uint64_t counts;  /* where it stands how often, a float for each matrix;
                         0: calls for all */
    float calls;
};

struct mf_imatrix {
    struct mf_env *env;
    struct mf_arena arena;
    struct mf_source source; /* of an old one */
    struct mf_model *model;  /* of a GGUF; else NULL */
    struct mf_imatrix_entry *entry;
    size_t count, room;
    struct mf_names names;
    struct mf_str dataset; /* the text it was made with; empty: not said */
    uint64_t chunks;       /* 0: not said */
};

/* Of the entries those whose name holds none of exclude, or one of include. */
struct mf_imatrix_choice {
    const char *const *include, *const *exclude;
    size_t include_count, exclude_count;
};

enum mf_status mf_imatrix_open(struct mf_env *env, const char *path,
                               const struct mf_imatrix_choice *choice,
                               struct mf_imatrix **out);

/* NULL is allowed. */
void mf_imatrix_close(struct mf_imatrix *imatrix);

/* NULL where there is none. */
const struct mf_imatrix_entry *mf_imatrix_find(const struct mf_imatrix *imatrix,
                                               struct mf_str name);

/* All values of the tensor of that name, as means: count must be how many there
 * are.  *found false, and nothing written, where there is no entry. */
enum mf_status mf_imatrix_read(const struct mf_imatrix *imatrix,
                               struct mf_str name, float *out, size_t count,
                               bool *found);

/* ---- for the parts that read a file ---- */

/* Keeps an entry that is chosen. */
enum mf_status mf_imatrix_add(struct mf_imatrix *imatrix,
                              const struct mf_imatrix_entry *entry,
                              const struct mf_imatrix_choice *choice);

enum mf_status mf_imatrix_read_legacy(struct mf_imatrix *imatrix,
                                      const struct mf_imatrix_choice *choice);
enum mf_status mf_imatrix_read_gguf(struct mf_imatrix *imatrix,
                                    const struct mf_imatrix_choice *choice);

#endif
