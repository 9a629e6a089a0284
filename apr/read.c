/* SPDX-License-Identifier: MIT
 *
 * read.c - an APR version 2 file: header, metadata, tensor index
 */
#include "apr/apr.h"

#define ALIGNMENT   64
#define INDEX_ENTRY 20 /* bytes of the smallest: no name, no dimension */

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
                         ", its bytes give %08" PRIx32,
                         header->checksum, crc);
    if (header->flags & APR_COLUMN_MAJOR)
        return mf_refuse(reader->env, MF_RULE_APR_FLAGS, 6,
                         "flags 0x%04x say column-major, which APR forbids",
                         header->flags);
    if (header->flags & APR_ENCRYPTED)
        return mf_refuse(reader->env, MF_RULE_FILE_PACKED, 6,
                         "flags 0x%04x say encrypted, for which APR version 2 "
                         "has no layout",
                         header->flags);
    if (header->major != 2 || header->minor != 0)
        mf_index_note(index, part->shard, MF_WARNING, MF_RULE_APR_VERSION, 4,
                      "version %u.%u, only 2.0 is known", header->major,
                      header->minor);
    if (header->flags & (APR_UNDEFINED | APR_SIGNED))
        mf_index_note(index, part->shard, MF_WARNING, MF_RULE_APR_FLAGS, 6,
                      "flags 0x%04x hold %s", header->flags,
                      header->flags & APR_UNDEFINED
                          ? "bits that are not defined"
                          : "'signed', whose layout is unknown");
    if (header->reserved)
        mf_index_note(index, part->shard, MF_WARNING, MF_RULE_APR_RESERVED, 44,
                      "the reserved bytes are not all zero");
    return MF_OK;
}

/* The part of the file that may hold the index: up to the data, where that
 * lies behind it. */
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
                         " bytes, the file has %" PRIu64,
                         header->metadata.offset, header->metadata.size, size);
    if (header->index_offset > size)
        return mf_refuse(reader->env, MF_RULE_FILE_COUNT, 24,
                         "tensor index at %#" PRIx64 ", the file has %" PRIu64
                         " bytes",
                         header->index_offset, size);
    room = index_room(reader, header) - header->index_offset;
    if (header->tensor_count > room / INDEX_ENTRY)
        return mf_refuse(reader->env, MF_RULE_FILE_COUNT, 8,
                         "%" PRIu32 " tensors claimed, the %" PRIu64
                         " bytes of the index hold at most %" PRIu64,
                         header->tensor_count, room, room / INDEX_ENTRY);
    return MF_OK;
}

/* Limited to the metadata, the window brings nothing else. */
static void go_to_metadata(struct mf_reader *reader,
                           const struct apr_header *header)
{
    mf_reader_seek(reader, header->metadata.offset);
    if (!reader->failed)
        mf_reader_limit(reader,
                        header->metadata.offset + header->metadata.size);
}

/* The metadata begins with '{' unless everything after the header is
 * compressed: then this is a byte of something else, and the offsets are those
 * of the file that it becomes, so this comes before they are looked at. */
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
                         "the file is compressed with %s; unpack it with "
                         "realizar first",
                         header->flags & APR_LZ4 ? "LZ4" : "zstd");
    mf_index_note(index, part->shard, MF_WARNING, MF_RULE_APR_FLAGS, 6,
                  "flags 0x%04x say compressed, nothing is", header->flags);
    return MF_OK;
}

/* What the sections, which are in order, leave free between them. */
static void set_room(struct mf_part *part, const struct apr_header *header,
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
                      "the data begins at %#" PRIx64 ", the file has %" PRIu64
                      " bytes",
                      header->data_offset, size);
    else if (header->metadata.offset < APR_HEADER ||
             header->index_offset < metadata_end ||
             header->data_offset < index_end)
        mf_index_note(index, part->shard, MF_ERROR, MF_RULE_APR_SECTIONS, 12,
                      "metadata %#" PRIx64 " to %#" PRIx64 ", index %#" PRIx64
                      " to %#" PRIx64 " and data from %#" PRIx64
                      " on overlap or are out of order",
                      header->metadata.offset, metadata_end,
                      header->index_offset, index_end, header->data_offset);
    else
        set_room(part, header, index_end);
}

/* After the last tensor, padded or not, comes a footer of 4 bytes or
 * nothing. */
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
                  "%" PRIu64 " bytes follow the last tensor, where "
                  "padding of %" PRIu64 " and a footer of 4 may",
                  rest, padded);
}

/* realizar's converter from GGUF leaves ggml's order of dimensions. */
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

/* realizar's JSON index is not padded, nor is the data after it. */
static void check_alignment(struct mf_index *index, const struct mf_part *part,
                            const struct apr_header *header)
{
    if ((header->metadata.offset | header->index_offset | header->data_offset) %
            ALIGNMENT !=
        0)
        mf_index_note(index, part->shard, MF_WARNING, MF_RULE_APR_ALIGNMENT, 12,
                      "metadata at %#" PRIx64 ", index at %#" PRIx64
                      " and data at %#" PRIx64
                      " do not all start on a multiple of %d",
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
                      "%" PRIu32 " tensors claimed, the JSON index lists %zu",
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
