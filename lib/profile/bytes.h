/* SPDX-License-Identifier: MIT
 *
 * bytes.h - bounded reads from a section of an object file
 *
 * As in a reader of files: after a read past the end all reads give zeros, and
 * one check after a record is enough.  Numbers have the byte order of this
 * machine, for which the object was made.
 */
#ifndef MF_LIB_BYTES_H
#define MF_LIB_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct mf_bytes {
    const uint8_t *at; /* NULL: missing, or something was read past the end */
    size_t left;
};

/* What follows offset in a section. */
static inline struct mf_bytes mf_bytes_from(struct mf_bytes section,
                                            uint64_t offset)
{
    if (offset > section.left)
        return (struct mf_bytes){ 0 };
    section.at += offset;
    section.left -= (size_t)offset;
    return section;
}

static inline const uint8_t *mf_bytes_skip(struct mf_bytes *bytes,
                                           uint64_t size)
{
    const uint8_t *at = bytes->at;

    if (size > bytes->left) {
        *bytes = (struct mf_bytes){ 0 };
        return NULL;
    }
    if (size == 0) /* NULL + 0 is not defined */
        return at;
    bytes->at += size;
    bytes->left -= (size_t)size;
    return at;
}

/* A number of 1 to 8 bytes. */
uint64_t mf_bytes_number(struct mf_bytes *bytes, unsigned size);

/* A number in groups of seven bits. */
uint64_t mf_bytes_uleb(struct mf_bytes *bytes);
int64_t mf_bytes_sleb(struct mf_bytes *bytes);

/* A terminated text; "" past the end. */
const char *mf_bytes_text(struct mf_bytes *bytes);

/* The length of a unit: its bytes, and whether offsets in it have 8 bytes. */
struct mf_bytes mf_bytes_unit(struct mf_bytes *bytes, bool *wide);

#endif
