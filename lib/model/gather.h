/* SPDX-License-Identifier: MIT
 *
 * gather.h - elements of a view, in C order
 *
 * A read asks for elements one after the other; where they lie is a matter of
 * strides.  What was asked for is cut into boxes, and each is copied in the
 * order of the storage, not of the result: so a storage is read forward, which
 * is fast in a file and the only way in a compressed one.
 */
#ifndef MF_LIB_GATHER_H
#define MF_LIB_GATHER_H

#include "lib/model/stored.h"

#define MF_GATHER_WINDOW 8192

struct mf_gather {
    const struct mf_stored_view *view;
    /* Reads size bytes at offset of the storage; false with errno. */
    bool (*read)(void *user, uint64_t offset, uint8_t *into, size_t size);
    void *user;
};

/* Copies the elements from `first` on, with their bytes in little-endian order;
 * false with errno. */
bool mf_gather(const struct mf_gather *gather, uint64_t first, size_t count,
               uint8_t *into);

#endif
