/* SPDX-License-Identifier: MIT
 *
 * special.c - metadata that a GGUF reader itself needs: alignment and shards
 */
#include "gguf/gguf.h"

#define ALIGNMENT_USUAL ((uint64_t)1 << 20) /* a strict reader's largest */

static enum mf_status take_alignment(struct mf_index *index,
                                     struct mf_part *part,
                                     const struct mf_meta *meta,
                                     struct gguf_special *special)
{
    uint64_t value = meta->number.u64;
    bool power = value != 0 && (value & (value - 1)) == 0;

    if (special->aligned)
        return MF_OK; /* twice: the first one counts, see META-DUPLICATE */
    special->aligned = true;
    if (meta->type != MF_VALUE_U32)
        return mf_refuse(index->env, MF_RULE_GGUF_ALIGNMENT, meta->span.offset,
                         "general.alignment is of type %s, u32 is required",
                         mf_value_type_name(meta->type));
    if (!power && (value == 0 || value % 8 != 0))
        return mf_refuse(index->env, MF_RULE_GGUF_ALIGNMENT, meta->span.offset,
                         "general.alignment is %" PRIu64 ", neither a power of "
                         "two nor a multiple of 8",
                         value);
    if (!power || value < 8 || value > ALIGNMENT_USUAL)
        mf_index_note(index, meta->shard, MF_WARNING, MF_RULE_GGUF_ALIGNMENT,
                      meta->span.offset,
                      "general.alignment is %" PRIu64
                      "; not every reader takes less than 8, more than 2^20 "
                      "or what is no power of two",
                      value);
    part->alignment = value;
    return MF_OK;
}

/* split.no or split.count; false where it is no number from 0 on. */
static bool take_split(struct mf_index *index, const struct mf_meta *meta,
                       struct gguf_special *special, uint64_t *out)
{
    special->split_at = meta->span.offset;
    if (mf_meta_unsigned(meta, out))
        return true;
    special->split_noted = true;
    if (mf_meta_is_integer(meta))
        mf_index_note(index, meta->shard, MF_ERROR, MF_RULE_GGUF_SPLIT,
                      meta->span.offset, "%s is %" PRId64 ", no shard is",
                      meta->key.at, meta->number.i64);
    else
        mf_index_note(index, meta->shard, MF_ERROR, MF_RULE_GGUF_SPLIT,
                      meta->span.offset, "%s is of type %s, a number is needed",
                      meta->key.at, mf_value_type_name(meta->type));
    return false;
}

enum mf_status gguf_take_special(struct mf_index *index, struct mf_part *part,
                                 const struct mf_meta *meta,
                                 struct gguf_special *special)
{
    if (mf_str_is(meta->key, "general.alignment"))
        return take_alignment(index, part, meta, special);
    if (mf_str_is(meta->key, "split.no"))
        special->has_number =
            take_split(index, meta, special, &part->split_number);
    else if (mf_str_is(meta->key, "split.count"))
        special->has_count =
            take_split(index, meta, special, &part->split_count);
    else if (mf_str_is(meta->key, "split.tensors.count") &&
             mf_meta_unsigned(meta, &part->split_tensors))
        part->split_at = meta->span.offset;
    return MF_OK;
}

/* A count of 0 is what joining shards leaves behind: like no count at all it
 * says that the file is a whole model, and loaders do not ask for more. */
void gguf_settle_split(struct mf_index *index, struct mf_part *part,
                       const struct gguf_special *special)
{
    uint64_t number = special->has_number ? part->split_number : 0;
    uint64_t count = special->has_count ? part->split_count : 0;

    part->is_split =
        special->has_number && special->has_count && number < count;
    if (count > 1 && !special->has_number && !special->split_noted)
        mf_index_note(index, part->shard, MF_ERROR, MF_RULE_GGUF_SPLIT,
                      special->split_at,
                      "split.count is %" PRIu64
                      ", and there is no split.no: no shard is named",
                      count);
    else if (count > 0 && number >= count)
        mf_index_note(
            index, part->shard, MF_ERROR, MF_RULE_GGUF_SPLIT, special->split_at,
            "split.no %" PRIu64 " and split.count %" PRIu64 " name no shard",
            number, count);
    else if (count == 0 && number > 0 && !special->split_noted)
        mf_index_note(index, part->shard, MF_WARNING, MF_RULE_GGUF_SPLIT,
                      special->split_at,
                      "split.no is %" PRIu64
                      ", and no split.count says of how many: read as a "
                      "whole model",
                      number);
}
