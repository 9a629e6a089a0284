/* SPDX-License-Identifier: MIT
 *
 * write.c - writing an APR header, version 2
 *
 * The header has the offsets of all sections, so the size of the metadata must
 * be known before its first byte: it is written twice, first to be counted.
 */
#include "apr/apr.h"
#include "lib/draft/draft.h"

#define METADATA_AT 64
#define INDEX_ENTRY 20 /* size without name and dimensions */

enum { FLAG_QUANTIZED = 0x20, FLAG_VOCABULARY = 0x200, FLAG_ROW_MAJOR = 0x400 };

/* ---- what APR can store ---- */

static enum mf_status check_tensor(const struct mf_draft *draft,
                                   const struct mf_draft_tensor *tensor)
{
    if (tensor->type_id > UINT8_MAX)
        return mf_fail(
            draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
            "tensor '%s' is JSON, which has no dtype in an APR index",
            mf_quote(tensor->name).text);
    return MF_OK;
}

static bool admits(const struct mf_entry *entry)
{
    return mf_apr_key_takes(entry->key, entry->type);
}

/* The index must be sorted by name; the data is laid out in the same order. */
static bool earlier_name(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_draft_tensor *tensor = table;
    struct mf_str left = tensor[a].name, right = tensor[b].name;
    int order = memcmp(left.at, right.at,
                       left.size < right.size ? left.size : right.size);

    if (order != 0)
        return order < 0;
    return left.size != right.size ? left.size < right.size : a < b;
}

static enum mf_status check(struct mf_draft *draft)
{
    draft->alignment = draft->out->alignment;
    if (draft->version != draft->out->version)
        return mf_fail(draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "only version 2 of APR can be written");
    for (size_t i = 0; i < draft->tensor_count; i++)
        if (check_tensor(draft, &draft->tensor[i]) != MF_OK)
            return draft->env->error.status;
    if (draft->tensor_count > UINT32_MAX)
        return mf_fail(draft->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "%zu tensors exceed the limit of APR",
                       draft->tensor_count);
    return MF_OK;
}

/* ---- metadata ---- */

static enum mf_status put_metadata(const struct mf_draft *draft,
                                   struct mf_sink *sink)
{
    struct mf_json_out json = mf_draft_json(sink);

    mf_json_begin(&json, '{');
    for (size_t i = 0; i < draft->entry_count; i++) {
        const struct mf_entry *entry = &draft->entry[i];

        mf_json_open_string(&json);
        mf_json_piece(&json, entry->key.at, entry->key.size);
        mf_json_close_string(&json, true);
        if (mf_entry_json(draft, entry, &json, sink) != MF_OK)
            return draft->env->error.status;
    }
    mf_json_end(&json, '}');
    /* Trailing white space is part of the metadata: free space for edits. */
    mf_put_filler(sink, ' ', draft->reserve);
    return MF_OK;
}

/* ---- the header ---- */

static bool is_quantized(const struct mf_draft *draft)
{
    for (size_t i = 0; i < draft->tensor_count; i++)
        if (mf_type_is_quantized((enum mf_type)draft->tensor[i].type))
            return true;
    return false;
}

static uint64_t padded(uint64_t size)
{
    return (size + METADATA_AT - 1) / METADATA_AT * METADATA_AT;
}

static uint64_t index_size(const struct mf_draft *draft)
{
    uint64_t size = 0;

    for (size_t i = 0; i < draft->tensor_count; i++)
        size += INDEX_ENTRY + draft->tensor[i].name.size +
                8 * (uint64_t)draft->tensor[i].rank;
    return size;
}

static enum mf_status put_header(const struct mf_draft *draft,
                                 struct mf_sink *sink, uint64_t metadata_size)
{
    unsigned flags = FLAG_ROW_MAJOR | draft->mode;
    uint64_t index_at = METADATA_AT + padded(metadata_size);
    uint64_t data_at = index_at + padded(index_size(draft));
    uint8_t bytes[METADATA_AT] = "APR\0\2";
    uint32_t crc;

    if (metadata_size > UINT32_MAX)
        return mf_fail(draft->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "the metadata would have %" PRIu64
                       " bytes, above the 32-bit limit of APR",
                       metadata_size);
    flags |= is_quantized(draft) ? FLAG_QUANTIZED : 0;
    flags |= mf_draft_find(draft, "tokenizer.vocabulary") ? FLAG_VOCABULARY : 0;
    apr_set(bytes + 6, flags, 2);
    apr_set(bytes + 8, draft->tensor_count, 4);
    apr_set(bytes + 12, METADATA_AT, 8);
    apr_set(bytes + 20, metadata_size, 4);
    apr_set(bytes + 24, index_at, 8);
    apr_set(bytes + 32, data_at, 8);
    crc = mf_crc32(mf_crc32(0, bytes, 40), bytes + 44, 20);
    apr_set(bytes + 40, crc, 4);
    mf_put(sink, bytes, sizeof(bytes));
    return MF_OK;
}

static void put_tensor(const struct mf_draft_tensor *tensor,
                       struct mf_sink *sink)
{
    mf_put_u16(sink, (uint16_t)tensor->name.size);
    mf_put(sink, tensor->name.at, tensor->name.size);
    mf_put_u8(sink, (uint8_t)tensor->type_id);
    mf_put_u8(sink, (uint8_t)tensor->rank);
    for (uint32_t i = 0; i < tensor->rank; i++)
        mf_put_u64(sink, tensor->dim[i]);
    mf_put_u64(sink, tensor->offset);
    mf_put_u64(sink, tensor->size);
}

static enum mf_status head(const struct mf_draft *draft, struct mf_sink *sink)
{
    uint64_t metadata_size;

    if (mf_draft_measure(draft, put_metadata, sink, &metadata_size) != MF_OK ||
        put_header(draft, sink, metadata_size) != MF_OK ||
        mf_draft_put(draft, put_metadata, metadata_size, sink) != MF_OK)
        return draft->env->error.status;
    mf_put_zeros(sink, padded(metadata_size) - metadata_size);
    for (size_t i = 0; i < draft->tensor_count; i++)
        put_tensor(mf_draft_in_order(draft, i), sink);
    mf_put_zeros(sink, padded(index_size(draft)) - index_size(draft));
    sink->end = sink->offset;
    return MF_OK;
}

const struct mf_format_out mf_apr_out = {
    .version = 2,
    .oldest = 2,
    .alignment = 64,
    .pads_last = true,
    .has_crc = true,
    .name_size_max = 256,
    .rank_max = 8,
    .earlier = earlier_name,
    .admits = admits,
    .owns = mf_apr_key_owned,
    .check = check,
    .head = head,
};
