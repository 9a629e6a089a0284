/* SPDX-License-Identifier: MIT
 *
 * architecture.c - a model compared with the table of its architecture
 *
 * Findings are warnings: a table cannot be certain about a model that was
 * designed yesterday.  Nothing is reported for a file whose metadata or tensors
 * do not show what it is.
 */
#include "lib/check/check.h"

#include <string.h>

#include "lib/base/str.h"
#include "lib/check/tensor_shapes.h"
#include "lib/model/facts.h"

/* ---- metadata ---- */

/* Whether the format has a key for the fact. */
static bool has_key(const struct mf_format *format, int fact)
{
    for (const struct mf_fact_row *row = format->facts; row && row->key; row++)
        if (row->fact == fact)
            return true;
    return false;
}

/* Values that may differ from block to block. */
static bool may_be_array(int fact)
{
    return fact == MF_FACT_HEAD_COUNT || fact == MF_FACT_HEAD_COUNT_KV ||
           fact == MF_FACT_FEED_FORWARD_LENGTH;
}

static void note_type(struct mf_index *index, const struct mf_meta *meta)
{
    mf_index_note(index, meta->shard, MF_WARNING, MF_RULE_MODEL_KEY,
                  meta->span.offset, "'%s' is of type %s; expected a number",
                  mf_quote(meta->key).text, mf_value_type_name(meta->type));
}

/* The value has the right type; a length or count must be positive. */
static void check_number(struct mf_index *index, int fact,
                         const struct mf_meta *meta)
{
    enum mf_rule rule =
        fact == MF_FACT_BLOCK_COUNT ? MF_RULE_MODEL_BLOCKS : MF_RULE_MODEL_KEY;
    uint64_t value;

    if (meta->type == MF_VALUE_ARRAY) {
        if (!may_be_array(fact))
            note_type(index, meta);
        return;
    }
    if (meta->type == MF_VALUE_F32 || meta->type == MF_VALUE_F64 ||
        fact == MF_FACT_HEAD_COUNT) /* see check_heads */
        return;
    if (!mf_meta_unsigned(meta, &value))
        mf_index_note(index, meta->shard, MF_WARNING, rule, meta->span.offset,
                      "'%s' is %" PRId64 "; it must be greater than 0",
                      mf_quote(meta->key).text, meta->number.i64);
    else if (value == 0)
        mf_index_note(index, meta->shard, MF_WARNING, rule, meta->span.offset,
                      "'%s' is 0; it must be greater than 0",
                      mf_quote(meta->key).text);
}

static void check_keys(struct mf_model *model, const struct mf_family *family)
{
    struct mf_meta meta;

    for (int fact = 0; fact < MF_DETAIL_COUNT; fact++) {
        if (!(family->keys >> fact & 1) || !has_key(model->format, fact))
            continue;
        if (mf_model_detail(model, fact, &meta, NULL))
            check_number(&model->index, fact, &meta);
        else if (mf_model_detail_any(model, fact, &meta))
            note_type(&model->index, &meta);
        else
            mf_index_note(&model->index, 0, MF_WARNING, MF_RULE_MODEL_KEY,
                          MF_NO_OFFSET, "missing key '%s'",
                          mf_detail_key(model, fact).text);
    }
}

/* Readers require one value per block. */
static void check_arrays(struct mf_model *model,
                         const struct mf_lengths *lengths)
{
    struct mf_meta meta;

    for (int fact = 0; fact < MF_FACT_COUNT; fact++)
        if (may_be_array(fact) && mf_model_detail(model, fact, &meta, NULL) &&
            meta.type == MF_VALUE_ARRAY && meta.count != lengths->blocks)
            mf_index_note(&model->index, 0, MF_WARNING, MF_RULE_MODEL_BLOCKS,
                          meta.span.offset,
                          "'%s' has %" PRIu64 " values, but the block count "
                          "is %" PRIu64,
                          mf_quote(meta.key).text, meta.count, lengths->blocks);
}

/* The offset of the block count in the file. */
static uint64_t block_count_at(const struct mf_model *model)
{
    struct mf_meta meta;

    return mf_model_fact(model, MF_FACT_BLOCK_COUNT, &meta, NULL)
               ? meta.span.offset
               : MF_NO_OFFSET;
}

static void check_block_count(struct mf_model *model,
                              const struct mf_lengths *lengths)
{
    bool is_gguf = model->format->naming == MF_NAMING_GGUF;

    if (lengths->blocks > MF_BLOCKS_MAX)
        mf_index_note(&model->index, 0, is_gguf ? MF_ERROR : MF_WARNING,
                      MF_RULE_MODEL_BLOCKS, block_count_at(model),
                      "block count %" PRIu64 " is too large (at most %d)",
                      lengths->blocks, MF_BLOCKS_MAX);
}

static void check_heads(struct mf_model *model,
                        const struct mf_lengths *lengths)
{
    uint64_t heads = lengths->heads.all, heads_kv = lengths->heads_kv.all;
    uint64_t embedding = lengths->of[MF_LENGTH_EMBED];
    struct mf_meta meta, length;

    if (!mf_model_fact(model, MF_FACT_HEAD_COUNT, &meta, NULL) ||
        meta.type == MF_VALUE_ARRAY)
        return;
    if (heads == 0)
        mf_index_note(&model->index, 0, MF_WARNING, MF_RULE_MODEL_HEADS,
                      meta.span.offset, "head_count is 0");
    else if (heads_kv > 0 && heads % heads_kv != 0)
        mf_index_note(&model->index, 0, MF_WARNING, MF_RULE_MODEL_HEADS,
                      meta.span.offset,
                      "head_count %" PRIu64
                      " is not a multiple of head_count_kv %" PRIu64,
                      heads, heads_kv);
    else if (mf_model_fact(model, MF_FACT_HEAD_COUNT_KV, &length, NULL) &&
             length.type != MF_VALUE_ARRAY && heads_kv == 0)
        mf_index_note(&model->index, 0, MF_WARNING, MF_RULE_MODEL_HEADS,
                      length.span.offset,
                      "head_count is %" PRIu64 ", but head_count_kv is 0",
                      heads);
    else if (!mf_model_fact(model, MF_FACT_KEY_LENGTH, &length, NULL) &&
             embedding % heads != 0)
        mf_index_note(&model->index, 0, MF_WARNING, MF_RULE_MODEL_HEADS,
                      meta.span.offset,
                      "embedding_length %" PRIu64
                      " is not a multiple of head_count %" PRIu64,
                      embedding, heads);
}

/* ---- tensors ---- */

/* A single shard, or a file opened for its metadata, lacks tensors. */
static bool is_whole(const struct mf_model *model)
{
    const struct mf_part *part = &model->part[0];

    return model->info.has_tensors &&
           (!part->is_split || part->split_count == model->file_count);
}

/* Blocks for speculative decoding may be counted or not, and present or not. */
static void check_blocks(struct mf_model *model,
                         const struct mf_lengths *lengths, uint64_t seen)
{
    uint64_t blocks = lengths->blocks, spare = lengths->predicted;

    if (blocks == 0 || (seen > blocks ? seen - blocks : blocks - seen) <= spare)
        return;
    mf_index_note(&model->index, 0, MF_WARNING, MF_RULE_MODEL_BLOCKS,
                  block_count_at(model),
                  "the metadata has block count %" PRIu64
                  ", but tensor names imply %" PRIu64,
                  blocks, seen);
}

/* ---- the whole model ---- */

static void note_unknown(struct mf_model *model, const struct mf_meta *name,
                         bool known)
{
    mf_index_note(&model->index, 0, MF_NOTE, MF_RULE_MODEL_UNKNOWN,
                  name->span.offset,
                  known ? "no tensor of architecture '%s' found: generic "
                          "checks only"
                        : "unknown architecture '%s': generic checks only",
                  mf_quote(name->text).text);
}

/* The architecture is known; the file may still be something else. */
static enum mf_status check_known(struct mf_model *model,
                                  const struct mf_family *family,
                                  struct mf_lengths *lengths,
                                  const struct mf_meta *name)
{
    struct mf_shapes shapes;
    enum mf_status status;

    status = mf_tensor_types_check(model, name->text);
    if (status != MF_OK || family->parts == 0)
        return status;
    if (family->keys >> MF_FACT_HEAD_COUNT & 1)
        check_heads(model, lengths);
    status = mf_shapes_check(model, family, lengths, &shapes);
    if (status != MF_OK)
        return status;
    if (!shapes.any) {
        note_unknown(model, name, true);
        return MF_OK;
    }
    check_keys(model, family);
    check_arrays(model, lengths);
    if (is_whole(model)) {
        check_blocks(model, lengths, shapes.blocks_seen);
        mf_shapes_check_parts(model, family, lengths, &shapes);
    }
    return MF_OK;
}

/* Adapters, importance matrices and projectors are GGUF files, too. */
static bool is_model(const struct mf_index *index)
{
    const struct mf_meta *type = mf_index_meta(index, "general.type");

    return !type || type->type != MF_VALUE_STRING || !type->text.at ||
           (type->text.size == strlen("model") &&
            memcmp(type->text.at, "model", type->text.size) == 0);
}

/* In APR the key model_type is required but may be empty; only an empty value
 * of the format's own key for the architecture counts as missing. */
static bool is_empty(const struct mf_format *format, const struct mf_meta *name)
{
    const char *key = format->facts[0].key;

    return name->text.size == 0 && mf_str_is(name->key, key);
}

void mf_architecture_check(struct mf_model *model)
{
    struct mf_index *index = &model->index;
    const struct mf_family *family;
    struct mf_lengths lengths;
    struct mf_meta name;
    enum mf_status status;

    /* Formats without a key for it leave the choice of keys to the writer. */
    if (!has_key(model->format, MF_FACT_BLOCK_COUNT) || !is_model(index))
        return;
    if (!mf_model_fact(model, MF_FACT_ARCHITECTURE, &name, NULL) ||
        is_empty(model->format, &name)) {
        mf_index_note(index, 0, MF_WARNING, MF_RULE_MODEL_ARCHITECTURE,
                      MF_NO_OFFSET,
                      "no architecture in the metadata (key '%s')",
                      model->format->facts[0].key);
        return;
    }
    family = mf_family_of(name.text);
    status = mf_lengths_init(model, &lengths);
    if (status == MF_OK) {
        check_block_count(model, &lengths);
        if (family)
            status = check_known(model, family, &lengths, &name);
        else
            note_unknown(model, &name, false);
    }
    if (status != MF_OK)
        index->status = status;
}
