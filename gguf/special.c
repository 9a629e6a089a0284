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
                      "; some readers reject values below 8, above 2^20 "
                      "or not a power of two",
                      value);
    part->alignment = value;
    return MF_OK;
}

enum mf_status mf_gguf_take_special(struct mf_index *index,
                                    struct mf_part *part,
                                    const struct mf_meta *meta,
                                    struct gguf_special *special)
{
    if (mf_str_is(meta->key, "general.alignment"))
        return take_alignment(index, part, meta, special);
    mf_split_key(index, part, meta, &special->split);
    return MF_OK;
}
