/* SPDX-License-Identifier: MIT
 *
 * scan.c - finding NaN and infinite values in the bytes of a tensor
 *
 * A loop without branches (scan_lane.h) counts bad values in the whole buffer.
 * Nearly always there are none; otherwise a slow loop goes through it block by
 * block to find where.
 */
#include "lib/check/scan.h"

#include <assert.h>
#include <string.h>

#define NONE UINT16_MAX

static const struct scan {
    struct mf_bits bits;
    bool others; /* values that do not match bits are the bad ones */
    uint8_t width;
    uint16_t stride, first, second;
} scans[MF_TYPE_COUNT] = {
#define SCAN(NAME, width, mask, stride, first, second)                         \
    [MF_TYPE_##NAME] = { { mask, mask }, false, width, stride, first, second },
#define BYTE(NAME, mask, value, others)                                        \
    [MF_TYPE_##NAME] = { { mask, value }, others, 1, 1, 0, NONE },
#include "lib/check/scan.def"
#undef BYTE
#undef SCAN
};

/* The scale of iq1_m is in the high four bits of four words at 48. */
#define IQ1_M_BLOCK 56
#define IQ1_M_SCALE 48

/* nvfp4: four scales of E4M3 without a sign, in which 0x7f is NaN. */
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

    /* Nearly all tensors have a nonzero byte among their first. */
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

/* In a big-endian file the bits are in the opposite bytes. */
static struct mf_bits bits_of(const struct scan *scan, bool big_endian)
{
    unsigned shift = 64u - 8u * scan->width;

    if (!big_endian || scan->width == 0)
        return scan->bits;
    return (struct mf_bits){ __builtin_bswap64(scan->bits.mask) >> shift,
                             __builtin_bswap64(scan->bits.value) >> shift };
}

/* Whether any value is bad, at `at` or at the same place of the next blocks. */
static bool bad_at(const struct mf_isa *isa, const struct scan *scan,
                   struct mf_bits bits, const uint8_t *at, size_t blocks)
{
    return isa->count(at, blocks, scan->stride, scan->width, bits) !=
           (scan->others ? blocks : 0);
}

static bool any_bad(const struct mf_isa *isa, const struct scan *scan,
                    struct mf_bits bits, const uint8_t *bytes, size_t blocks)
{
    return bad_at(isa, scan, bits, bytes + scan->first, blocks) ||
           (scan->second != NONE &&
            bad_at(isa, scan, bits, bytes + scan->second, blocks));
}

static bool bad_block(enum mf_type type, bool big_endian, struct mf_bits bits,
                      const uint8_t *block)
{
    if (type == MF_TYPE_IQ1_M)
        return bad_iq1_m(block, big_endian);
    if (type == MF_TYPE_NVFP4)
        return bad_nvfp4(block);
    return any_bad(mf_isas, &scans[type], bits, block, 1);
}

size_t mf_scan(const struct mf_isa *isa, enum mf_type type, bool big_endian,
               const uint8_t *bytes, size_t size, uint64_t *count)
{
    const struct scan *scan = &scans[type];
    struct mf_bits bits = bits_of(scan, big_endian);
    size_t stride = mf_scan_stride(type), first = MF_SCAN_CLEAN;

    assert(size % stride == 0);
    *count = 0;
    if (scan->width == 0 && stride == 1)
        return MF_SCAN_CLEAN; /* integers */
    /* The fast loop; iq1_m and nvfp4, which have no width, are checked block by
     * block. */
    if (scan->width > 0 && !any_bad(isa, scan, bits, bytes, size / stride))
        return MF_SCAN_CLEAN;
    for (size_t i = 0; i < size / stride; i++)
        if (bad_block(type, big_endian, bits, bytes + i * stride)) {
            first = first == MF_SCAN_CLEAN ? i : first;
            ++*count;
        }
    return first;
}

struct mf_scan_kind mf_scan_kind(enum mf_type type)
{
    if (type == MF_TYPE_BOOL)
        return (struct mf_scan_kind){ MF_RULE_DATA_BOOL, "element",
                                      "element other than 0 and 1",
                                      "elements other than 0 and 1" };
    if (mf_types[type].block > 1)
        return (struct mf_scan_kind){ MF_RULE_DATA_SCALE, "block",
                                      "block with a NaN or infinite scale",
                                      "blocks with NaN or infinite scales" };
    return (struct mf_scan_kind){ MF_RULE_DATA_NOT_FINITE, "element",
                                  "NaN or infinite element",
                                  "NaN or infinite elements" };
}
