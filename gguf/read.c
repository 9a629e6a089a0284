/* SPDX-License-Identifier: MIT
 *
 * read.c - a GGUF header: counts, metadata, tensor infos, start of the data
 */
#include "gguf/gguf.h"

/* A count is invalid if that many entries of the smallest size would not fit
 * in the rest of the file: no memory is allocated for it. */
static enum mf_status check_count(struct mf_reader *reader, const char *what,
                                  uint64_t count, uint64_t entry_size)
{
    uint64_t left = mf_reader_left(reader);

    if (count <= left / entry_size)
        return MF_OK;
    return mf_refuse(reader->env, MF_RULE_FILE_COUNT, mf_reader_offset(reader),
                     "the header claims %" PRIu64 " %s of at least %" PRIu64
                     " bytes each, but only %" PRIu64 " bytes are left",
                     count, what, entry_size, left);
}

/* The data begins after the infos, at the next multiple of the alignment. */
static enum mf_status place_data(struct mf_reader *reader, struct mf_part *part)
{
    uint64_t end = mf_reader_offset(reader);

    if (!mf_align_up(end, part->alignment, &part->data_offset))
        return mf_refuse(reader->env, MF_RULE_GGUF_ALIGNMENT, end,
                         "no multiple of the alignment %" PRIu64
                         " follows offset %" PRIu64 ": the data has no place",
                         part->alignment, end);
    if (part->data_offset <= reader->source->size)
        part->padding[0] = (struct mf_span){ end, part->data_offset - end };
    return MF_OK;
}

enum mf_status mf_gguf_parse(struct mf_reader *reader, struct mf_index *index,
                             struct mf_part *part)
{
    uint32_t version = index->kind.version;
    uint64_t tensors, entries, size = mf_gguf_count_size(version);

    reader->big_endian = index->kind.byte_order == MF_BIG_ENDIAN;
    mf_skip(reader, 8); /* magic and version: see probe */
    tensors = mf_gguf_take_count(reader, version);
    entries = mf_gguf_take_count(reader, version);
    if (mf_reader_check(reader, "the header") != MF_OK)
        return reader->env->error.status;
    if (reader->big_endian && version < 3)
        mf_index_note(
            index, part->shard, MF_ERROR_ELSEWHERE, MF_RULE_GGUF_ENDIAN, 4,
            "version %u is big-endian, but only version 3 allows that",
            version);
    /* Smallest sizes.  An entry: a key's length, a key of one byte, a type, a
     * value of one byte.  An info: a name's length, a rank, a type, an offset.
     */
    if (check_count(reader, "metadata keys", entries, size + 1 + 4 + 1) !=
            MF_OK ||
        check_count(reader, "tensors", tensors, size + 4 + 4 + 8) != MF_OK ||
        mf_gguf_read_meta(reader, index, part, entries) != MF_OK)
        return reader->env->error.status;
    if (index->metadata_only)
        return MF_OK;
    if (mf_gguf_read_tensors(reader, index, part, tensors) != MF_OK)
        return reader->env->error.status;
    return place_data(reader, part);
}

/* ---- metadata keys that parsing itself needs: alignment and shards ---- */

#define ALIGNMENT_USUAL ((uint64_t)1 << 20) /* limit of strict readers */

static enum mf_status apply_alignment(struct mf_index *index,
                                      struct mf_part *part,
                                      const struct mf_meta *meta,
                                      struct gguf_special *special)
{
    uint64_t value = meta->number.u64;
    bool power = value != 0 && (value & (value - 1)) == 0;

    if (special->aligned)
        return MF_OK; /* a duplicate (META-DUPLICATE): the first one counts */
    special->aligned = true;
    if (meta->type != MF_VALUE_U32)
        return mf_refuse(index->env, MF_RULE_GGUF_ALIGNMENT, meta->span.offset,
                         "general.alignment is of type %s, must be u32",
                         mf_value_type_name(meta->type));
    if (!power && (value == 0 || value % 8 != 0))
        return mf_refuse(index->env, MF_RULE_GGUF_ALIGNMENT, meta->span.offset,
                         "general.alignment is %" PRIu64 ", must be a power of "
                         "two or a multiple of 8",
                         value);
    if (!power)
        mf_index_note(index, meta->shard, MF_ERROR_ELSEWHERE,
                      MF_RULE_GGUF_ALIGNMENT, meta->span.offset,
                      "general.alignment is %" PRIu64
                      ", not a power of two as llama.cpp requires",
                      value);
    else if (value < 8 || value > ALIGNMENT_USUAL)
        mf_index_note(index, meta->shard, MF_WARNING, MF_RULE_GGUF_ALIGNMENT,
                      meta->span.offset,
                      "general.alignment is %" PRIu64
                      "; some readers reject values below 8 or above 2^20",
                      value);
    part->alignment = value;
    return MF_OK;
}

enum mf_status mf_gguf_apply_special(struct mf_index *index,
                                     struct mf_part *part,
                                     const struct mf_meta *meta,
                                     struct gguf_special *special)
{
    if (mf_str_is(meta->key, "general.alignment"))
        return apply_alignment(index, part, meta, special);
    mf_split_key(index, part, meta, &special->split);
    return MF_OK;
}
