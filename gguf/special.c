/* SPDX-License-Identifier: MIT
 *
 * special.c - metadata keys that parsing itself needs: alignment and shards
 */
#include "gguf/gguf.h"

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
