/* SPDX-License-Identifier: MIT
 *
 * scan.c - finding NaN, infinite and extreme values in the bytes of a tensor
 *
 * A loop without branches (lib/lanes/scan.c) compares magnitudes with one
 * bound: NaN and infinity are above it, too.  Nearly always nothing is;
 * otherwise a slow loop goes through the buffer block by block to find what and
 * where.
 */
#include "lib/check/scan.h"

#include <assert.h>
#include <string.h>

#define NONE UINT16_MAX

/* The bits below the lowest one of mask, too: of an exponent, the mantissa. */
#define DOWN(mask) ((mask) | (((mask) & (0 - (uint64_t)(mask))) - 1))

static const struct scan {
    struct mf_bits bits; /* of a bad value */
    bool others;         /* values that do not match bits are the bad ones */
    struct mf_bounds bounds;
    uint8_t width;
    uint16_t stride, first, second;
} scans[MF_TYPE_COUNT] = {
#define SCAN(NAME, width, mask, high, low, stride, first, second)              \
    [MF_TYPE_##NAME] = { { mask, mask }, false,  { DOWN(mask), high, low },    \
                         width,          stride, first,                        \
                         second },
#define BYTE(NAME, mask, value, others)                                        \
    [MF_TYPE_##NAME] = { { mask, value }, others, { 0, 0, 0 }, 1, 1, 0, NONE },
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

enum { BAD = 1, HIGH = 2, LOW = 4 };

static unsigned judge(const struct scan *scan, uint64_t value)
{
    uint64_t magnitude = value & scan->bounds.mask;

    if (((value & scan->bits.mask) == scan->bits.value) != scan->others)
        return BAD;
    if (scan->bounds.mask == 0) /* a BYTE */
        return 0;
    if (magnitude >= scan->bounds.high)
        return HIGH;
    return magnitude != 0 && magnitude < scan->bounds.low ? LOW : 0;
}

static uint64_t value_at(const uint8_t *bytes, size_t width, bool big_endian)
{
    uint64_t value = 0;

    for (size_t i = 0; i < width; i++)
        value = value << 8 | bytes[big_endian ? i : width - 1 - i];
    return value;
}

static uint64_t iq1_m_scale(const uint8_t *block, bool big_endian)
{
    uint64_t scale = 0;

    for (int i = 0; i < 4; i++) {
        const uint8_t *word = block + IQ1_M_SCALE + 2 * i;
        uint8_t high = big_endian ? word[0] : word[1];

        scale |= (uint64_t)(high >> 4) << 4 * i;
    }
    return scale;
}

static unsigned judge_nvfp4(const uint8_t *block)
{
    for (int i = 0; i < 4; i++)
        if ((block[i] & 0x7f) == 0x7f)
            return BAD;
    return 0;
}

/* The second value of a block is a minimum, which may be small. */
static unsigned judge_block(enum mf_type type, bool big_endian,
                            const uint8_t *block)
{
    const struct scan *scan = &scans[type];
    unsigned first, second = 0;

    if (type == MF_TYPE_IQ1_M) /* a scale like iq1_s's */
        return judge(&scans[MF_TYPE_IQ1_S], iq1_m_scale(block, big_endian));
    if (type == MF_TYPE_NVFP4)
        return judge_nvfp4(block);
    first = judge(scan, value_at(block + scan->first, scan->width, big_endian));
    if (scan->second != NONE)
        second = judge(scan,
                       value_at(block + scan->second, scan->width, big_endian));
    return first | (second & (BAD | HIGH));
}

/* The fast loops.  False if a value is bad or high: where, and which of the
 * two, they do not say. */
static bool count_fast(const struct mf_isa *isa, const struct scan *scan,
                       bool big_endian, const uint8_t *bytes, size_t blocks,
                       struct mf_scan_found *out)
{
    struct mf_outside outside;

    if (scan->width == 0)
        return false; /* iq1_m and nvfp4 */
    if (scan->bounds.mask == 0)
        return mf_count_of(isa)(bytes, blocks, 1, 1, scan->bits) ==
               (scan->others ? blocks : 0);
    outside = mf_range_of(isa)(bytes + scan->first, blocks, scan->stride,
                               scan->width, big_endian, scan->bounds);
    out->low = outside.low;
    if (outside.high == 0 && scan->second != NONE)
        outside = mf_range_of(isa)(bytes + scan->second, blocks, scan->stride,
                                   scan->width, big_endian, scan->bounds);
    return outside.high == 0;
}

static void count_slowly(enum mf_type type, bool big_endian,
                         const uint8_t *bytes, size_t blocks,
                         struct mf_scan_found *out)
{
    size_t stride = mf_scan_stride(type);

    *out = (struct mf_scan_found){ .bad = 0 };
    for (size_t i = 0; i < blocks; i++) {
        unsigned found = judge_block(type, big_endian, bytes + i * stride);

        if (found & BAD && out->bad++ == 0)
            out->first_bad = i;
        if (found & HIGH && out->high++ == 0)
            out->first_high = i;
        out->low += (found & LOW) != 0;
    }
}

void mf_scan_all(const struct mf_isa *isa, enum mf_type type, bool big_endian,
                 const uint8_t *bytes, size_t size, struct mf_scan_found *out)
{
    const struct scan *scan = &scans[type];
    size_t stride = mf_scan_stride(type);

    assert(size % stride == 0);
    *out = (struct mf_scan_found){ .bad = 0 };
    if (scan->width == 0 && stride == 1)
        return; /* integers */
    if (!count_fast(isa, scan, big_endian, bytes, size / stride, out))
        count_slowly(type, big_endian, bytes, size / stride, out);
}

size_t mf_scan(const struct mf_isa *isa, enum mf_type type, bool big_endian,
               const uint8_t *bytes, size_t size, uint64_t *count)
{
    struct mf_scan_found found;

    mf_scan_all(isa, type, big_endian, bytes, size, &found);
    *count = found.bad;
    return found.bad > 0 ? (size_t)found.first_bad : MF_SCAN_CLEAN;
}

bool mf_scan_is_weight(enum mf_type type)
{
    return type != MF_TYPE_BOOL && type != MF_TYPE_F8_E8M0 &&
           (scans[type].width > 0 || mf_scan_stride(type) > 1 ||
            mf_type_is_quantized(type));
}

/* Scales of iq1_m, which has no row, are f16. */
const char *mf_scan_bound(enum mf_type type)
{
    return scans[type].bounds.high == 0x7800 || type == MF_TYPE_IQ1_M ? "2^15"
                                                                      : "2^64";
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
