/* SPDX-License-Identifier: MIT
 *
 * data_report.h - what was found in the data of one tensor, as findings
 */
#ifndef MF_LIB_DATA_REPORT_H
#define MF_LIB_DATA_REPORT_H

#include "lib/check/scan.h"
#include "lib/model/model.h"

struct mf_data_found {
    struct mf_scan_found values;
    bool nonzero;   /* a byte is not zero */
    bool bad_scale; /* of the whole tensor */
    uint64_t same;  /* rows, if all of them are the same; else 0 */
};

void mf_data_report(struct mf_model *model, const struct mf_record *record,
                    const struct mf_data_found *found);

/* ---- checksums of the members of an archive ---- */

/* Whether the data of a storage is compared with its checksum. */
bool mf_data_has_checksum(const struct mf_stored *stored);

/* Whether the record's bytes are a piece of such a storage, and no view of it:
 * then what is read for the one is read for the other. */
bool mf_data_is_in_member(const struct mf_index *index,
                          const struct mf_record *record);

/* Reports that the storage cannot be unpacked, or has another checksum. */
void mf_data_member_report(struct mf_index *index,
                           const struct mf_stored *stored, uint32_t crc);

/* Tensors of storages that cannot be unpacked are damaged from then on. */
void mf_data_members_end(struct mf_index *index);

#endif
