/* SPDX-License-Identifier: MIT
 *
 * bytes.c - bounded reads from a section of an object file
 */
#include "lib/profile/bytes.h"

uint64_t mf_bytes_number(struct mf_bytes *bytes, unsigned size)
{
    const uint8_t *at = mf_bytes_skip(bytes, size);
    uint64_t value = 0;

    if (!at)
        return 0;
    for (unsigned i = 0; i < size; i++) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        value |= (uint64_t)at[i] << 8 * i;
#else
        value = value << 8 | at[i];
#endif
    }
    return value;
}

/* Bits that do not fit are dropped.  sign: the last group's sign bit. */
static uint64_t leb(struct mf_bytes *bytes, bool has_sign)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        const uint8_t *at = mf_bytes_skip(bytes, 1);

        byte = at ? *at : 0;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (has_sign && (byte & 0x40) && shift < 64)
        value |= UINT64_MAX << shift;
    return value;
}

uint64_t mf_bytes_uleb(struct mf_bytes *bytes)
{
    return leb(bytes, false);
}

int64_t mf_bytes_sleb(struct mf_bytes *bytes)
{
    return (int64_t)leb(bytes, true);
}

const char *mf_bytes_text(struct mf_bytes *bytes)
{
    const uint8_t *end =
        bytes->left > 0 ? memchr(bytes->at, 0, bytes->left) : NULL;

    if (!end) {
        *bytes = (struct mf_bytes){ 0 };
        return "";
    }
    return (const char *)mf_bytes_skip(bytes, (size_t)(end - bytes->at) + 1);
}

struct mf_bytes mf_bytes_unit(struct mf_bytes *bytes, bool *wide)
{
    uint64_t size = mf_bytes_number(bytes, 4);
    struct mf_bytes unit;

    *wide = size == UINT32_MAX;
    if (*wide)
        size = mf_bytes_number(bytes, 8);
    unit.at = mf_bytes_skip(bytes, size);
    unit.left = unit.at ? (size_t)size : 0;
    return unit;
}
