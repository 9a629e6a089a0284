/* SPDX-License-Identifier: MIT
 *
 * lengths.c - the lengths that tensor shapes are made of
 */
#include "lib/check/lengths.h"
#include "lib/model/facts.h"

/* Arithmetic in which 0 is unknown: unknown or too large gives unknown. */
static uint64_t multiply(uint64_t a, uint64_t b)
{
    uint64_t result;

    return mf_mul(a, b, &result) ? result : 0;
}

static uint64_t add(uint64_t a, uint64_t b)
{
    uint64_t result;

    return a > 0 && b > 0 && mf_add(a, b, &result) ? result : 0;
}

static uint64_t divide(uint64_t a, uint64_t b)
{
    return b > 0 ? a / b : 0;
}

/* False if the metadata lacks the fact.  *out is 0 if its value is not one
 * number but, say, one for each block. */
static bool read_length(const struct mf_model *model, int fact, uint64_t *out)
{
    struct mf_meta meta;

    *out = 0;
    if (!mf_model_detail(model, fact, &meta, NULL))
        return false;
    if (fact == MF_FACT_VOCAB_SIZE && meta.type == MF_VALUE_ARRAY)
        *out = meta.count;
    else if (!mf_meta_unsigned(&meta, out))
        *out = 0;
    return true;
}

static uint64_t length_of(const struct mf_model *model, int fact)
{
    uint64_t value;

    read_length(model, fact, &value);
    return value;
}

static bool item_value(const struct mf_value *value, uint64_t *out)
{
    const struct mf_meta meta = { .type = value->type,
                                  .number = value->number };

    return value->event == MF_EVENT_ITEM && mf_meta_unsigned(&meta, out);
}

/* Reads the array at index `at` of the metadata: count numbers into out, 0 for
 * elements that are missing or are not natural numbers. */
static enum mf_status read_each(struct mf_model *model, size_t at,
                                uint64_t *out, uint64_t count)
{
    struct mf_values *values;
    struct mf_value value;
    enum mf_status status = mf_values_open(model, at, &values);
    uint64_t row = 0;

    if (status != MF_OK)
        return status;
    status = mf_values_next(values, &value); /* the array's BEGIN */
    while (status == MF_OK && row < count) {
        status = mf_values_next(values, &value);
        if (value.event == MF_EVENT_DONE || value.event == MF_EVENT_END)
            break;
        if (!item_value(&value, &out[row]))
            out[row] = 0;
        row++;
    }
    for (; row < count; row++)
        out[row] = 0;
    mf_values_close(values);
    return status;
}

/* Values per block are read only if there are as many as blocks, as readers
 * require, and no more blocks than tensors: a block count alone must not
 * reserve memory. */
static enum mf_status init_by_block(struct mf_model *model, int fact,
                                    uint64_t blocks, struct mf_by_block *out)
{
    struct mf_meta meta;
    uint64_t *each;
    size_t at;

    out->all = length_of(model, fact);
    out->each = NULL;
    if (!mf_model_detail(model, fact, &meta, &at) ||
        meta.type != MF_VALUE_ARRAY || meta.count != blocks ||
        blocks > MF_BLOCKS_MAX || blocks > model->index.tensor_count)
        return MF_OK;
    each = mf_arena_take(&model->index.arena, (size_t)blocks * sizeof(*each));
    if (!each)
        return model->env->error.status;
    out->each = each;
    return read_each(model, at, each, blocks);
}

static uint64_t of_block(const struct mf_by_block *fact, uint64_t block,
                         uint64_t blocks)
{
    if (fact->each)
        return block < blocks ? fact->each[block] : 0;
    return fact->all;
}

static void init_attention(const struct mf_model *model,
                           struct mf_lengths *lengths)
{
    uint64_t *of = lengths->of, turn = length_of(model, MF_DETAIL_ROPE);
    uint64_t key, value;

    /* With compressed keys and values (MLA), the plain lengths are those of the
     * cache. */
    if (!read_length(model, MF_DETAIL_KEY_LENGTH_MLA, &key) &&
        !read_length(model, MF_FACT_KEY_LENGTH, &key))
        key = divide(of[MF_LENGTH_EMBED], lengths->heads.all);
    if (!read_length(model, MF_DETAIL_VALUE_LENGTH_MLA, &value) &&
        !read_length(model, MF_FACT_VALUE_LENGTH, &value))
        value = key;
    lengths->key = key;
    lengths->value = value;
    of[MF_LENGTH_HEAD] = key;
    of[MF_LENGTH_TURN] = (turn > 0 ? turn : key) / 2;
    of[MF_LENGTH_STILL] = turn > 0 && key > turn ? key - turn : 0;
    of[MF_LENGTH_RANK_Q] = length_of(model, MF_DETAIL_Q_LORA_RANK);
    of[MF_LENGTH_RANK_KV] = length_of(model, MF_DETAIL_KV_LORA_RANK);
    of[MF_LENGTH_KV_A] = add(of[MF_LENGTH_RANK_KV], turn);
}

static void init_state_space(const struct mf_model *model, uint64_t *of)
{
    of[MF_LENGTH_INNER] = length_of(model, MF_DETAIL_SSM_INNER_SIZE);
    of[MF_LENGTH_INNER_2] = multiply(of[MF_LENGTH_INNER], 2);
    of[MF_LENGTH_STATE] = length_of(model, MF_DETAIL_SSM_STATE_SIZE);
    of[MF_LENGTH_CONV] = length_of(model, MF_DETAIL_SSM_CONV_KERNEL);
    of[MF_LENGTH_STEP] = length_of(model, MF_DETAIL_SSM_STEP_RANK);
    of[MF_LENGTH_STEP_STATE] =
        add(of[MF_LENGTH_STEP], multiply(of[MF_LENGTH_STATE], 2));
}

enum mf_status mf_lengths_init(struct mf_model *model,
                               struct mf_lengths *lengths)
{
    uint64_t *of = lengths->of;
    struct mf_meta meta;
    enum mf_status status;

    *lengths = (struct mf_lengths){ .of = { [MF_LENGTH_ONE] = 1 } };
    lengths->blocks = length_of(model, MF_FACT_BLOCK_COUNT);
    lengths->predicted = length_of(model, MF_DETAIL_PREDICT_LAYERS);
    status = init_by_block(model, MF_FACT_HEAD_COUNT, lengths->blocks,
                           &lengths->heads);
    if (status == MF_OK)
        status = init_by_block(model, MF_FACT_HEAD_COUNT_KV, lengths->blocks,
                               &lengths->heads_kv);
    if (status == MF_OK)
        status = init_by_block(model, MF_FACT_FEED_FORWARD_LENGTH,
                               lengths->blocks, &lengths->feed);
    /* Without a count of their own there are as many as query heads. */
    if (!mf_model_detail(model, MF_FACT_HEAD_COUNT_KV, &meta, NULL))
        lengths->heads_kv = lengths->heads;
    of[MF_LENGTH_EMBED] = length_of(model, MF_FACT_EMBEDDING_LENGTH);
    of[MF_LENGTH_VOCAB] = length_of(model, MF_FACT_VOCAB_SIZE);
    of[MF_LENGTH_CONTEXT] = length_of(model, MF_FACT_CONTEXT_LENGTH);
    of[MF_LENGTH_EXPERTS] = length_of(model, MF_DETAIL_EXPERT_COUNT);
    lengths->experts_used = length_of(model, MF_DETAIL_EXPERT_USED_COUNT);
    lengths->has_expert =
        read_length(model, MF_DETAIL_EXPERT_LENGTH, &lengths->expert);
    if (!read_length(model, MF_DETAIL_SHARED_LENGTH, &of[MF_LENGTH_SHARED]))
        of[MF_LENGTH_SHARED] =
            multiply(lengths->expert, length_of(model, MF_DETAIL_SHARED_COUNT));
    init_attention(model, lengths);
    init_state_space(model, of);
    mf_lengths_set_block(lengths, 0);
    return status;
}

static void set_feed_forward(struct mf_lengths *lengths, uint64_t feed)
{
    uint64_t *of = lengths->of;
    uint64_t slice = divide(feed, lengths->experts_used);

    of[MF_LENGTH_FEED] = feed;
    of[MF_LENGTH_FEED_2] = multiply(feed, 2);
    of[MF_LENGTH_FEED_HALF] = feed / 2;
    of[MF_LENGTH_EXPERT] = lengths->has_expert ? lengths->expert : feed;
    of[MF_LENGTH_EXPERT_2] = multiply(of[MF_LENGTH_EXPERT], 2);
    of[MF_LENGTH_SLICE] = lengths->has_expert ? lengths->expert : slice;
    of[MF_LENGTH_SLICE_2] = multiply(of[MF_LENGTH_SLICE], 2);
}

void mf_lengths_set_block(struct mf_lengths *lengths, uint64_t block)
{
    uint64_t heads = of_block(&lengths->heads, block, lengths->blocks);
    uint64_t heads_kv = of_block(&lengths->heads_kv, block, lengths->blocks);
    uint64_t *of = lengths->of;

    lengths->block = block;
    set_feed_forward(lengths, of_block(&lengths->feed, block, lengths->blocks));
    of[MF_LENGTH_HEADS] = heads;
    of[MF_LENGTH_HEADS_KV] = heads_kv;
    of[MF_LENGTH_Q] = multiply(heads, lengths->key);
    of[MF_LENGTH_K] = multiply(heads_kv, lengths->key);
    of[MF_LENGTH_V] = multiply(heads_kv, lengths->value);
    of[MF_LENGTH_QKV] =
        add(add(of[MF_LENGTH_Q], of[MF_LENGTH_K]), of[MF_LENGTH_V]);
    of[MF_LENGTH_OUT] = multiply(heads, lengths->value);
    of[MF_LENGTH_KV_B] =
        multiply(heads, add(of[MF_LENGTH_STILL], lengths->value));
}
