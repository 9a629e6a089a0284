/* SPDX-License-Identifier: MIT
 *
 * write.c - a header of the toy format
 */
#include "tests/toy/toy.h"

/* Arrays may not nest. */
static bool admits(const struct mf_entry *entry)
{
    return entry->type != MF_VALUE_ARRAY || entry->of != MF_VALUE_ARRAY;
}

static enum mf_status check(struct mf_draft *draft)
{
    (void)draft; /* it can carry whatever its types and admits() let through */
    return MF_OK;
}

static void put_text(struct mf_sink *sink, struct mf_str text)
{
    mf_put_u64(sink, text.size);
    mf_put(sink, text.at, text.size);
}

struct writing {
    const struct mf_entry *entry;
    struct mf_env *env;
    struct mf_sink *sink;
};

static enum mf_status put_event(void *user, const struct mf_value *value)
{
    const struct writing *writing = user;
    const struct mf_entry *entry = writing->entry;
    bool array = entry->type == MF_VALUE_ARRAY;
    enum mf_value_type type = array ? entry->of : entry->type;
    union mf_number number = { 0 };

    if (value->event != MF_EVENT_ITEM)
        return MF_OK; /* put_entry wrote an array's type and count */
    if (type == MF_VALUE_STRING && array && value->more)
        return mf_fail(writing->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "an element of '%s' is too long",
                       mf_quote(entry->key).text);
    if (type == MF_VALUE_STRING && array) {
        put_text(writing->sink, value->text);
    } else if (type == MF_VALUE_STRING) {
        mf_put(writing->sink, value->text.at, value->text.size);
    } else if (mf_value_as(value, type, &number)) {
        mf_put_u64(writing->sink, number.u64);
    } else {
        return mf_fail(writing->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "'%s' has a value that is not of type %s",
                       mf_quote(entry->key).text, mf_value_type_name(type));
    }
    return MF_OK;
}

static enum mf_status put_entry(const struct mf_draft *draft,
                                const struct mf_entry *entry,
                                struct mf_sink *sink)
{
    struct writing writing = { entry, draft->env, sink };

    put_text(sink, entry->key);
    mf_put_u8(sink, (uint8_t)entry->type);
    if (entry->type == MF_VALUE_ARRAY)
        mf_put_u8(sink, (uint8_t)entry->of);
    if (entry->type == MF_VALUE_ARRAY || entry->type == MF_VALUE_STRING)
        mf_put_u64(sink, entry->count);
    return mf_entry_read(draft->env, entry, put_event, &writing);
}

static void put_tensor(const struct mf_draft_tensor *tensor,
                       struct mf_sink *sink)
{
    put_text(sink, tensor->name);
    mf_put_u8(sink, (uint8_t)tensor->type_id);
    mf_put_u8(sink, (uint8_t)tensor->rank);
    for (uint32_t i = 0; i < tensor->rank; i++)
        mf_put_u64(sink, tensor->dim[i]);
    mf_put_u64(sink, tensor->offset);
    mf_put_u64(sink, tensor->size);
}

static enum mf_status put_lists(const struct mf_draft *draft,
                                struct mf_sink *sink)
{
    for (size_t i = 0; i < draft->entry_count; i++)
        if (put_entry(draft, &draft->entry[i], sink) != MF_OK)
            return draft->env->error.status;
    for (size_t i = 0; i < draft->tensor_count; i++)
        put_tensor(&draft->tensor[i], sink);
    return MF_OK;
}

/* The lists are counted first: where the data begins comes before them. */
static enum mf_status head(const struct mf_draft *draft, struct mf_sink *sink)
{
    struct mf_sink counter;
    uint64_t data_offset;

    mf_sink_init(&counter, draft->env);
    if (put_lists(draft, &counter) != MF_OK)
        return draft->env->error.status;
    if (!mf_align_up(TOY_HEADER_SIZE + counter.offset + draft->reserve,
                     TOY_ALIGNMENT, &data_offset))
        return mf_fail(draft->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "the header is too large");
    mf_put(sink, "TOY!", 4);
    mf_put_u32(sink, draft->version);
    mf_put_u64(sink, draft->entry_count);
    mf_put_u64(sink, draft->tensor_count);
    mf_put_u64(sink, data_offset);
    if (put_lists(draft, sink) != MF_OK)
        return draft->env->error.status;
    sink->end = sink->offset;
    mf_put_zeros(sink, data_offset - sink->offset);
    return MF_OK;
}

const struct mf_format_out toy_out = {
    .version = 1,
    .oldest = 1,
    .alignment = TOY_ALIGNMENT,
    .admits = admits,
    .check = check,
    .head = head,
};
