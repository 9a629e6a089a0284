/* SPDX-License-Identifier: MIT
 *
 * proto.h - the fields of a Protocol Buffers message, one after the other
 *
 * The wire format only: what a field means is for its reader.  A message's
 * length was checked against the message around it, so no field leaves it.
 * Groups, which were given up before SentencePiece existed, are refused.
 */
#ifndef MF_LIB_PROTO_H
#define MF_LIB_PROTO_H

#include "lib/io/reader.h"

enum mf_wire { MF_WIRE_VARINT, MF_WIRE_64, MF_WIRE_BYTES, MF_WIRE_32 = 5 };

struct mf_proto {
    struct mf_reader *reader;
    uint64_t next, end; /* offsets of the next field and of the message's end */
};

struct mf_field {
    uint32_t number;
    enum mf_wire wire;
    uint64_t value;      /* a number, or the bits of a float */
    struct mf_span span; /* of MF_WIRE_BYTES; the reader is at its start */
};

/* The message is what lies in that span. */
void mf_proto_init(struct mf_proto *proto, struct mf_reader *reader,
                   struct mf_span span);

/* The next field; false at the end, or after mf_fail.  The bytes of a field
 * may be read or left. */
bool mf_proto_next(struct mf_proto *proto, struct mf_field *field);

/* Whether it is that field, in that form; one in another form is unknown. */
static inline bool mf_field_is(const struct mf_field *field, uint32_t number,
                               enum mf_wire wire)
{
    return field->number == number && field->wire == wire;
}

#endif
