/* SPDX-License-Identifier: MIT
 *
 * imatrix_merge.h - several importance matrices as one
 *
 * Sums and counts are added entry by entry, in the order of the files: the
 * result is llama-imatrix's, bit for bit.  Memory has the names and a few
 * numbers of each entry; values are read, added and written in pieces.
 */
#ifndef MF_LIB_IMATRIX_MERGE_H
#define MF_LIB_IMATRIX_MERGE_H

#include "lib/quantize/imatrix.h"
#include "lib/write/convert.h"

/* An entry of one of the files. */
struct mf_sum_part {
    const struct mf_imatrix_entry *entry;
    size_t input;
};

/* An entry of the result: parts[first] and the count - 1 after it. */
struct mf_sum {
    struct mf_str name;
    size_t first, count;
    uint64_t values, matrices; /* values count all matrices */
    int64_t most;              /* largest count of a matrix */
    uint64_t unused;           /* matrices whose count is 0 */
};

/* Values that are added at once. */
#define MF_SUM_PIECE ((size_t)16 * 1024)

struct mf_sums {
    struct mf_env *env;
    struct mf_arena arena;
    struct mf_imatrix **input;
    size_t input_count;
    struct mf_sum_part *part; /* by name, then by input */
    struct mf_sum *sum;       /* by name */
    size_t part_count, sum_count;
    struct mf_str *dataset;
    size_t dataset_count;
    uint32_t chunk_size; /* an old file counts in chunks of so many tokens */
    uint32_t chunks;
    float *more; /* room for MF_SUM_PIECE of one part */
    size_t at;   /* the input that is looked at, for a message */
};

/* count sums or counts of matrices, from number `first` on. */
enum mf_status mf_sums_values(struct mf_sums *sums, const struct mf_sum *sum,
                              uint64_t first, float *out, size_t count);
enum mf_status mf_sums_counts(struct mf_sums *sums, const struct mf_sum *sum,
                              uint64_t first, int64_t *out, size_t count);

/* Writes the result; *size becomes the file's. */
enum mf_status mf_sums_write_gguf(struct mf_sums *sums, const char *path,
                                  bool replace, bool dry_run, uint64_t *size);
enum mf_status mf_sums_write_old(struct mf_sums *sums, const char *path,
                                 bool replace, bool dry_run, uint64_t *size);

#endif
