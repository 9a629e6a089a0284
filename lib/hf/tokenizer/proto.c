/* SPDX-License-Identifier: MIT
 *
 * proto.c - the fields of a Protocol Buffers message, one after the other
 */
#include "lib/hf/tokenizer/proto.h"

void mf_proto_init(struct mf_proto *proto, struct mf_reader *reader,
                   struct mf_span span)
{
    *proto = (struct mf_proto){ .reader = reader,
                                .next = span.offset,
                                .end = span.offset + span.size };
}

static bool refuse(struct mf_proto *proto, const char *what)
{
    struct mf_reader *reader = proto->reader;

    mf_fail(reader->env, MF_ERR_CORRUPT, proto->next, "%s", what);
    return false;
}

/* How many bytes of the message are left. */
static uint64_t left(const struct mf_proto *proto)
{
    return proto->end - mf_reader_offset(proto->reader);
}

/* Seven bits a byte, the lowest first; 64 bits take ten bytes. */
static bool take_varint(struct mf_proto *proto, uint64_t *out)
{
    *out = 0;
    for (unsigned i = 0; i < 10 && left(proto) > 0; i++) {
        uint8_t byte = mf_take_u8(proto->reader);

        *out |= (uint64_t)(byte & 0x7f) << 7 * i;
        if (byte < 0x80)
            return !proto->reader->failed;
    }
    return refuse(proto, left(proto) > 0 ? "a number has more than 64 bits"
                                         : "the message ends inside a field");
}

static bool take_fixed(struct mf_proto *proto, struct mf_field *field)
{
    if (left(proto) < (field->wire == MF_WIRE_64 ? 8 : 4))
        return refuse(proto, "the message ends inside a field");
    field->value = field->wire == MF_WIRE_64 ? mf_take_u64(proto->reader)
                                             : mf_take_u32(proto->reader);
    return !proto->reader->failed;
}

static bool take_bytes(struct mf_proto *proto, struct mf_field *field)
{
    uint64_t size;

    if (!take_varint(proto, &size))
        return false;
    if (size > left(proto)) {
        mf_fail(proto->reader->env, MF_ERR_CORRUPT, proto->next,
                "field %" PRIu32 " claims %" PRIu64 " bytes; %" PRIu64
                " are left",
                field->number, size, left(proto));
        return false;
    }
    field->span = (struct mf_span){ mf_reader_offset(proto->reader), size };
    return true;
}

static bool take_value(struct mf_proto *proto, struct mf_field *field)
{
    switch ((unsigned)field->wire) {
    case MF_WIRE_VARINT:
        return take_varint(proto, &field->value);
    case MF_WIRE_BYTES:
        return take_bytes(proto, field);
    case MF_WIRE_64:
    case MF_WIRE_32:
        return take_fixed(proto, field);
    default:
        return refuse(proto, "unknown kind of field");
    }
}

bool mf_proto_next(struct mf_proto *proto, struct mf_field *field)
{
    uint64_t tag;

    if (proto->reader->failed || proto->next >= proto->end)
        return false;
    if (mf_reader_offset(proto->reader) != proto->next)
        mf_reader_seek(proto->reader, proto->next);
    if (!take_varint(proto, &tag))
        return false;
    if (tag >> 32 != 0 || tag >> 3 == 0)
        return refuse(proto, "the number of a field is out of range");
    *field = (struct mf_field){ .number = (uint32_t)(tag >> 3),
                                .wire = (enum mf_wire)(tag & 7) };
    if (!take_value(proto, field))
        return false;
    proto->next = field->wire == MF_WIRE_BYTES
                      ? field->span.offset + field->span.size
                      : mf_reader_offset(proto->reader);
    return true;
}
