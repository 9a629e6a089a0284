/* SPDX-License-Identifier: MIT
 *
 * split_keys.c - the metadata keys by which a shard says which one it is
 */
#include "lib/model/format.h"

#include <inttypes.h>

#include "lib/base/str.h"

/* split.no or split.count; false where it is not a number from 0 up. */
static bool read_number(struct mf_index *index, const struct mf_meta *meta,
                        struct mf_split_keys *keys, uint64_t *out)
{
    keys->at = meta->span.offset;
    if (mf_meta_unsigned(meta, out))
        return true;
    keys->noted = true;
    if (mf_meta_is_integer(meta))
        mf_index_note(index, meta->shard, MF_ERROR, MF_RULE_GGUF_SPLIT,
                      meta->span.offset, "%s is %" PRId64 ", below 0",
                      meta->key.at, meta->number.i64);
    else
        mf_index_note(index, meta->shard, MF_ERROR, MF_RULE_GGUF_SPLIT,
                      meta->span.offset, "%s is of type %s, not an integer",
                      meta->key.at, mf_value_type_name(meta->type));
    return false;
}

void mf_split_key(struct mf_index *index, struct mf_part *part,
                  const struct mf_meta *meta, struct mf_split_keys *keys)
{
    if (mf_str_is(meta->key, "split.no"))
        keys->has_number = read_number(index, meta, keys, &part->split_number);
    else if (mf_str_is(meta->key, "split.count"))
        keys->has_count = read_number(index, meta, keys, &part->split_count);
    else if (mf_str_is(meta->key, "split.tensors.count") &&
             mf_meta_unsigned(meta, &part->split_tensors))
        part->split_at = meta->span.offset;
}

/* Programs that join shards leave a split.count of 0 behind.  Like a missing
 * one it says that the file is a whole model, and loaders look for no more. */
void mf_split_finish(struct mf_index *index, struct mf_part *part,
                     const struct mf_split_keys *keys)
{
    uint64_t number = keys->has_number ? part->split_number : 0;
    uint64_t count = keys->has_count ? part->split_count : 0;

    part->is_split = keys->has_number && keys->has_count && number < count;
    if (count > 1 && !keys->has_number && !keys->noted)
        mf_index_note(
            index, part->shard, MF_ERROR, MF_RULE_GGUF_SPLIT, keys->at,
            "split.count is %" PRIu64 ", but split.no is missing", count);
    else if (count > 0 && number >= count)
        mf_index_note(
            index, part->shard, MF_ERROR, MF_RULE_GGUF_SPLIT, keys->at,
            "split.no %" PRIu64 " is out of range: split.count is %" PRIu64,
            number, count);
    else if (count == 0 && number > 0 && !keys->noted)
        mf_index_note(index, part->shard, MF_WARNING, MF_RULE_GGUF_SPLIT,
                      keys->at,
                      "split.no is %" PRIu64
                      ", but split.count is missing: read as a whole model",
                      number);
}
