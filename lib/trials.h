/* SPDX-License-Identifier: MIT
 *
 * trials.h - a part of program.h: the error of each tensor in each type
 */
#ifndef MF_LIB_TRIALS_H
#define MF_LIB_TRIALS_H

#include "lib/modelfile.h"

/* A tensor in one type. */
struct mf_type_error {
    double error;    /* the sum of squared differences, each times the weight of
                        its column in the importance matrix, if there is one;
                        infinite: the tensor cannot have the type */
    double variance; /* of that, as an estimate from some of the rows */
};

struct mf_tensor_errors {
    struct mf_str name;
    const char *from;                       /* its type now */
    uint64_t elements, rows, measured, row; /* row: elements of one */
    bool weighted;
    double squares; /* the sum of the squared numbers, likewise weighted: what
                       an error is a part of */
    const struct mf_type_error *type; /* in each type */
    const uint64_t *bytes;            /* likewise, without padding */
    const uint8_t *mix; /* the number of the type that it has in each mix, or
                           MF_TYPES_MAX */
};

#define MF_TYPES_MAX 64

/* Of tensors that quantizing gives another type, in the order of the new file.
 */
struct mf_type_errors {
    size_t count;
    struct mf_tensor_errors *tensor;
    size_t types;
    const char *type_name[MF_TYPES_MAX];
    size_t mixes;
    const char *mix_name[MF_TYPES_MAX];
    bool mix_known[MF_TYPES_MAX];   /* the model can be quantized so */
    uint64_t fixed;                 /* bytes of the file that no type changes */
    uint64_t alignment;             /* of each tensor in the file */
    uint64_t elements, other_bytes; /* of all tensors; of those not listed */
    size_t others;              /* those that quantizing leaves as they are */
    const struct mf_str *other; /* their names */
};

/* The error as a part of the numbers: the root of both sums' quotient. */
double mf_relative_error(const struct mf_tensor_errors *tensor, size_t type);

/* Encodes rows of every tensor, as mf_model_quantize with these options would,
 * in every type that llama.cpp loads, decodes them, and sums up the errors.
 * The type of the options, and those for some tensors, are not used.  The sums
 * do not depend on the number of threads.
 *
 * With the option resume the errors of each tensor that is done are kept next
 * to the output at path, as ".NAME.measured".  The next call with resume takes
 * them from there, in the same cases as mf_model_convert goes on, and measures
 * the others. */
struct mf_type_errors_options {
    const char *types; /* names, with commas between them; NULL: all */
    bool all; /* measure every row; else a sample, always the same: 4 % of each
                 matrix, and at least 32 rows of a tensor */
};
enum mf_status mf_type_errors_new(struct mf_model *model, const char *path,
                                  const struct mf_quantize_options *options,
                                  const struct mf_convert_options *how,
                                  const struct mf_type_errors_options *what,
                                  struct mf_type_errors **out);

/* What is kept of them is removed: the output is complete. */
void mf_type_errors_forget(struct mf_type_errors *errors);

/* NULL is allowed.  What is kept next to the output stays. */
void mf_type_errors_free(struct mf_type_errors *errors);

/* Sets match[i] for each name that the pattern matches, as in struct
 * mf_tensor_type. */
enum mf_status mf_pattern_find(const struct mf_type_errors *errors,
                               const char *pattern, bool *match);

#endif
