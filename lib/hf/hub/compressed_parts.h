/* SPDX-License-Identifier: MIT
 *
 * compressed_parts.h - between compressed*.c
 */
#ifndef MF_LIB_HUB_COMPRESSED_PARTS_H
#define MF_LIB_HUB_COMPRESSED_PARTS_H

#include "lib/hf/hub/compressed.h"

/* The tensor whose name has `to` instead of `from` at its end; MF_NOT_FOUND:
 * there is none, or the tensor's name does not end so. */
size_t mf_compressed_find(const struct mf_compressed *compressed, size_t record,
                          const char *from, const char *to);

/* The scales of weights that have one tensor of them. */
size_t mf_compressed_scale(const struct mf_compressed *compressed,
                           size_t record);

#endif
