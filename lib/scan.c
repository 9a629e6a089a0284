/* SPDX-License-Identifier: MIT
 *
 * scan.c - looking through the bytes of tensors, whatever their type
 *
 * Loops without a branch and an exit (scan_lane.h) say whether there is
 * anything; only then is it looked for block by block.
 */
#include "lib/scan.h"

#include <assert.h>
#include <string.h>

#define NONE UINT16_MAX

static const struct scan {
    uint64_t mask;
    uint8_t width;
    uint16_t stride, first, second;
} scans[MF_TYPE_COUNT] = {
#define SCAN(NAME, width, mask, stride, first, second)                         \
    [MF_TYPE_##NAME] = { mask, width, stride, first, second },
#include "lib/scan.def"
#undef SCAN
};

/* iq1_m has its scale in pieces: the high four bits of four words at 48. */
#define IQ1_M_BLOCK 56
#define IQ1_M_SCALE 48

/* nvfp4: four scales of E4M3 without a sign, in which 0x7f is no number. */
#define NVFP4_BLOCK 36

size_t mf_scan_stride(enum mf_type type)
{
    if (type == MF_TYPE_IQ1_M)
        return IQ1_M_BLOCK;
    if (type == MF_TYPE_NVFP4)
        return NVFP4_BLOCK;
    return scans[type].stride > 0 ? scans[type].stride : 1;
}

bool mf_scan_any(const uint8_t *bytes, size_t size)
{
    uint64_t word;

    /* Most tensors answer with their first bytes. */
    for (; size >= sizeof(word); size -= sizeof(word), bytes += sizeof(word)) {
        memcpy(&word, bytes, sizeof(word));
        if (word != 0)
            return true;
    }
    for (; size > 0; size--, bytes++)
        if (*bytes != 0)
            return true;
    return false;
}

/* ---- blocks ---- */

static bool is_set(const uint8_t *at, uint8_t width, uint64_t mask)
{
    return mf_count_portable(at, 1, width, width, mask) != 0;
}

static bool bad_iq1_m(const uint8_t *block, bool big_endian)
{
    uint16_t scale = 0;

    for (int i = 0; i < 4; i++) {
        const uint8_t *word = block + IQ1_M_SCALE + 2 * i;
        uint8_t high = big_endian ? word[0] : word[1];

        scale = (uint16_t)(scale | (high >> 4) << 4 * i);
    }
    return (scale & 0x7c00) == 0x7c00;
}

static bool bad_nvfp4(const uint8_t *block)
{
    for (int i = 0; i < 4; i++)
        if ((block[i] & 0x7f) == 0x7f)
            return true;
    return false;
}

static bool bad_block(enum mf_type type, bool big_endian, uint64_t mask,
                      const uint8_t *block)
{
    const struct scan *scan = &scans[type];

    if (type == MF_TYPE_IQ1_M)
        return bad_iq1_m(block, big_endian);
    if (type == MF_TYPE_NVFP4)
        return bad_nvfp4(block);
    return is_set(block + scan->first, scan->width, mask) ||
           (scan->second != NONE &&
            is_set(block + scan->second, scan->width, mask));
}

/* In a big-endian file the exponent's bits stand in the other bytes. */
static uint64_t mask_of(const struct scan *scan, bool big_endian)
{
    if (!big_endian)
        return scan->mask;
    return __builtin_bswap64(scan->mask) >> (64 - 8 * scan->width);
}

/* Whether any block has a number that is none; quick, for there is hardly ever
 * one. */
static bool any_bad(const struct mf_isa *isa, enum mf_type type, uint64_t mask,
                    const uint8_t *bytes, size_t blocks)
{
    const struct scan *scan = &scans[type];

    if (scan->width == 0) /* iq1_m and nvfp4: a look at each block */
        return true;
    return isa->count(bytes + scan->first, blocks, scan->stride, scan->width,
                      mask) > 0 ||
           (scan->second != NONE &&
            isa->count(bytes + scan->second, blocks, scan->stride, scan->width,
                       mask) > 0);
}

size_t mf_scan(const struct mf_isa *isa, enum mf_type type, bool big_endian,
               const uint8_t *bytes, size_t size, uint64_t *count)
{
    const struct scan *scan = &scans[type];
    size_t stride = mf_scan_stride(type), first = MF_SCAN_CLEAN;
    uint64_t mask;

    assert(size % stride == 0);
    *count = 0;
    if (scan->width == 0 && stride == 1)
        return MF_SCAN_CLEAN; /* integers */
    mask = scan->width > 0 ? mask_of(scan, big_endian) : 0;
    if (!any_bad(isa, type, mask, bytes, size / stride))
        return MF_SCAN_CLEAN;
    for (size_t i = 0; i < size / stride; i++)
        if (bad_block(type, big_endian, mask, bytes + i * stride)) {
            first = first == MF_SCAN_CLEAN ? i : first;
            ++*count;
        }
    return first;
}
