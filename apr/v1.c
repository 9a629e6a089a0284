/* SPDX-License-Identifier: MIT
 *
 * v1.c - APR version 1, "APRN": header, metadata, checksum
 *
 * The payload is one Rust value in bincode, which does not describe itself:
 * without the program's types its tensors cannot be found, so none are listed.
 */
#include "apr/apr.h"

enum v1_flag { V1_SIGNED = 0x02, V1_UNDEFINED = 0x80 };

#define SIGNATURE    96 /* Ed25519: 64 bytes, and 32 of the key */
#define CRC_SIZE     4
#define UNPACKED_MAX (UINT32_C(1) << 30) /* aprender refuses more */

struct v1_header {
    uint16_t model_type;
    uint64_t metadata_size, payload_size;
    uint32_t unpacked_size;
    uint8_t compression, flags, quality;
    bool reserved;
};

static struct v1_header take_header(struct mf_reader *reader)
{
    struct v1_header header = { 0 };

    mf_skip(reader, 6); /* magic and version: see probe */
    header.model_type = mf_take_u16(reader);
    header.metadata_size = mf_take_u32(reader);
    header.payload_size = mf_take_u32(reader);
    header.unpacked_size = mf_take_u32(reader);
    header.compression = mf_take_u8(reader);
    header.flags = mf_take_u8(reader);
    header.quality = mf_take_u8(reader);
    for (int i = 0; i < 9; i++)
        header.reserved = (mf_take_u8(reader) != 0) || header.reserved;
    return header;
}

static bool known_type(uint16_t type)
{
    static const uint16_t single[] = { 0x20, 0x21, 0x30, 0x40, 0xff };

    for (size_t i = 0; i < sizeof(single) / sizeof(*single); i++)
        if (type == single[i])
            return true;
    return (type >= 0x01 && type <= 0x0a) || (type >= 0x10 && type <= 0x12);
}

static void check_fields(struct mf_index *index, const struct mf_part *part,
                         const struct v1_header *header)
{
    const struct mf_detection *kind = &index->kind;

    if (kind->version != 1 || kind->version_minor != 0)
        mf_index_note(index, part->shard, MF_WARNING, MF_RULE_APR_VERSION, 4,
                      "unknown version %" PRIu32 ".%" PRIu32 ", read as 1.0",
                      kind->version, kind->version_minor);
    if (!known_type(header->model_type))
        mf_index_note(index, part->shard, MF_ERROR, MF_RULE_APR_V1_TYPE, 6,
                      "unknown model type 0x%04x", header->model_type);
    if (header->unpacked_size > UNPACKED_MAX)
        mf_index_note(index, part->shard, MF_ERROR, MF_RULE_APR_V1_UNPACKED, 16,
                      "the unpacked payload has %" PRIu32
                      " bytes, the limit is %" PRIu32,
                      header->unpacked_size, UNPACKED_MAX);
    if (header->compression > 3)
        mf_index_note(index, part->shard, MF_ERROR, MF_RULE_APR_V1_COMPRESSION,
                      20, "unknown compression %u (0 to 3 are valid)",
                      header->compression);
    if (header->flags & V1_UNDEFINED)
        mf_index_note(index, part->shard, MF_WARNING, MF_RULE_APR_FLAGS, 21,
                      "flags 0x%02x: an undefined bit is set", header->flags);
    if (header->quality > 100)
        mf_index_note(index, part->shard, MF_WARNING, MF_RULE_APR_V1_QUALITY,
                      22, "quality %u is out of range (0 to 100)",
                      header->quality);
    if (header->reserved)
        mf_index_note(index, part->shard, MF_WARNING, MF_RULE_APR_RESERVED, 23,
                      "the reserved bytes are not all zero");
}

/* A file that fits into a reader's usual window is read at once anyway, so its
 * checksum is free.  The payload of a larger one is not read by an open; its
 * checksum is left to mf_model_validate_data. */
static void check_crc(struct mf_reader *reader, struct mf_index *index,
                      struct mf_part *part)
{
    uint64_t size = reader->source->size;
    uint32_t stored, computed = 0;

    if (size > MF_WINDOW) {
        part->has_footer = true; /* for mf_model_validate_data */
        part->footer_rule = MF_RULE_APR_V1_CRC;
        return;
    }
    mf_reader_seek(reader, 0);
    for (uint64_t left = size - CRC_SIZE; left > 0;) {
        size_t piece =
            left < reader->capacity ? (size_t)left : reader->capacity;
        const uint8_t *bytes = mf_take(reader, piece);

        if (!bytes)
            return;
        computed = mf_crc32(computed, bytes, piece);
        left -= piece;
    }
    stored = mf_take_u32(reader);
    if (!reader->failed && stored != computed)
        mf_index_note(index, part->shard, MF_ERROR, MF_RULE_APR_V1_CRC,
                      size - CRC_SIZE,
                      "the file's checksum is %08" PRIx32
                      ", but its bytes have %08" PRIx32,
                      stored, computed);
    mf_reader_seek(reader, APR_V1_HEADER);
}

static void check_size(struct mf_reader *reader, struct mf_index *index,
                       struct mf_part *part, const struct v1_header *header)
{
    uint64_t size = reader->source->size;
    uint64_t expected = APR_V1_HEADER + header->metadata_size +
                        header->payload_size +
                        (header->flags & V1_SIGNED ? SIGNATURE : 0) + CRC_SIZE;

    if (size != expected)
        mf_index_note(index, part->shard, MF_ERROR, MF_RULE_APR_V1_SIZE, 8,
                      "the header implies a file of %" PRIu64
                      " bytes, but it has %" PRIu64,
                      expected, size);
    else
        check_crc(reader, index, part);
}

enum mf_status mf_apr_v1_parse(struct mf_reader *reader, struct mf_index *index,
                               struct mf_part *part)
{
    struct v1_header header = take_header(reader);
    uint64_t end = APR_V1_HEADER + header.metadata_size;

    if (mf_reader_check(reader, "the header") != MF_OK)
        return reader->env->error.status;
    if (header.metadata_size > mf_reader_left(reader))
        return mf_refuse(reader->env, MF_RULE_FILE_COUNT, 8,
                         "the header claims %" PRIu64
                         " bytes of metadata, but only %" PRIu64 " are left",
                         header.metadata_size, mf_reader_left(reader));
    check_fields(index, part, &header);
    if (!index->metadata_only)
        check_size(reader, index, part, &header);
    part->data_offset = end;
    mf_reader_limit(reader, end);
    return mf_apr_msgpack_metadata(reader, index, part, end);
}
