/* SPDX-License-Identifier: MIT
 *
 * json_members.h - whether objects within a JSON value have a key twice
 */
#ifndef MF_LIB_JSON_MEMBERS_H
#define MF_LIB_JSON_MEMBERS_H

#include "lib/json/json.h"
#include "lib/model/index.h"

/* Notes META-DUPLICATE for each object of the value from where the reader
 * stands to its limit that has a key twice, unescaped.  within: the metadatum's
 * key, for the message. */
enum mf_status mf_json_check_members(struct mf_reader *reader,
                                     struct mf_index *index,
                                     struct mf_str within);

#endif
