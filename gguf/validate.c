/* SPDX-License-Identifier: MIT
 *
 * validate.c - what only GGUF asks of a whole model
 */
#include "gguf/gguf.h"

/* Readers look for these arrays by name, and take their elements for granted:
 * scores of u8 read as f32 have been a reading past the end. */
static const struct {
    const char *key;
    enum mf_value_type of;
    bool as_long_as_tokens;
} arrays[] = {
    { "tokenizer.ggml.tokens", MF_VALUE_STRING, false },
    { "tokenizer.ggml.scores", MF_VALUE_F32, true },
    { "tokenizer.ggml.token_type", MF_VALUE_I32, true },
    { "tokenizer.ggml.merges", MF_VALUE_STRING, false },
};

static void check_array(struct mf_index *index, const struct mf_meta *meta,
                        size_t row, const struct mf_meta *tokens)
{
    if (meta->type != MF_VALUE_ARRAY || meta->of != arrays[row].of)
        mf_index_note(
            index, MF_WARNING, MF_RULE_GGUF_TOKENS_TYPE, meta->span.offset,
            "%s is %s %s, readers expect an array of %s", arrays[row].key,
            meta->type == MF_VALUE_ARRAY ? "an array of" : "of type",
            mf_value_type_name(meta->type == MF_VALUE_ARRAY ? meta->of
                                                            : meta->type),
            mf_value_type_name(arrays[row].of));
    if (arrays[row].as_long_as_tokens && tokens && meta->count != tokens->count)
        mf_index_note(
            index, MF_WARNING, MF_RULE_GGUF_TOKENS_LENGTH, meta->span.offset,
            "%s has %" PRIu64 " elements, there are %" PRIu64 " tokens",
            arrays[row].key, meta->count, tokens->count);
}

static bool is_token_id(struct mf_str key)
{
    static const char head[] = "tokenizer.ggml.", tail[] = "_token_id";

    return key.size > sizeof(head) + sizeof(tail) - 2 &&
           memcmp(key.at, head, sizeof(head) - 1) == 0 &&
           memcmp(key.at + key.size - (sizeof(tail) - 1), tail,
                  sizeof(tail) - 1) == 0;
}

static void check_tokens(struct mf_index *index)
{
    const struct mf_meta *tokens = mf_index_meta(index, arrays[0].key);
    uint64_t id;

    for (size_t row = 0; row < sizeof(arrays) / sizeof(*arrays); row++) {
        const struct mf_meta *meta = mf_index_meta(index, arrays[row].key);

        if (meta)
            check_array(index, meta, row, tokens);
    }
    for (size_t i = 0; tokens && i < index->meta_count; i++) {
        const struct mf_meta *meta = &index->meta[i];

        if (is_token_id(meta->key) && mf_meta_natural(meta, &id) &&
            id >= tokens->count)
            mf_index_note(
                index, MF_WARNING, MF_RULE_GGUF_TOKENS_ID, meta->span.offset,
                "%s is %" PRIu64 ", the last of %" PRIu64 " tokens is %" PRIu64,
                mf_quote(meta->key).text, id, tokens->count, tokens->count - 1);
    }
}

/* ---- names ---- */

#define NAME_SEEN 63 /* bytes of a name that ggml keeps */

static bool earlier_name(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_record *tensor = table;
    int order = memcmp(tensor[a].name, tensor[b].name, NAME_SEEN);

    return order != 0 ? order < 0 : a < b;
}

/* Longer names that ggml takes for the same one.  Nearly no file has any. */
static void check_cut_names(struct mf_index *index)
{
    size_t count = 0, longer = 0;
    uint32_t *row;

    for (size_t i = 0; i < index->tensor_count; i++)
        longer += index->tensor[i].name_size > NAME_SEEN;
    if (longer < 2)
        return;
    row = mf_arena_take(&index->arena, longer * sizeof(*row));
    if (!row) {
        index->status = index->env->error.status;
        return;
    }
    for (size_t i = 0; i < index->tensor_count; i++)
        if (index->tensor[i].name_size > NAME_SEEN)
            row[count++] = (uint32_t)i;
    mf_sort(row, count, earlier_name, index->tensor);
    for (size_t i = 1; i < count; i++) {
        const struct mf_record *record = &index->tensor[row[i]];

        if (memcmp(record->name, index->tensor[row[i - 1]].name, NAME_SEEN))
            continue;
        index->shard = record->shard;
        mf_index_note_of(index, record, MF_WARNING, MF_RULE_GGUF_NAME_CUT,
                         record->entry,
                         "tensor '%s' has the same first %d bytes as another "
                         "one, and ggml keeps no more",
                         mf_record_name(record).text, NAME_SEEN);
    }
    index->shard = 0;
}

/* ---- types ---- */

/* The tensors of a mix that its rows allow: a row that is no multiple of the
 * block is stored in another type, but not in f32. */
static void check_file_type(struct mf_index *index)
{
    const struct mf_meta *meta = mf_index_meta(index, "general.file_type");
    enum mf_type expected = MF_TYPE_UNKNOWN;
    size_t could = 0, plain = 0;
    uint64_t value;

    if (mf_meta_natural(meta, &value))
        expected = gguf_file_type_of(value);
    if (expected == MF_TYPE_UNKNOWN)
        return;
    for (size_t i = 0; i < index->tensor_count; i++) {
        const struct mf_record *record = &index->tensor[i];

        if (record->type == expected)
            return;
        plain += record->type == MF_TYPE_F32;
        could +=
            record->rank >= 2 && record->dim[0] % mf_types[expected].block == 0;
    }
    if (could > 0 || (plain > 0 && plain == index->tensor_count))
        mf_index_note(index, MF_WARNING, MF_RULE_GGUF_FILE_TYPE,
                      meta->span.offset,
                      "general.file_type is %" PRIu64
                      ", for which tensors are %s; none is",
                      value, mf_types[expected].name);
}

static void check_quantization_version(struct mf_index *index)
{
    if (mf_index_meta(index, "general.quantization_version"))
        return;
    for (size_t i = 0; i < index->tensor_count; i++) {
        const struct mf_record *record = &index->tensor[i];

        if (record->type == MF_TYPE_UNKNOWN ||
            mf_types[record->type].block == 1)
            continue;
        mf_index_note_of(index, record, MF_WARNING, MF_RULE_GGUF_QUANT_VERSION,
                         record->entry,
                         "tensor '%s' is quantized (%s) and there is no "
                         "general.quantization_version",
                         mf_record_name(record).text,
                         mf_types[record->type].name);
        return;
    }
}

/* ---- layout ---- */

/* ggml wants each tensor where the padded ones before it end. */
static void check_order(struct mf_index *index, const struct mf_part *part)
{
    for (size_t i = 1; i < part->count; i++) {
        const struct mf_record *record = &index->tensor[part->first + i];

        if (record[0].offset >= record[-1].offset ||
            (record[0].flags | record[-1].flags) & MF_TENSOR_DAMAGED)
            continue;
        mf_index_note_of(
            index, record, MF_WARNING, MF_RULE_GGUF_ORDER, record->entry,
            "data of tensor '%s' stands before that of '%s', "
            "which the list has first: ggml refuses that",
            mf_record_name(record).text, mf_record_name(record - 1).text);
        return;
    }
}

static void check_padding(struct mf_index *index, const struct mf_part *part)
{
    const struct mf_record *last = NULL;
    uint64_t end, padded;

    for (size_t i = 0; i < part->count; i++) {
        const struct mf_record *record = &index->tensor[part->first + i];

        if (!(record->flags & MF_TENSOR_DAMAGED) && record->size > 0 &&
            (!last || record->offset > last->offset))
            last = record;
    }
    if (!last)
        return;
    end = last->offset + last->size; /* in bounds, or it would be damaged */
    if (mf_align_up(end - part->data_offset, part->alignment, &padded) &&
        padded > part->data_end - part->data_offset)
        mf_index_note_of(index, last, MF_WARNING, MF_RULE_GGUF_PADDING, end,
                         "the file ends with tensor '%s', %" PRIu64
                         " bytes of padding are missing",
                         mf_record_name(last).text,
                         padded - (part->data_end - part->data_offset));
}

void gguf_validate(struct mf_index *index, const struct mf_part *parts,
                   size_t part_count)
{
    index->shard = 0;
    check_tokens(index);
    check_cut_names(index);
    check_file_type(index);
    check_quantization_version(index);
    for (size_t i = 0; i < part_count; i++) {
        index->shard = (uint32_t)i;
        check_order(index, &parts[i]);
        check_padding(index, &parts[i]);
    }
}
