/* SPDX-License-Identifier: MIT
 *
 * data_report.c - what was found in the data of one tensor, as findings
 */
#include "lib/base/str.h"
#include "lib/check/data_parts.h"

/* Blocks may lose their last bits where a model has learnt nothing: the unused
 * tokens of an embedding are some in a hundred rows.  This many are not that.
 */
#define LOW_SHARE 16

static void report_bad(struct mf_index *index, const struct mf_record *record,
                       const struct mf_data_found *found,
                       enum mf_severity severity)
{
    enum mf_type type = (enum mf_type)record->type;
    const struct mf_scan_found *values = &found->values;
    struct mf_scan_kind kind = mf_scan_kind(type);

    if (found->bad_scale)
        mf_index_note_of(index, record, severity, MF_RULE_DATA_SCALE,
                         record->offset,
                         "the scale of tensor '%s' is NaN or infinite",
                         mf_record_name(record).text);
    if (values->bad > 0)
        mf_index_note_of(
            index, record, severity, kind.rule,
            record->offset + values->first_bad * mf_scan_stride(type),
            "tensor '%s' has %" PRIu64 " %s, the first at %s %" PRIu64,
            mf_record_name(record).text, values->bad,
            values->bad == 1 ? kind.one : kind.many, kind.unit,
            values->first_bad);
}

static void report_extreme(struct mf_index *index,
                           const struct mf_record *record,
                           const struct mf_scan_found *values)
{
    enum mf_type type = (enum mf_type)record->type;
    size_t stride = mf_scan_stride(type);
    uint64_t blocks = record->size / stride;
    const char *unit = mf_types[type].block > 1 ? "block" : "element";

    if (values->high > 0)
        mf_index_note_of(index, record, MF_WARNING, MF_RULE_DATA_RANGE,
                         record->offset + values->first_high * stride,
                         "tensor '%s' has %" PRIu64
                         " %s%s of magnitude %s or more, the "
                         "first at %s %" PRIu64,
                         mf_record_name(record).text, values->high,
                         mf_types[type].block > 1 ? "scale" : "value",
                         values->high == 1 ? "" : "s", mf_scan_bound(type),
                         unit, values->first_high);
    if (values->low > 0 && values->low >= blocks / LOW_SHARE)
        mf_index_note_of(index, record, MF_WARNING, MF_RULE_DATA_DENORMAL,
                         record->offset,
                         "the scales of %" PRIu64 " of %" PRIu64
                         " blocks of tensor '%s' are below 4.8e-07, where f16 "
                         "has fewer than 4 bits",
                         values->low, blocks, mf_record_name(record).text);
}

/* Names of what starts at zero and may stay there: a bias, and the mean that a
 * batch normalization has not seen anything of. */
static const char *const zero_names[] = { "bias", "running_mean" };

/* Of integers those are weights, which are packed or of 8 bits: others are
 * counters, positions and indices, or zero points. */
static const char *const packed_names[] = { "weight", "weight_packed",
                                            "_blocks" };

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static bool ends_with_one(const struct mf_record *record,
                          const char *const *tails, size_t count)
{
    struct mf_str name = { record->name, record->name_size };

    for (size_t i = 0; i < count; i++)
        if (mf_str_ends(name, tails[i]))
            return true;
    return false;
}

static bool may_be_zero(const struct mf_record *record)
{
    uint64_t elements;

    if (!mf_scan_is_weight((enum mf_type)record->type))
        return !ends_with_one(record, packed_names, COUNT(packed_names));
    if (mf_elements(record->dim, record->rank, &elements) && elements == 1)
        return true;
    return record->rank < 2 &&
           ends_with_one(record, zero_names, COUNT(zero_names));
}

void mf_data_report(struct mf_model *model, const struct mf_record *record,
                    const struct mf_data_found *found)
{
    struct mf_index *index = &model->index;

    report_bad(index, record, found,
               model->format->allows_nonfinite ? MF_WARNING : MF_ERROR);
    report_extreme(index, record, &found->values);
    if (!found->nonzero && !may_be_zero(record))
        mf_index_note_of(index, record, MF_WARNING, MF_RULE_DATA_ZERO,
                         record->offset, "tensor '%s' is all zeros",
                         mf_record_name(record).text);
    if (found->nonzero && found->same > 0)
        mf_index_note_of(index, record, MF_WARNING, MF_RULE_DATA_CONSTANT,
                         record->offset,
                         "the %" PRIu64 " rows of tensor '%s' are all the same",
                         found->same, mf_record_name(record).text);
}

/* ---- checksums of the members of an archive ---- */

bool mf_data_has_checksum(const struct mf_stored *stored)
{
    return stored->has_crc && !stored->unreadable;
}

bool mf_data_is_in_member(const struct mf_index *index,
                          const struct mf_record *record)
{
    const struct mf_stored *stored;
    uint64_t at;

    if (record->storage == 0 || record->flags & MF_TENSOR_DAMAGED)
        return false;
    stored = &index->stored.stored[record->storage - 1];
    at = record->offset - mf_stored_offset(index, record->storage - 1);
    return mf_data_has_checksum(stored) && at < stored->size &&
           record->size <= stored->size - at;
}

void mf_data_member_report(struct mf_index *index,
                           const struct mf_stored *stored, uint32_t crc)
{
    if (stored->broken)
        mf_index_note(index, stored->shard, MF_ERROR, MF_RULE_ZIP_SIZE,
                      stored->file.offset,
                      "the compressed data of member '%s' is damaged, or not "
                      "of %" PRIu64 " bytes",
                      mf_quote(stored->name).text, stored->size);
    else if (crc != stored->crc)
        mf_index_note(index, stored->shard, MF_ERROR, MF_RULE_ZIP_CRC,
                      stored->file.offset,
                      "checksum mismatch: the directory has %08" PRIx32
                      " for member '%s', its bytes give %08" PRIx32,
                      stored->crc, mf_quote(stored->name).text, crc);
}

void mf_data_members_end(struct mf_index *index)
{
    for (size_t i = 0; i < index->tensor_count; i++) {
        struct mf_record *record = &index->tensor[i];

        if (record->storage > 0 &&
            index->stored.stored[record->storage - 1].broken)
            record->flags |= MF_TENSOR_DAMAGED;
    }
}
