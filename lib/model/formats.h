/* SPDX-License-Identifier: MIT
 *
 * formats.h - telling formats apart
 */
#ifndef MF_LIB_FORMATS_H
#define MF_LIB_FORMATS_H

#include "lib/model/format.h"

/* The row of the env that recognises the head; *out gets what its probe
 * found.  NULL with *out filled in for a foreign format that is known by name,
 * and NULL with an error for any other file. */
const struct mf_format *mf_format_detect(struct mf_env *env,
                                         const struct mf_head *head,
                                         struct mf_detection *out);

/* Reads the first bytes of source into bytes[MF_HEAD_SIZE], to which *out
 * points, and the last ones if a format wants them, into memory that
 * mf_head_release frees; after an error nothing needs freeing. */
enum mf_status mf_head_read(struct mf_env *env, const struct mf_source *source,
                            uint8_t *bytes, struct mf_head *out);
void mf_head_release(struct mf_env *env, struct mf_head *head);

/* The row of the env whose files have the suffix of that name, in capitals or
 * not, or NULL if none has it. */
const struct mf_format *mf_format_of_name(const struct mf_env *env,
                                          const char *name);

#endif
