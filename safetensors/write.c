/* SPDX-License-Identifier: MIT
 *
 * write.c - writing a safetensors header
 *
 * Metadata values must be strings.  Any other value is written as JSON in a
 * string, and its key gets its type, as in "llama.block_count:u32".
 *
 * The header's size comes first, so the header is written twice: first to be
 * counted.
 */
#include "lib/draft/draft.h"
#include "safetensors/safetensors.h"

/* The data begins at a multiple of this. */
#define HEADER_ALIGNMENT 8

/* ---- what safetensors can store ---- */

static enum mf_status check_tensor(const struct mf_draft *draft,
                                   const struct mf_draft_tensor *tensor)
{
    static const char reserved[] = "__metadata__";

    if (tensor->name.size != strlen(reserved) ||
        memcmp(tensor->name.at, reserved, tensor->name.size) != 0)
        return MF_OK;
    return mf_fail(draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "a tensor in safetensors cannot be named '%s', which is "
                   "the key of the metadata",
                   reserved);
}

/* Padding is not allowed.  With the largest elements first, all are aligned. */
static bool larger_elements(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_draft_tensor *tensor = table;
    unsigned left = mf_types[tensor[a].type].bytes;
    unsigned right = mf_types[tensor[b].type].bytes;

    return left != right ? left > right : a < b;
}

static enum mf_status check(struct mf_draft *draft)
{
    draft->alignment = 1;
    for (size_t i = 0; i < draft->tensor_count; i++)
        if (check_tensor(draft, &draft->tensor[i]) != MF_OK)
            return draft->env->error.status;
    return MF_OK;
}

/* ---- the header ---- */

/* Writes JSON into a string of other JSON. */
static void put_quoted(void *user, const char *at, size_t size)
{
    mf_json_piece(user, at, size);
}

static void put_text(struct mf_json_out *json, struct mf_str text, bool key)
{
    mf_json_open_string(json);
    mf_json_piece(json, text.at, text.size);
    mf_json_close_string(json, key);
}

static enum mf_status put_entry(const struct mf_draft *draft,
                                const struct mf_entry *entry,
                                struct mf_json_out *json, struct mf_sink *sink)
{
    struct mf_json_out quoted = { .write = put_quoted, .user = json };
    enum mf_status status;

    put_text(json, entry->key, true);
    if (entry->type == MF_VALUE_STRING)
        return mf_entry_json(draft, entry, json, sink);
    mf_json_open_string(json);
    status = mf_entry_json(draft, entry, &quoted, NULL);
    mf_json_close_string(json, false);
    return status;
}

static void put_tensor(const struct mf_draft_tensor *tensor,
                       struct mf_json_out *json)
{
    put_text(json, tensor->name, true);
    mf_json_begin(json, '{');
    mf_json_key(json, "dtype");
    mf_json_string(json, mf_safetensors_dtype(tensor->type),
                   strlen(mf_safetensors_dtype(tensor->type)));
    mf_json_key(json, "shape");
    mf_json_begin(json, '[');
    for (uint32_t i = 0; i < tensor->rank; i++)
        mf_json_u64(json, tensor->dim[i]);
    mf_json_end(json, ']');
    mf_json_key(json, "data_offsets");
    mf_json_begin(json, '[');
    mf_json_u64(json, tensor->offset);
    mf_json_u64(json, tensor->offset + tensor->size);
    mf_json_end(json, ']');
    mf_json_end(json, '}');
}

static enum mf_status put_object(const struct mf_draft *draft,
                                 struct mf_sink *sink)
{
    struct mf_json_out json = mf_draft_json(sink);
    enum mf_status status = MF_OK;

    mf_json_begin(&json, '{');
    if (draft->entry_count > 0) {
        mf_json_key(&json, "__metadata__");
        mf_json_begin(&json, '{');
        for (size_t i = 0; i < draft->entry_count && status == MF_OK; i++)
            status = put_entry(draft, &draft->entry[i], &json, sink);
        mf_json_end(&json, '}');
    }
    for (size_t i = 0; i < draft->tensor_count; i++)
        put_tensor(mf_draft_in_order(draft, i), &json);
    mf_json_end(&json, '}');
    return status;
}

static enum mf_status head(const struct mf_draft *draft, struct mf_sink *sink)
{
    uint64_t written, size, over;

    if (mf_draft_measure(draft, put_object, sink, &written) != MF_OK)
        return draft->env->error.status;
    size = written + draft->reserve;
    over = size % HEADER_ALIGNMENT;
    size += over > 0 ? HEADER_ALIGNMENT - over : 0;
    if (size > ST_HEADER_MAX)
        return mf_fail(draft->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "the header would have %" PRIu64
                       " bytes, the limit is %" PRIu64,
                       size, ST_HEADER_MAX);
    mf_put_u64(sink, size);
    if (mf_draft_put(draft, put_object, written, sink) != MF_OK)
        return draft->env->error.status;
    mf_put_filler(sink, ' ', size - written);
    sink->end = sink->offset;
    return MF_OK;
}

const struct mf_format_out mf_safetensors_out = {
    .version = 0,
    .alignment = 1,
    .earlier = larger_elements,
    .check = check,
    .head = head,
};
