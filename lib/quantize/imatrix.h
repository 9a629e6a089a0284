/* SPDX-License-Identifier: MIT
 *
 * imatrix.h - an importance matrix: how much each column of a tensor matters
 *
 * llama-imatrix runs a model over a text and sums, for each column of each
 * matrix, the squares of the inputs that it is multiplied with.  Encoders
 * weight their errors by these values: a column with large inputs must be more
 * exact.
 *
 * Two generations of files have the same content: a small binary format of its
 * own, which has a folder among the formats, and GGUF since 2025.  Both are
 * opened as models are; imatrix_entries.c finds the entries in their indexes.
 * Only names and offsets are kept in memory; the values of a tensor are read
 * when it is encoded.
 */
#ifndef MF_LIB_IMATRIX_H
#define MF_LIB_IMATRIX_H

#include "lib/model/model.h"

struct mf_imatrix_entry {
    struct mf_str name;
    uint64_t count;   /* values: matrices times columns */
    uint64_t offset;  /* of the values in the file, which are sums */
    uint64_t columns; /* values of one matrix, which have a count in common */
    uint64_t counts;  /* offset of these counts, a float for each matrix; 0:
                         calls counts for all */
    int32_t calls;    /* of an old file; at most 0: the values are means */
};

struct mf_imatrix {
    struct mf_env *env;
    struct mf_arena arena;
    struct mf_model *model;
    bool old; /* the format of before 2025 */
    struct mf_imatrix_entry *entry;
    size_t count, room;
    struct mf_names names;
    struct mf_str dataset; /* the text that it was made from; empty: unknown */
    uint64_t chunks;       /* of that text; 0: unknown */
};

/* Which entries to use: those whose name contains one of include (no include:
 * all), and none of exclude. */
struct mf_imatrix_choice {
    const char *const *include, *const *exclude;
    size_t include_count, exclude_count;
};

enum mf_status mf_imatrix_open(struct mf_env *env, const char *path,
                               const struct mf_imatrix_choice *choice,
                               struct mf_imatrix **out);

/* NULL is allowed. */
void mf_imatrix_close(struct mf_imatrix *imatrix);

/* The entry for a tensor; NULL where it is missing. */
const struct mf_imatrix_entry *mf_imatrix_find(const struct mf_imatrix *imatrix,
                                               struct mf_str name);

/* The values for a tensor, as means; count must be the entry's.  Where it has
 * no entry *found is false, and nothing is written. */
enum mf_status mf_imatrix_read(const struct mf_imatrix *imatrix,
                               struct mf_str name, float *out, size_t count,
                               bool *found);

/* Sums as they are in the file: count of them from number `first` on. */
enum mf_status mf_imatrix_sums(const struct mf_imatrix *imatrix,
                               const struct mf_imatrix_entry *entry,
                               uint64_t first, float *out, size_t count);

/* Counts of matrices, likewise; for an old file its calls. */
enum mf_status mf_imatrix_counts(const struct mf_imatrix *imatrix,
                                 const struct mf_imatrix_entry *entry,
                                 uint64_t first, float *out, size_t count);

static inline uint64_t mf_imatrix_matrices(const struct mf_imatrix_entry *entry)
{
    return entry->count / entry->columns;
}

/* The file itself: an input like any other. */
static inline const struct mf_source *
mf_imatrix_source(const struct mf_imatrix *imatrix)
{
    return &imatrix->model->file[0].source;
}

/* ---- for imatrix_entries.c ---- */

/* Adds an entry, if it is chosen. */
enum mf_status mf_imatrix_add(struct mf_imatrix *imatrix,
                              const struct mf_imatrix_entry *entry,
                              const struct mf_imatrix_choice *choice);

/* All entries of the open model, and what it says about their text. */
enum mf_status mf_imatrix_list(struct mf_imatrix *imatrix,
                               const struct mf_imatrix_choice *choice);

#endif
