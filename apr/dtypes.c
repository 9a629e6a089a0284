/* SPDX-License-Identifier: MIT
 *
 * dtypes.c - the type of a dtype byte
 *
 * aprender and ggml number types differently, APR files use both numberings,
 * and nothing in the file says which.  What differs is the size: the index has
 * each tensor's size in bytes, and for nearly all shapes only one type fits.
 */
#include "apr/apr.h"

static const struct {
    uint8_t byte, type, written;
} rows[] = {
#define DTYPE(byte, NAME, written) { byte, MF_TYPE_##NAME, written },
#include "apr/dtypes.def"
#undef DTYPE
};

#define ROW_COUNT (sizeof(rows) / sizeof(*rows))

uint32_t mf_apr_type_id(enum mf_type type)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].type == type && rows[i].written)
            return rows[i].byte;
    return MF_NO_TYPE_ID;
}

const char *mf_apr_type_name(uint32_t type_id)
{
    return type_id == APR_TYPE_JSON ? "json" : NULL;
}

/* ceil(elements / block) * bytes; false on overflow. */
static bool flat_size(enum mf_type type, uint64_t elements, uint64_t *out)
{
    const struct mf_type_row *row = &mf_types[type];

    return mf_mul(elements / row->block + (elements % row->block != 0),
                  row->bytes, out) &&
           mf_add(*out, elements > 0 ? mf_type_head(type) : 0, out);
}

/* Size with each row padded to whole blocks, as matrices of K-quants are
 * stored. */
static bool padded_size(const struct mf_index *index, enum mf_type type,
                        const struct mf_record *record, uint64_t *out)
{
    uint64_t row;

    return mf_types[type].block == 256 && record->rank == 2 &&
           flat_size(type, record->dim[!index->reversed], &row) &&
           mf_mul(row, record->dim[index->reversed], out);
}

/* aprender also writes tensors without dimensions and without data. */
static bool size_fits(const struct mf_index *index, enum mf_type type,
                      const struct mf_record *record, uint64_t elements)
{
    uint64_t size;

    if (record->rank == 0 && record->size == 0)
        return true;
    return (flat_size(type, elements, &size) && size == record->size) ||
           (padded_size(index, type, record, &size) && size == record->size);
}

static void note_rows(struct mf_index *index, const struct mf_record *record)
{
    uint64_t row = record->rank == 2 ? record->dim[!index->reversed] : 0;

    if (mf_types[record->type].block == 256 && row % 256 != 0)
        mf_index_note_of(
            index, record, MF_WARNING, MF_RULE_APR_ROWS, record->entry,
            "tensor '%s' in %s has rows of %" PRIu64
            ", not a multiple of 256: readers disagree on its values",
            mf_record_name(record).text, mf_types[record->type].name, row);
}

static void note_size(struct mf_index *index, struct mf_record *record,
                      uint64_t expected)
{
    mf_index_note_of(index, record, MF_ERROR, MF_RULE_TENSOR_SIZE,
                     record->entry,
                     "tensor '%s' has %" PRIu64 " bytes, but its shape in %s "
                     "implies %" PRIu64,
                     mf_record_name(record).text, record->size,
                     mf_types[record->type].name, expected);
    record->flags |= MF_TENSOR_DAMAGED;
}

/* Chooses the meaning of the dtype byte that fits the size.  If both do (32
 * elements in 36 bytes are apr_q8 or q8_1), the writer decides: aprender's
 * numbering, or ggml's in realizar's files.  False if none fits; record->type
 * is the first meaning then, or MF_TYPE_UNKNOWN. */
static bool choose_type(const struct mf_index *index, struct mf_record *record,
                        bool counted, uint64_t elements)
{
    bool fits = false;

    record->type = MF_TYPE_UNKNOWN;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].byte != record->type_id)
            continue;
        if (record->type == MF_TYPE_UNKNOWN)
            record->type = rows[i].type;
        if (counted && (!fits || index->reversed) &&
            size_fits(index, (enum mf_type)rows[i].type, record, elements)) {
            record->type = rows[i].type;
            fits = true;
        }
    }
    return fits;
}

void mf_apr_resolve_type(struct mf_index *index, struct mf_record *record)
{
    uint64_t elements = 0, expected;
    bool counted = mf_elements(record->dim, record->rank, &elements);

    record->flags |= MF_RECORD_SIZED;
    if (choose_type(index, record, counted, elements)) {
        record->flags |= MF_RECORD_SIZE_CHECKED;
        note_rows(index, record);
    } else if (record->type == MF_TYPE_UNKNOWN) {
        mf_index_note_of(index, record, MF_ERROR, MF_RULE_APR_DTYPE,
                         record->entry,
                         "tensor '%s' has dtype %" PRIu32
                         ", which is unknown to aprender and realizar",
                         mf_record_name(record).text, record->type_id);
        record->flags |= MF_RECORD_SIZE_CHECKED;
    } else if (counted &&
               flat_size((enum mf_type)record->type, elements, &expected)) {
        note_size(index, record, expected);
        record->flags |= MF_RECORD_SIZE_CHECKED;
    } /* else the shape is invalid, which geometry.c reports */
}
