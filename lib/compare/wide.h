/* SPDX-License-Identifier: MIT
 *
 * wide.h - numbers that floats of 32 bits cannot hold
 *
 * They are compared as pairs of doubles.  A pair holds every integer of 64 bits
 * exactly, and the difference of two numbers is rounded once, if at all: it is
 * 0 only where they are equal.
 */
#ifndef MF_LIB_WIDE_H
#define MF_LIB_WIDE_H

#include "lib/compare/diff.h"

/* The number is high + low; low is 0 for all but large integers. */
struct mf_wide {
    double high, low;
};

/* Whether numbers of the type do not all fit floats; bools count, since they
 * are never decoded to floats. */
bool mf_type_is_wide(enum mf_type type);

/* How a tensor of a known type is read; false after mf_fail where its numbers
 * cannot be decoded. */
bool mf_numbers_recoding(const struct mf_model *model, const struct mf_isa *isa,
                         const struct mf_record *record,
                         struct mf_recoding *out);

/* Bytes that a decoded number takes. */
static inline size_t mf_decoded_size(bool wide)
{
    return wide ? sizeof(struct mf_wide) : sizeof(float);
}

/* Decodes numbers of a type at `bytes`, which the codec's prefix is part of, to
 * floats, or pairs if wide.  codec may be NULL for a wide type. */
void mf_decode_numbers(const struct mf_codec *codec, enum mf_type type,
                       bool wide, const uint8_t *bytes, void *out,
                       size_t count);

/* mf_apart_add for what that decoded.  Wide numbers come in multiples of
 * MF_WIDE_GROUP, but for the last ones of a part: a group has one exponent, and
 * no result may depend on the sizes of buffers. */
#define MF_WIDE_GROUP 256
void mf_apart_add_numbers(struct mf_apart *apart, bool wide, const void *a,
                          const void *b, size_t count);

#endif
