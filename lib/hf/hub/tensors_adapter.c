/* SPDX-License-Identifier: MIT
 *
 * tensors_adapter.c - an adapter's tensors on the way of its model's
 *
 * Each pair goes through the rows as the matrix that it changes would, and ends
 * as two tensors.  Norms that an adapter has as a whole go first.
 */
#include "lib/base/str.h"
#include "lib/hf/hub/outtype.h"
#include "lib/hf/hub/tensors_work.h"

static const struct mf_record *record_at(const struct mf_lora *lora, uint32_t i)
{
    return &lora->model->index.tensor[i];
}

/* The nth tensor in the order of the data. */
static uint32_t nth(const struct mf_lora *lora, size_t n)
{
    const struct mf_index *index = &lora->model->index;

    return index->by_offset ? index->by_offset[n] : (uint32_t)n;
}

static enum mf_status choose_type(struct mf_tensor_work *work)
{
    const struct mf_lora *lora = work->hub->adapter;
    bool known = work->hub->typed;

    if (!known)
        work->hub->type = MF_TYPE_F16;
    for (size_t i = 0; !known && i < lora->model->index.tensor_count; i++) {
        const struct mf_record *record = record_at(lora, nth(lora, i));

        known = mf_outtype_guess((enum mf_type)record->type, record->rank,
                                 &work->hub->type);
    }
    return MF_OK;
}

static enum mf_status refuse(struct mf_tensor_work *work,
                             const struct mf_record *record)
{
    struct mf_str name = { record->name, record->name_size };
    bool tokens = mf_str_holds(name, ".embed_tokens.weight") ||
                  mf_str_holds(name, ".lm_head.weight");

    return mf_fail(work->env, MF_ERR_UNSUPPORTED, record->entry,
                   "the adapter has tensor '%s', which is not half of a "
                   "pair%s",
                   mf_record_name(record).text,
                   tokens ? ": new tokens were trained, which an adapter in "
                            "GGUF cannot have"
                          : "");
}

/* Norms are kept, what the model has itself is passed over. */
static enum mf_status convert_whole(struct mf_tensor_work *work, uint32_t i)
{
    struct mf_lora *lora = work->hub->adapter;
    const struct mf_record *record = record_at(lora, i);
    struct mf_str name = { record->name, record->name_size };
    const struct mf_derived *node;

    if (lora->adapter.entry[i].part == MF_ADAPTER_BASE)
        return MF_OK;
    if (!mf_str_holds(name, "_layernorm") && !mf_str_holds(name, ".norm"))
        return refuse(work, record);
    node = mf_derive_tensor(&work->derive, lora->model, i);
    return node ? mf_tensor_flow(work, work->rows.first, &work->name, node)
                : mf_work_failed(work);
}

static enum mf_status convert_pair(struct mf_tensor_work *work, uint32_t i)
{
    struct mf_lora *lora = work->hub->adapter;
    size_t before = work->hub->draft->tensor_count;
    const struct mf_derived *a, *b, *pair;
    bool head = mf_str_is(mf_tensor_name_text(&work->name), "lm_head.weight");

    if (lora->adapter.entry[i].used)
        return MF_OK;
    if (mf_lora_pair(lora, &work->derive, i, &a, &b) != MF_OK)
        return mf_work_failed(work);
    pair = mf_derive_lowrank(&work->derive, NULL, a, b, 1);
    if (!pair ||
        mf_tensor_flow(work, work->rows.first, &work->name, pair) != MF_OK)
        return mf_work_failed(work);
    if (head && work->hub->draft->tensor_count == before)
        return mf_fail(work->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "the adapter changes 'lm_head.weight', which the model "
                       "does not have: its output is its embedding");
    return MF_OK;
}

static enum mf_status convert(struct mf_tensor_work *work, bool pairs)
{
    struct mf_lora *lora = work->hub->adapter;
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < lora->model->index.tensor_count && status == MF_OK;
         i++) {
        uint32_t at = nth(lora, i);
        const struct mf_adapter_entry *entry = &lora->adapter.entry[at];
        struct mf_record named = { .name = entry->name.at,
                                   .name_size = (uint16_t)entry->name.size };
        bool skipped;

        if (pairs !=
            (entry->part == MF_ADAPTER_A || entry->part == MF_ADAPTER_B))
            continue;
        status = mf_tensor_filter(work, &named, &skipped);
        work->derive.name = mf_tensor_name_text(&work->name);
        if (status == MF_OK && !skipped)
            status = pairs ? convert_pair(work, at) : convert_whole(work, at);
    }
    return status;
}

enum mf_status mf_tensor_convert_adapter(struct mf_tensor_work *work)
{
    enum mf_status status = choose_type(work);

    work->pass = MF_ROW_TENSOR;
    if (status == MF_OK)
        status = convert(work, false);
    if (status == MF_OK)
        status = convert(work, true);
    return status == MF_OK ? mf_group_check(work) : status;
}
