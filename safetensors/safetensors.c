/* SPDX-License-Identifier: MIT
 *
 * safetensors.c - the row of a safetensors file: detection, types, facts
 */
#include "safetensors/safetensors.h"

static const struct {
    enum mf_type type;
    struct mf_str name;
} dtypes[] = {
#define DTYPE(NAME, name) { MF_TYPE_##NAME, { name, sizeof(name) - 1 } },
#include "safetensors/dtypes.def"
#undef DTYPE
};

#define DTYPE_COUNT (sizeof(dtypes) / sizeof(*dtypes))

enum mf_type mf_safetensors_type(struct mf_str dtype)
{
    for (size_t i = 0; i < DTYPE_COUNT; i++)
        if (dtypes[i].name.size == dtype.size &&
            memcmp(dtypes[i].name.at, dtype.at, dtype.size) == 0)
            return dtypes[i].type;
    return MF_TYPE_UNKNOWN;
}

const char *mf_safetensors_dtype(uint32_t type)
{
    for (size_t i = 0; i < DTYPE_COUNT; i++)
        if (dtypes[i].type == (enum mf_type)type)
            return dtypes[i].name.at;
    return NULL;
}

/* dtypes are names, not numbers: any number says that the type exists. */
static uint32_t type_id(enum mf_type type)
{
    return mf_safetensors_dtype(type) ? 0 : MF_NO_TYPE_ID;
}

static uint64_t header_size(const uint8_t *at)
{
    uint64_t size = 0;

    for (int i = ST_LENGTH_SIZE; i-- > 0;)
        size = size << 8 | at[i];
    return size;
}

/* There is no magic.  A valid size is mostly NUL bytes and a '{' follows it,
 * possibly after white space.  An invalid size (too large, in the wrong byte
 * order) still counts as safetensors if its bytes cannot be text and '{"'
 * follows: then the error can say what is wrong with the size. */
static bool probe(const struct mf_head *head, struct mf_detection *out)
{
    size_t at = ST_LENGTH_SIZE;

    (void)out;
    if (head->size <= at)
        return false;
    if (header_size(head->at) > ST_HEADER_MAX)
        return (memchr(head->at, 0, at) || memchr(head->at, 0xff, at)) &&
               head->size > at + 1 && memcmp(head->at + at, "{\"", 2) == 0;
    while (at < head->size && memchr(" \t\r\n", head->at[at], 4))
        at++;
    return at == head->size || head->at[at] == '{';
}

/* No keys of __metadata__ are standard; these are from the model specification
 * for images, and what people write by hand. */
static const struct mf_fact_row facts[] = {
    { MF_FACT_ARCHITECTURE, "modelspec.architecture" },
    { MF_FACT_ARCHITECTURE, "general.architecture" },
    { MF_FACT_ARCHITECTURE, "architecture" },
    { MF_FACT_ARCHITECTURE, "model_type" },
    { MF_FACT_NAME, "modelspec.title" },
    { MF_FACT_NAME, "general.name" },
    { MF_FACT_NAME, "name" },
    { MF_FACT_LICENSE, "modelspec.license" },
    { MF_FACT_LICENSE, "general.license" },
    { MF_FACT_LICENSE, "license" },
    { MF_FACT_COUNT, NULL },
};

/* Readers that map the file need aligned numbers.  Old writers did not pad the
 * header, so this is only a warning. */
static void check_alignment(struct mf_index *index, const struct mf_part *part)
{
    if (part->data_offset % 8 != 0)
        mf_index_note(index, part->shard, MF_WARNING, MF_RULE_ST_ALIGN, 0,
                      "the data begins at %" PRIu64
                      ", not a multiple of 8: the header is not padded",
                      part->data_offset);
    for (size_t i = 0; i < part->count; i++) {
        const struct mf_record *record = &index->tensor[part->first + i];
        uint32_t size = mf_types[record->type].bytes;
        uint64_t start = record->offset - part->data_offset;

        if (mf_types[record->type].block > 1 || start % size == 0 ||
            record->flags & MF_TENSOR_DAMAGED)
            continue;
        mf_index_note_of(
            index, record, MF_WARNING, MF_RULE_ST_ALIGN, record->entry,
            "tensor '%s' starts at byte %" PRIu64
            " of the data, not a multiple of its element size %" PRIu32,
            mf_record_name(record).text, start, size);
        return;
    }
}

/* The row of __metadata__ in that shard, or NULL. */
static const struct mf_meta *find_format(const struct mf_index *index,
                                         uint32_t shard)
{
    const struct mf_meta *rows = shard == 0 ? index->meta : index->later_meta;
    size_t count = shard == 0 ? index->meta_count : index->later_meta_count;

    for (size_t i = 0; i < count; i++)
        if (rows[i].shard == shard && mf_str_is(rows[i].key, "format"))
            return &rows[i];
    return NULL;
}

/* transformers asks each file which framework its tensors are for.  True after
 * a finding: one of a model is enough. */
static bool check_format(struct mf_index *index, const struct mf_part *part)
{
    static const char *const known[] = { "pt", "tf", "flax", "mlx" };
    const struct mf_meta *format = find_format(index, part->shard);

    for (size_t i = 0; format && i < sizeof(known) / sizeof(*known); i++)
        if (format->text.at && mf_str_is(format->text, known[i]))
            return false;
    if (format)
        mf_index_note(index, part->shard, MF_NOTE, MF_RULE_ST_FORMAT,
                      format->span.offset,
                      "the format in __metadata__ is not pt, tf, flax or mlx, "
                      "which transformers reads");
    else
        mf_index_note(index, part->shard, MF_NOTE, MF_RULE_ST_FORMAT,
                      MF_NO_OFFSET,
                      "no format in __metadata__, which transformers requires");
    return true;
}

static void validate(struct mf_index *index, const struct mf_part *parts,
                     size_t part_count)
{
    bool found = false;

    for (size_t i = 0; i < part_count; i++) {
        check_alignment(index, &parts[i]);
        found = found || check_format(index, &parts[i]);
    }
}

const struct mf_format mf_format_safetensors = {
    .name = "safetensors",
    .variant = "",
    .suffix = ".safetensors",
    .description = "tensors after a JSON header, as Hugging Face publishes",
    .layout = MF_LAYOUT_TILED,
    .values = MF_VALUES_STRINGS,
    .naming = MF_NAMING_HF,
    .sharding = MF_SHARDING_LISTED,
    .allows_nonfinite = true,
    .rules = "ST-",
    .readers = MF_READER_TRANSFORMERS,
    .probe = probe,
    .parse = mf_safetensors_parse,
    .validate = validate,
    .value_next = mf_json_value_next,
    .type_id = type_id,
    .written = true,
    .facts = facts,
};
