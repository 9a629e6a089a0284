/* SPDX-License-Identifier: MIT
 *
 * recode.h - converts rows of one type to rows of another, through floats
 */
#ifndef MF_LIB_RECODE_H
#define MF_LIB_RECODE_H

#include <math.h>

#include "lib/codec/codecs.h"
#include "lib/codec/grid_maps.h"
#include "lib/draft/draft.h"
#include "lib/model/model.h"

/* How far numbers are from what they were. */
struct mf_deviation {
    double error2, before2, after2, product; /* sums of squares and products */
    double worst;
    uint64_t count;
};

struct mf_recoding {
    const struct mf_codec *decode, *encode; /* decode NULL: nothing to do */
    const struct mf_codec
        *check; /* decodes what was encoded, to measure it; or NULL */
    const struct mf_grid_map *map; /* for a type on a grid; or NULL */
    struct mf_str name;            /* the tensor's */
    enum mf_type from, to;
    uint64_t count; /* of the tensor's numbers */
    size_t columns; /* of a row; 1: each number is a row.  Where blocks cross
                       rows it is a block's, and the last may be partial */
    size_t in, out; /* bytes of a row */
    size_t prefix;  /* bytes at the tensor's start that decode needs before any
                       part of it */
    size_t head;    /* bytes at the new tensor's start: its one scale */
    float largest;  /* magnitude in the tensor, for that scale */
    const float *weights; /* of the columns, or NULL */
    uint64_t matrix;      /* rows after which the next weights begin */
    int effort; /* above MF_EFFORT_LEAST blocks are searched further */
    const struct mf_makeup
        *makeup; /* of the new type; NULL: it has no search */
};

/* From tensor->from to tensor->type; false after mf_fail where one of them
 * cannot be decoded or encoded.  The tensor's name must live as long. */
bool mf_recoding_init(struct mf_env *env, const struct mf_isa *isa,
                      const struct mf_draft_tensor *tensor, bool fastest_first,
                      struct mf_recoding *out);

/* From a model's tensor, of a known type, to floats. */
bool mf_recoding_to_floats(const struct mf_model *model,
                           const struct mf_isa *isa,
                           const struct mf_record *record,
                           struct mf_recoding *out);

/* Bytes of buffer that a row needs, and how many rows a buffer has room for. */
size_t mf_recoding_need(const struct mf_recoding *recoding);
size_t mf_recoding_rows(const struct mf_recoding *recoding, size_t buffer_size);

/* How many numbers that many rows have, from row `first` on; and how many bytes
 * numbers of a type take. */
size_t mf_recoding_numbers(const struct mf_recoding *recoding, uint64_t first,
                           size_t rows);
uint64_t mf_numbers_size(enum mf_type type, uint64_t numbers);

/* Rows in that many bytes of the source tensor. */
static inline uint64_t mf_recoding_count(const struct mf_recoding *recoding,
                                         uint64_t bytes)
{
    return bytes / recoding->in + (bytes % recoding->in != 0);
}

/* Bytes of all rows before and after, without prefix and head. */
bool mf_recoding_sizes(const struct mf_recoding *recoding, uint64_t *in,
                       uint64_t *out);

/* Where in the buffer the rows to recode go: after the prefix. */
static inline uint8_t *mf_recoding_room(const struct mf_recoding *recoding,
                                        uint8_t *buffer)
{
    return buffer + recoding->prefix;
}

/* env: the worker's, for its timings and errors.  Recodes the rows there, of
 * which the first is row `first` of the tensor, and returns the result, which
 * is in the buffer as well; NULL after mf_fail where a row cannot be encoded.
 * Adds to deviation where recoding->check is set. */
uint8_t *mf_recode(struct mf_env *env, const struct mf_recoding *recoding,
                   uint8_t *buffer, size_t rows, uint64_t first,
                   struct mf_deviation *deviation);

/* Decodes them only: the largest of `most` and their magnitudes; NaN does not
 * count. */
float mf_recode_largest(struct mf_env *env, const struct mf_recoding *recoding,
                        uint8_t *buffer, size_t rows, uint64_t first,
                        float most);

/* Adds a number: its value before and after. */
static inline void mf_deviation_count(struct mf_deviation *sum, float before,
                                      float after)
{
    double a = (double)before, b = (double)after, apart = fabs(a - b);

    sum->error2 += apart * apart;
    sum->before2 += a * a;
    sum->after2 += b * b;
    sum->product += a * b;
    if (apart > sum->worst)
        sum->worst = apart;
    sum->count++;
}

/* Adds the sums of another part. */
void mf_deviation_add(struct mf_deviation *sum,
                      const struct mf_deviation *more);

/* What a program learns of them; unchanged where nothing was measured. */
void mf_deviation_sum(const struct mf_deviation *found,
                      struct mf_quantized *out);

#endif
