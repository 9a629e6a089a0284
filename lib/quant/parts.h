/* SPDX-License-Identifier: MIT
 *
 * parts.h - blocks with a scale of their own, as their parts
 */
#ifndef MF_LIB_QUANT_PARTS_H
#define MF_LIB_QUANT_PARTS_H

#include "lib/quant/fp16.h"
#include "lib/quant/lanes.h"
#include "lib/quant/makeup.h"

/* Where the scale is a block's first half.  A minimum is found, not begun with.
 */
static inline void mf_parts_load_scale(const uint8_t *block,
                                       struct mf_parts *parts)
{
    parts->unit[0] = mf_load_scale(block);
    parts->unit[1] = 0.0f;
    parts->multiple[0][0] = 1.0f;
    parts->multiple[1][0] = 1.0f;
}

/* 32 codes, by a type's own way to store them. */
static inline void mf_parts_store(const struct mf_parts *parts,
                                  void (*store)(const mf_ints *, uint8_t *),
                                  uint8_t *out)
{
    mf_ints numbers[32 / MF_LANES];

    for (size_t i = 0; i < 32 / MF_LANES; i++)
        numbers[i] = mf_ints_of_u8(parts->code + i * MF_LANES);
    store(numbers, out);
}

#endif
