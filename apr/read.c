/* SPDX-License-Identifier: MIT
 *
 * read.c - an APR version 2 file: header, metadata, tensor index
 *
 * The header's CRC is checked first, then compression, then the offsets: in a
 * compressed file they refer to the unpacked one and would only look wrong.
 */
#include "apr/apr.h"

#define ALIGNMENT   64
#define INDEX_ENTRY 20 /* size of the smallest: no name, no dimensions */

static enum mf_status check_header(struct mf_reader *reader,
                                   struct mf_index *index,
                                   const struct mf_part *part,
                                   const uint8_t *at,
                                   const struct apr_header *header)
{
    uint32_t crc = mf_apr_header_crc(at);

    if (crc != header->checksum)
        return mf_refuse(reader->env, MF_RULE_APR_CHECKSUM, 40,
                         "the header's checksum is %08" PRIx32
                         ", but its bytes have %08" PRIx32,
                         header->checksum, crc);
    if (header->flags & APR_COLUMN_MAJOR)
        return mf_refuse(reader->env, MF_RULE_APR_FLAGS, 6,
                         "flags 0x%04x: column-major, which APR forbids",
                         header->flags);
    if (header->flags & APR_ENCRYPTED)
        return mf_refuse(reader->env, MF_RULE_FILE_PACKED, 6,
                         "flags 0x%04x: encrypted, for which APR version 2 "
                         "defines no layout",
                         header->flags);
    if (header->major != 2 || header->minor != 0)
        mf_index_note(index, part->shard, MF_WARNING, MF_RULE_APR_VERSION, 4,
                      "unknown version %u.%u, read as 2.0", header->major,
                      header->minor);
    if (header->flags & (APR_UNDEFINED | APR_SIGNED))
        mf_index_note(index, part->shard, MF_WARNING, MF_RULE_APR_FLAGS, 6,
                      "flags 0x%04x: %s", header->flags,
                      header->flags & APR_UNDEFINED
                          ? "undefined bits are set"
                          : "signed, in an unknown layout");
    if (header->reserved)
        mf_index_note(index, part->shard, MF_WARNING, MF_RULE_APR_RESERVED, 44,
                      "the reserved bytes are not all zero");
    return MF_OK;
}

/* The end of what can be the index: the start of the data if that comes after
 * it, else the end of the file. */
static uint64_t index_room(const struct mf_reader *reader,
                           const struct apr_header *header)
{
    uint64_t size = reader->source->size;

    return header->data_offset > header->index_offset &&
                   header->data_offset < size
               ? header->data_offset
               : size;
}

static enum mf_status check_sections(struct mf_reader *reader,
                                     const struct apr_header *header)
{
    uint64_t size = reader->source->size, room;

    if (header->metadata.offset > size ||
        header->metadata.size > size - header->metadata.offset)
        return mf_refuse(reader->env, MF_RULE_FILE_COUNT, 12,
                         "metadata at %#" PRIx64 " of %" PRIu64
                         " bytes, but the file has %" PRIu64,
                         header->metadata.offset, header->metadata.size, size);
    if (header->index_offset > size)
        return mf_refuse(reader->env, MF_RULE_FILE_COUNT, 24,
                         "tensor index at %#" PRIx64
                         ", but the file has %" PRIu64 " bytes",
                         header->index_offset, size);
    room = index_room(reader, header) - header->index_offset;
    if (header->tensor_count > room / INDEX_ENTRY)
        return mf_refuse(reader->env, MF_RULE_FILE_COUNT, 8,
                         "the header claims %" PRIu32
                         " tensors, but the %" PRIu64
                         " bytes of the index have room for %" PRIu64,
                         header->tensor_count, room, room / INDEX_ENTRY);
    return MF_OK;
}

/* With the limit, the reader's window does not read beyond the metadata. */
static void go_to_metadata(struct mf_reader *reader,
                           const struct apr_header *header)
{
    mf_reader_seek(reader, header->metadata.offset);
    if (!reader->failed)
        mf_reader_limit(reader,
                        header->metadata.offset + header->metadata.size);
}

/* Some writers set a compression flag and compress nothing.  Metadata begins
 * with '{', compressed data does not. */
static enum mf_status check_compression(struct mf_reader *reader,
                                        struct mf_index *index,
                                        const struct mf_part *part,
                                        const struct apr_header *header)
{
    if (!(header->flags & (APR_LZ4 | APR_ZSTD)))
        return MF_OK;
    go_to_metadata(reader, header);
    if (mf_peek(reader) != '{')
        return mf_refuse(reader->env, MF_RULE_FILE_PACKED, 6,
                         "the file is compressed with %s; decompress it with "
                         "realizar first",
                         header->flags & APR_LZ4 ? "LZ4" : "zstd");
    mf_index_note(index, part->shard, MF_WARNING, MF_RULE_APR_FLAGS, 6,
                  "flags 0x%04x: compressed, but the file is not",
                  header->flags);
    return MF_OK;
}

/* Padding between the sections, which are known to be in order. */
static void set_padding(struct mf_part *part, const struct apr_header *header,
                        uint64_t index_end)
{
    uint64_t metadata_end = header->metadata.offset + header->metadata.size;

    part->padding[0] =
        (struct mf_span){ metadata_end, header->index_offset - metadata_end };
    part->padding[1] =
        (struct mf_span){ index_end, header->data_offset - index_end };
}

static void check_order(struct mf_index *index, struct mf_part *part,
                        const struct apr_header *header, uint64_t index_end,
                        uint64_t size)
{
    uint64_t metadata_end = header->metadata.offset + header->metadata.size;

    if (header->data_offset > size)
        mf_index_note(index, part->shard, MF_ERROR, MF_RULE_APR_SECTIONS, 32,
                      "the data begins at %#" PRIx64
                      ", but the file has %" PRIu64 " bytes",
                      header->data_offset, size);
    else if (header->metadata.offset < APR_HEADER ||
             header->index_offset < metadata_end ||
             header->data_offset < index_end)
        mf_index_note(index, part->shard, MF_ERROR, MF_RULE_APR_SECTIONS, 12,
                      "metadata (%#" PRIx64 " to %#" PRIx64
                      "), index (%#" PRIx64 " to %#" PRIx64
                      ") and data (from %#" PRIx64
                      ") overlap or are out of order",
                      header->metadata.offset, metadata_end,
                      header->index_offset, index_end, header->data_offset);
    else
        set_padding(part, header, index_end);
}

/* The last tensor may be followed by padding, by a footer of 4 bytes, or by
 * both. */
static void check_trailing(struct mf_index *index, struct mf_part *part,
                           uint64_t size)
{
    uint64_t start = part->data_offset, end = 0, padded, rest;

    for (size_t i = part->first; i < index->tensor_count; i++) {
        const struct mf_record *record = &index->tensor[i];

        if (record->offset > size || record->size > size - record->offset)
            return; /* TENSOR-BOUNDS reports it */
        if (record->offset + record->size > end)
            end = record->offset + record->size;
    }
    if (start > size || end > size - start)
        return;
    rest = size - start - end;
    mf_align_up(end, ALIGNMENT, &padded);
    padded -= end;
    part->has_footer = rest == padded + 4 || (rest == 4 && padded != 4);
    part->footer_rule = MF_RULE_APR_FOOTER;
    if (rest == 0 || rest == 4 || rest == padded || rest == padded + 4)
        return;
    mf_index_note(index, part->shard, MF_WARNING, MF_RULE_APR_TRAILING,
                  start + end,
                  "%" PRIu64 " bytes follow the last tensor; only "
                  "padding of %" PRIu64 " and a footer of 4 may",
                  rest, padded);
}

/* realizar's converter from GGUF keeps ggml's order of dimensions. */
static bool is_realizar(const struct mf_index *index,
                        const struct apr_header *header)
{
    static const char type[] = "transformer_lm_q4k";

    if (header->flags & APR_ROW_MAJOR)
        return false;
    for (size_t i = 0; i < index->meta_count; i++) {
        const struct mf_meta *meta = &index->meta[i];

        if (strcmp(meta->key.at, "model_type") == 0)
            return meta->text.size == strlen(type) &&
                   memcmp(meta->text.at, type, strlen(type)) == 0;
    }
    return false;
}

/* Not for realizar's JSON index, which is never padded. */
static void check_alignment(struct mf_index *index, const struct mf_part *part,
                            const struct apr_header *header)
{
    if ((header->metadata.offset | header->index_offset | header->data_offset) %
            ALIGNMENT !=
        0)
        mf_index_note(index, part->shard, MF_WARNING, MF_RULE_APR_ALIGNMENT, 12,
                      "metadata at %#" PRIx64 ", index at %#" PRIx64
                      " and data at %#" PRIx64
                      " do not all start at a multiple of %d",
                      header->metadata.offset, header->index_offset,
                      header->data_offset, ALIGNMENT);
}

static enum mf_status read_index(struct mf_reader *reader,
                                 struct mf_index *index, struct mf_part *part,
                                 const struct apr_header *header)
{
    size_t read;

    if (header->tensor_count == 0 || mf_peek(reader) != '[') {
        check_alignment(index, part, header);
        return mf_apr_read_index(reader, index, part, header->tensor_count);
    }
    index->kind.variant = "json-index";
    index->reversed = false;
    part->alignment = 1;
    if (mf_apr_read_json_index(reader, index, part) != MF_OK)
        return reader->env->error.status;
    read = index->tensor_count - part->first;
    if (read != header->tensor_count)
        mf_index_note(index, part->shard, MF_ERROR, MF_RULE_APR_INDEX_COUNT, 8,
                      "the header claims %" PRIu32
                      " tensors, but the JSON index has %zu",
                      header->tensor_count, read);
    return MF_OK;
}

static enum mf_status read_tensors(struct mf_reader *reader,
                                   struct mf_index *index, struct mf_part *part,
                                   const struct apr_header *header)
{
    mf_reader_limit(reader, UINT64_MAX); /* to the file's end */
    mf_reader_seek(reader, header->index_offset);
    mf_reader_limit(reader, index_room(reader, header));
    if (read_index(reader, index, part, header) != MF_OK)
        return reader->env->error.status;
    check_order(index, part, header, mf_reader_offset(reader),
                reader->source->size);
    check_trailing(index, part, reader->source->size);
    return MF_OK;
}

enum mf_status mf_apr_parse(struct mf_reader *reader, struct mf_index *index,
                            struct mf_part *part)
{
    const uint8_t *at = mf_take(reader, APR_HEADER);
    struct apr_header header;

    if (!at)
        return mf_reader_check(reader, "the header");
    header = mf_apr_header_of(at);
    if (check_header(reader, index, part, at, &header) != MF_OK ||
        check_compression(reader, index, part, &header) != MF_OK ||
        check_sections(reader, &header) != MF_OK)
        return reader->env->error.status;
    part->data_offset = header.data_offset;
    part->mode = header.flags & ~(unsigned)(APR_LZ4 | APR_ZSTD);
    part->alignment = ALIGNMENT;
    go_to_metadata(reader, &header);
    if (mf_apr_read_metadata(reader, index, part, header.metadata) != MF_OK)
        return reader->env->error.status;
    if (is_realizar(index, &header)) {
        index->kind.variant = "realizar";
        index->reversed = true;
    }
    if (index->metadata_only)
        return MF_OK;
    return read_tensors(reader, index, part, &header);
}
