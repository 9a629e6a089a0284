/* SPDX-License-Identifier: MIT
 *
 * diff.h - compares metadata and numbers of two models
 */
#ifndef MF_LIB_DIFF_H
#define MF_LIB_DIFF_H

#include "lib/codec/recode.h"
#include "lib/compare/scaled.h"
#include "lib/io/digest.h"
#include "lib/model/model.h"

/* Sets *equal where value a of one model and value b of the other are the same;
 * else *first is the first element that differs (0 unless both are arrays). */
enum mf_status mf_meta_equal(struct mf_model *of_a, size_t a,
                             struct mf_model *of_b, size_t b, bool *equal,
                             uint64_t *first);

static inline bool mf_value_is_signed(enum mf_value_type type)
{
    return type == MF_VALUE_I8 || type == MF_VALUE_I16 ||
           type == MF_VALUE_I32 || type == MF_VALUE_I64;
}

typedef void mf_diff_found(void *user, const struct mf_difference *difference);

/* Reports differences between the metadata of models of two formats, which
 * belong to one env. */
enum mf_status mf_diff_carried(struct mf_model *a, struct mf_model *b,
                               mf_diff_found *found, void *user);

/* The digest of an entry's value, however large: equal numbers have the same
 * digest if the entries' types have one width. */
enum mf_status mf_entry_sum(struct mf_digest *digest, struct mf_env *env,
                            const struct mf_entry *entry,
                            uint8_t out[MF_DIGEST_MAX]);

/* How far numbers are apart: sums while they are read, then `errors`. */
struct mf_apart {
    struct mf_deviation deviation; /* of those that are finite on both sides */
    /* Sums of numbers that are decoded to more than floats: see wide.h.  The
     * worst and the count describe the deviation. */
    struct mf_scaled_sum error2, before2, after2, product;
    struct mf_value_errors errors;
};

/* Adds numbers, and the sums of a later part; then computes the errors. */
void mf_apart_add(struct mf_apart *apart, const float *a, const float *b,
                  size_t count);
void mf_apart_join(struct mf_apart *sum, const struct mf_apart *more);
void mf_apart_finish(struct mf_apart *apart);

/* Tensor a of one model and tensor b of the other, of one shape. */
struct mf_valued {
    uint32_t a, b;
    bool decoded; /* else they cannot be, and apart is not set */
    struct mf_apart apart;
};

/* Sets the pairs, of which all but a and b is zero.  Both models belong to
 * one env.  MF_ERR_CORRUPT where a tensor is MF_TENSOR_DAMAGED. */
enum mf_status mf_diff_values(struct mf_model *a, struct mf_model *b,
                              struct mf_valued *pair, size_t count);

/* Fails where one of the two cannot be decoded; the error says why. */
enum mf_status mf_values_decodable(struct mf_model *a, struct mf_model *b,
                                   const struct mf_valued *pair);

#endif
