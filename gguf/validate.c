/* SPDX-License-Identifier: MIT
 *
 * validate.c - GGUF's own checks of a whole model
 */
#include "gguf/gguf.h"

/* ---- names ---- */

#define NAME_SEEN 63 /* ggml truncates names to so many bytes */

static bool earlier_name(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_record *tensor = table;
    int order = memcmp(tensor[a].name, tensor[b].name, NAME_SEEN);

    return order != 0 ? order < 0 : a < b;
}

/* Names that are equal once ggml has truncated them.  Hardly any file has
 * names this long, so only those are sorted. */
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
        mf_index_note_of(index, record, MF_ERROR, MF_RULE_GGUF_NAME_CUT,
                         record->entry,
                         "tensor '%s' has the same first %d bytes as another "
                         "tensor, and ggml truncates names to these",
                         mf_record_name(record).text, NAME_SEEN);
    }
}

/* ---- types ---- */

/* How much of a model could have a type, and how much of it does.  Only
 * matrices whose rows are whole blocks could. */
struct share {
    uint64_t plain;      /* tensors of f32 of any shape */
    uint64_t could, has; /* matrices */
    uint64_t could_elements, has_elements;
};

static struct share share_of(const struct mf_index *index, enum mf_type type)
{
    struct share out = { 0 };

    for (size_t i = 0; i < index->tensor_count; i++) {
        const struct mf_record *record = &index->tensor[i];
        uint64_t elements;

        out.plain += record->type == MF_TYPE_F32;
        if (record->rank < 2 || record->dim[0] % mf_types[type].block != 0 ||
            !mf_elements(record->dim, record->rank, &elements) ||
            !mf_add(out.could_elements, elements, &out.could_elements))
            continue;
        out.could++;
        out.has += record->type == type;
        out.has_elements += record->type == type ? elements : 0;
    }
    return out;
}

/* A mix has many types.  The one in its name makes up at least a quarter of
 * the matrices, or of their elements if the model has few but large experts.
 * Looking at a single tensor was tried first and gave false alarms. */
#define MIX_SHARE 4

static bool is_of_type(struct share share, size_t tensors)
{
    /* Rows that are not whole blocks fall back to another type, but not to
     * f32. */
    if (share.could == 0)
        return tensors == 0 || share.plain < tensors;
    return share.has >=
               share.could / MIX_SHARE + (share.could % MIX_SHARE > 0) ||
           share.has_elements > share.could_elements / MIX_SHARE;
}

static void check_file_type(struct mf_index *index)
{
    const struct mf_meta *meta = mf_index_meta(index, "general.file_type");
    enum mf_type expected;
    uint64_t value;

    if (!mf_meta_unsigned(meta, &value))
        return;
    if (!mf_gguf_file_type_name(value))
        mf_index_note(index, meta->shard, MF_NOTE, MF_RULE_GGUF_FILE_TYPE,
                      meta->span.offset,
                      "general.file_type is %" PRIu64 ", which is unknown",
                      value);
    expected = mf_gguf_file_type_of(value);
    if (expected == MF_TYPE_UNKNOWN ||
        is_of_type(share_of(index, expected), index->tensor_count))
        return;
    mf_index_note(index, meta->shard, MF_WARNING, MF_RULE_GGUF_FILE_TYPE,
                  meta->span.offset,
                  "general.file_type is %" PRIu64 ", which implies %s "
                  "matrices, but the model has few or none",
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
                         "tensor '%s' is quantized (%s), but "
                         "general.quantization_version is missing",
                         mf_record_name(record).text,
                         mf_types[record->type].name);
        return;
    }
}

/* ---- sizes ---- */

/* llama.cpp counts in 64 bits, but some readers keep 32 of a dimension.  A
 * tensor without elements has no data to be misread. */
static void check_dimensions(struct mf_index *index)
{
    for (size_t i = 0; i < index->tensor_count; i++) {
        const struct mf_record *record = &index->tensor[i];
        uint64_t elements = 1;
        uint8_t at = 0;

        mf_elements(record->dim, record->rank, &elements);
        while (at < record->rank && record->dim[at] <= UINT32_MAX)
            at++;
        if (at < record->rank && elements > 0)
            mf_index_note_of(index, record, MF_WARNING, MF_RULE_GGUF_DIM_LARGE,
                             record->entry,
                             "dimension %u of tensor '%s' is %" PRIu64
                             "; some readers keep the low 32 bits, %" PRIu64,
                             at, mf_record_name(record).text, record->dim[at],
                             record->dim[at] & UINT32_MAX);
    }
}

/* ggml adds up the padded sizes, also of tensors whose data is missing. */
static void check_sum(struct mf_index *index, const struct mf_part *part)
{
    uint64_t sum = 0, padded;

    for (size_t i = 0; i < part->count; i++) {
        const struct mf_record *record = &index->tensor[part->first + i];

        if (mf_align_up(record->size, part->alignment, &padded) &&
            mf_add(sum, padded, &sum) && sum <= INT64_MAX)
            continue;
        mf_index_note_of(index, record, MF_ERROR, MF_RULE_TENSOR_OVERFLOW,
                         record->entry,
                         "the tensors up to '%s' add up to more than 2^63 "
                         "bytes",
                         mf_record_name(record).text);
        return;
    }
}

/* ---- layout ---- */

/* ggml expects each tensor to start where the previous one, padded, ends. */
static void check_order(struct mf_index *index, const struct mf_part *part)
{
    for (size_t i = 1; i < part->count; i++) {
        const struct mf_record *record = &index->tensor[part->first + i];

        if (record[0].offset >= record[-1].offset ||
            (record[0].flags | record[-1].flags) & MF_TENSOR_DAMAGED)
            continue;
        mf_index_note_of(
            index, record, MF_ERROR, MF_RULE_GGUF_ORDER, record->entry,
            "the data of tensor '%s' comes before the data of '%s', which is "
            "listed first: llama.cpp refuses such a file",
            mf_record_name(record).text, mf_record_name(record - 1).text);
        return;
    }
}

/* The same goes for a tensor without data, whatever others make of its offset.
 */
static void check_empty(struct mf_index *index, const struct mf_part *part)
{
    uint64_t expected = 0;

    for (size_t i = 0; i < part->count; i++) {
        const struct mf_record *record = &index->tensor[part->first + i];
        uint64_t offset = record->offset - part->data_offset;

        if (record->flags & MF_TENSOR_DAMAGED)
            return;
        if (record->size == 0 && offset != expected) {
            mf_index_note_of(
                index, record, MF_ERROR, MF_RULE_GGUF_ORDER, record->entry,
                "tensor '%s' has no data, but offset %" PRIu64
                " instead of %" PRIu64 ": llama.cpp refuses such a file",
                mf_record_name(record).text, offset, expected);
            return;
        }
        if (!mf_align_up(offset + record->size, part->alignment, &expected))
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
                         "%" PRIu64
                         " bytes of padding are missing after tensor "
                         "'%s' at the end of the file",
                         padded - (part->data_end - part->data_offset),
                         mf_record_name(last).text);
}

/* ---- what llama.cpp reads ---- */

static void check_version(struct mf_index *index, const struct mf_part *part)
{
    const struct mf_detection *kind = &index->kind;

    if (kind->version == 1)
        mf_index_note(index, part->shard, MF_ERROR, MF_RULE_GGUF_VERSION, 4,
                      "version 1, which llama.cpp no longer reads");
    if (kind->byte_order == MF_BIG_ENDIAN)
        mf_index_note(index, part->shard, MF_NOTE, MF_RULE_GGUF_BIG_ENDIAN, 4,
                      "big-endian: llama.cpp reads it on big-endian machines "
                      "only");
}

/* Keys of every architecture whose types llama.cpp does not convert. */
static const struct {
    const char *key;
    enum mf_value_type type;
    bool of_shards; /* it looks only where there are several */
} typed_keys[] = {
    { "general.name", MF_VALUE_STRING, false },
    { "general.file_type", MF_VALUE_U32, false },
    { "split.count", MF_VALUE_U16, false },
    { "split.no", MF_VALUE_U16, true },
    { "split.tensors.count", MF_VALUE_I32, true },
};

static void check_key_types(struct mf_index *index, const struct mf_part *part)
{
    const struct mf_meta *meta;

    for (size_t i = 0; i < sizeof(typed_keys) / sizeof(*typed_keys); i++) {
        if (typed_keys[i].of_shards && part->split_count < 2)
            continue;
        meta = mf_index_meta(index, typed_keys[i].key);
        if (meta && meta->type != typed_keys[i].type)
            mf_index_note(index, meta->shard, MF_ERROR, MF_RULE_GGUF_KEY_TYPE,
                          meta->span.offset,
                          "'%s' is of type %s, must be %s for llama.cpp",
                          typed_keys[i].key, mf_value_type_name(meta->type),
                          mf_value_type_name(typed_keys[i].type));
    }
}

#define MAP_ALIGNMENT 32 /* of a buffer of ggml */

/* llama.cpp maps the data from the first tensor on. */
static void check_start(struct mf_index *index, const struct mf_part *part)
{
    const struct mf_record *first = NULL;

    for (size_t i = 0; i < part->count; i++) {
        const struct mf_record *record = &index->tensor[part->first + i];

        if (record->flags & MF_TENSOR_DAMAGED)
            return;
        if (!first || record->offset < first->offset)
            first = record;
    }
    if (first && first->offset % MAP_ALIGNMENT != 0)
        mf_index_note_of(index, first, MF_ERROR, MF_RULE_GGUF_DATA_START,
                         first->offset,
                         "the data begins with tensor '%s' at an offset that "
                         "is not a multiple of %d: llama.cpp aborts when it "
                         "maps the file",
                         mf_record_name(first).text, MAP_ALIGNMENT);
}

void mf_gguf_validate(struct mf_index *index, const struct mf_part *parts,
                      size_t part_count)
{
    check_version(index, &parts[0]);
    check_key_types(index, &parts[0]);
    check_cut_names(index);
    check_file_type(index);
    check_quantization_version(index);
    check_dimensions(index);
    mf_gguf_imatrix_check(index);
    for (size_t i = 0; i < part_count; i++) {
        check_order(index, &parts[i]);
        check_empty(index, &parts[i]);
        check_padding(index, &parts[i]);
        check_start(index, &parts[i]);
        check_sum(index, &parts[i]);
    }
}
