/* SPDX-License-Identifier: MIT
 *
 * json_members.h - duplicate keys in the objects of a JSON value
 */
#ifndef MF_LIB_JSON_MEMBERS_H
#define MF_LIB_JSON_MEMBERS_H

#include "lib/json/json.h"
#include "lib/model/index.h"

/* Adds META-DUPLICATE for each object that has a key twice, unescaped, in the
 * value of *meta, which reaches from the reader's position to its limit. */
enum mf_status mf_json_check_members(struct mf_reader *reader,
                                     struct mf_index *index,
                                     const struct mf_meta *meta);

#endif
