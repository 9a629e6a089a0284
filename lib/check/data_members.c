/* SPDX-License-Identifier: MIT
 *
 * data_members.c - checksums of the members of an archive
 */
#include "lib/check/data_members.h"

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
