/* SPDX-License-Identifier: MIT
 *
 * data_members.h - checksums of the members of an archive
 */
#ifndef MF_LIB_DATA_MEMBERS_H
#define MF_LIB_DATA_MEMBERS_H

#include "lib/base/parallel.h"
#include "lib/model/model.h"

/* Whether the data of a storage is compared with its checksum. */
bool mf_data_has_checksum(const struct mf_stored *stored);

/* Reads each such member, several at once, and compares its checksum.  Tensors
 * of one that cannot be unpacked are damaged from then on. */
enum mf_status mf_data_members(struct mf_crew *crew, struct mf_model *model);

#endif
