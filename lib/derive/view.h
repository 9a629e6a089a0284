/* SPDX-License-Identifier: MIT
 *
 * view.h - a node's elements in another order, or some of them
 */
#ifndef MF_LIB_DERIVE_VIEW_H
#define MF_LIB_DERIVE_VIEW_H

#include "lib/derive/node.h"

struct mf_axis {
    uint64_t count, stride; /* in elements of the node below */
};

/* Element (i, j, ...) is element offset + i * stride + j * stride + ... of
 * the node below, whose own elements count row by row. */
struct mf_derived_view {
    struct mf_derived node;
    const struct mf_derived *below;
    uint64_t offset;
    uint32_t rank; /* of axis: dimensions of one place are left out, and
                      dimensions that are one in memory are put together */
    struct mf_axis axis[];
};

bool mf_view_read(const struct mf_derived *node, struct mf_span elements,
                  uint8_t *into, struct mf_derived_room room);

#endif
