/* SPDX-License-Identifier: MIT
 *
 * dwarf_values.c - attributes of entries, and ranges of addresses
 */
#include "lib/profile/dwarf.h"

/* How long an attribute is; up to 16: so many bytes. */
enum {
    IN_UNIT = 17, /* an address */
    OFFSET,       /* 4 or 8 bytes */
    ULEB,
    SLEB,
    TEXT,
    BLOCK_ULEB, /* a length, and so many bytes */
    BLOCK_1,
    BLOCK_2,
    BLOCK_4,
    IMPLICIT,
    INDIRECT
};

/* DW_FORM_*, DWARF 5, section 7.5.6. */
static const struct form {
    uint8_t size, kind;
} forms[] = {
    [0x01] = { IN_UNIT, MF_DWARF_ADDRESS },
    [0x03] = { BLOCK_2, MF_DWARF_OTHER },
    [0x04] = { BLOCK_4, MF_DWARF_OTHER },
    [0x05] = { 2, MF_DWARF_NUMBER },
    [0x06] = { 4, MF_DWARF_NUMBER },
    [0x07] = { 8, MF_DWARF_NUMBER },
    [0x08] = { TEXT, MF_DWARF_TEXT },
    [0x09] = { BLOCK_ULEB, MF_DWARF_OTHER },
    [0x0a] = { BLOCK_1, MF_DWARF_OTHER },
    [0x0b] = { 1, MF_DWARF_NUMBER },
    [0x0c] = { 1, MF_DWARF_OTHER }, /* flag */
    [0x0d] = { SLEB, MF_DWARF_NUMBER },
    [0x0e] = { OFFSET, MF_DWARF_TEXT_STR },
    [0x0f] = { ULEB, MF_DWARF_NUMBER },
    [0x10] = { OFFSET, MF_DWARF_OTHER }, /* in another unit */
    [0x11] = { 1, MF_DWARF_REFERENCE },
    [0x12] = { 2, MF_DWARF_REFERENCE },
    [0x13] = { 4, MF_DWARF_REFERENCE },
    [0x14] = { 8, MF_DWARF_REFERENCE },
    [0x15] = { ULEB, MF_DWARF_REFERENCE },
    [0x16] = { INDIRECT, MF_DWARF_OTHER },
    [0x17] = { OFFSET, MF_DWARF_OFFSET },
    [0x18] = { BLOCK_ULEB, MF_DWARF_OTHER }, /* expression */
    [0x19] = { 0, MF_DWARF_OTHER },          /* flag_present */
    [0x1a] = { ULEB, MF_DWARF_TEXT_INDEX },
    [0x1b] = { ULEB, MF_DWARF_ADDRESS_INDEX },
    [0x1c] = { 4, MF_DWARF_OTHER },      /* in another file */
    [0x1d] = { OFFSET, MF_DWARF_OTHER }, /* likewise */
    [0x1e] = { 16, MF_DWARF_OTHER },
    [0x1f] = { OFFSET, MF_DWARF_TEXT_LINE },
    [0x20] = { 8, MF_DWARF_OTHER }, /* a type */
    [0x21] = { IMPLICIT, MF_DWARF_NUMBER },
    [0x22] = { ULEB, MF_DWARF_OTHER }, /* places of variables */
    [0x23] = { ULEB, MF_DWARF_LIST_INDEX },
    [0x24] = { 8, MF_DWARF_OTHER }, /* in another file */
    [0x25] = { 1, MF_DWARF_TEXT_INDEX },
    [0x26] = { 2, MF_DWARF_TEXT_INDEX },
    [0x27] = { 3, MF_DWARF_TEXT_INDEX },
    [0x28] = { 4, MF_DWARF_TEXT_INDEX },
    [0x29] = { 1, MF_DWARF_ADDRESS_INDEX },
    [0x2a] = { 2, MF_DWARF_ADDRESS_INDEX },
    [0x2b] = { 3, MF_DWARF_ADDRESS_INDEX },
    [0x2c] = { 4, MF_DWARF_ADDRESS_INDEX },
};
#define FORMS (sizeof(forms) / sizeof(*forms))

static void skip_block(struct mf_bytes *bytes, unsigned size)
{
    static const uint8_t length[] = { 1, 2, 4 };

    mf_bytes_skip(bytes, size == BLOCK_ULEB
                             ? mf_bytes_uleb(bytes)
                             : mf_bytes_number(bytes, length[size - BLOCK_1]));
}

struct mf_dwarf_value mf_dwarf_read(const struct mf_unit *unit,
                                    struct mf_bytes *bytes, uint64_t form,
                                    int64_t implicit)
{
    struct mf_dwarf_value value = { MF_DWARF_OTHER, 0 };
    unsigned size;

    while (form < FORMS && forms[form].size == INDIRECT && bytes->at)
        form = mf_bytes_uleb(bytes);
    size = form < FORMS ? forms[form].size : 0;
    /* Of an unknown form, or one that was cut off, not even the length is
     * known. */
    if (!bytes->at || form >= FORMS || form == 0 ||
        (size == 0 && form != 0x19)) {
        *bytes = (struct mf_bytes){ 0 };
        return value;
    }
    value.kind = forms[form].kind;
    if (size == IN_UNIT)
        size = unit->address_size;
    if (size == OFFSET)
        size = unit->offset_size;
    if (size <= 8)
        value.number = mf_bytes_number(bytes, size);
    else if (size <= 16)
        mf_bytes_skip(bytes, size);
    else if (size == ULEB)
        value.number = mf_bytes_uleb(bytes);
    else if (size == SLEB)
        value.number = (uint64_t)mf_bytes_sleb(bytes);
    else if (size == TEXT)
        value.number = (uintptr_t)mf_bytes_text(bytes);
    else if (size == IMPLICIT)
        value.number = (uint64_t)implicit;
    else
        skip_block(bytes, size);
    return value;
}

/* The number with this index in a table of .debug_addr or .debug_str_offsets.
 */
static bool number_at(struct mf_bytes section, uint64_t base, uint64_t index,
                      unsigned size, uint64_t *out)
{
    uint64_t offset;

    if (!mf_mul(index, size, &offset) || !mf_add(offset, base, &offset))
        return false;
    section = mf_bytes_from(section, offset);
    *out = mf_bytes_number(&section, size);
    return section.at;
}

const char *mf_dwarf_text(const struct mf_unit *unit,
                          const struct mf_dwarf_value *value)
{
    const struct mf_debug *debug = unit->debug;
    uint64_t offset = value->number;
    struct mf_bytes bytes;

    switch (value->kind) {
    case MF_DWARF_TEXT:
        return (const char *)(uintptr_t)offset;
    case MF_DWARF_TEXT_INDEX:
        if (!number_at(debug->str_offsets, unit->str_offsets_base, offset,
                       unit->offset_size, &offset))
            return "";
        break;
    case MF_DWARF_TEXT_STR:
    case MF_DWARF_TEXT_LINE:
        break;
    default:
        return "";
    }
    bytes = value->kind == MF_DWARF_TEXT_LINE ? debug->line_str : debug->str;
    bytes = mf_bytes_from(bytes, offset);
    return mf_bytes_text(&bytes);
}

bool mf_dwarf_address(const struct mf_unit *unit,
                      const struct mf_dwarf_value *value, uint64_t *out)
{
    *out = value->number;
    if (value->kind == MF_DWARF_ADDRESS_INDEX)
        return number_at(unit->debug->addr, unit->addr_base, value->number,
                         unit->address_size, out);
    return value->kind == MF_DWARF_ADDRESS;
}

/* ---- ranges ---- */

/* low and high, of which the second may be a size. */
static bool one_range(const struct mf_unit *unit, struct mf_ranges *ranges,
                      uint64_t *from, uint64_t *to)
{
    ranges->is_over = true;
    if (!mf_dwarf_address(unit, &ranges->low, from))
        return false;
    if (ranges->high.kind == MF_DWARF_NUMBER)
        *to = *from + ranges->high.number;
    else if (!mf_dwarf_address(unit, &ranges->high, to))
        return false;
    return *from < *to;
}

static bool begin(const struct mf_unit *unit, struct mf_ranges *ranges)
{
    const struct mf_debug *debug = unit->debug;
    uint64_t offset = ranges->list.number;

    ranges->begun = true;
    ranges->base = unit->low;
    if (ranges->list.kind == MF_DWARF_LIST_INDEX) {
        if (!number_at(debug->rnglists, unit->rnglists_base, offset,
                       unit->offset_size, &offset) ||
            !mf_add(offset, unit->rnglists_base, &offset))
            return false;
    }
    ranges->bytes = mf_bytes_from(
        unit->version >= 5 ? debug->rnglists : debug->ranges, offset);
    return true;
}

/* .debug_ranges, before DWARF 5: pairs of addresses. */
static bool next_pair(const struct mf_unit *unit, struct mf_ranges *ranges,
                      uint64_t *from, uint64_t *to)
{
    uint64_t none = UINT64_MAX >> (64 - 8 * unit->address_size);

    for (;;) {
        *from = mf_bytes_number(&ranges->bytes, unit->address_size);
        *to = mf_bytes_number(&ranges->bytes, unit->address_size);
        if (!ranges->bytes.at || (*from == 0 && *to == 0))
            return false;
        if (*from != none)
            break;
        ranges->base = *to;
    }
    *from += ranges->base;
    *to += ranges->base;
    return true;
}

static uint64_t indexed(const struct mf_unit *unit, struct mf_bytes *bytes)
{
    uint64_t address = 0;
    struct mf_dwarf_value value = { MF_DWARF_ADDRESS_INDEX,
                                    mf_bytes_uleb(bytes) };

    return mf_dwarf_address(unit, &value, &address) ? address : 0;
}

/* An entry of .debug_rnglists; false if it is not a range.  DW_RLE_*, DWARF 5,
 * section 7.25. */
static bool entry(const struct mf_unit *unit, struct mf_ranges *ranges,
                  uint64_t *from, uint64_t *to)
{
    struct mf_bytes *bytes = &ranges->bytes;
    uint64_t kind = mf_bytes_number(bytes, 1);

    if (kind == 1) { /* base_addressx */
        ranges->base = indexed(unit, bytes);
        return false;
    }
    if (kind == 5) { /* base_address */
        ranges->base = mf_bytes_number(bytes, unit->address_size);
        return false;
    }
    ranges->is_over = kind == 0 || kind > 7;
    if (kind == 2 || kind == 3) /* startx_endx, startx_length */
        *from = indexed(unit, bytes);
    else if (kind == 4) /* offset_pair */
        *from = ranges->base + mf_bytes_uleb(bytes);
    else /* start_end, start_length */
        *from = mf_bytes_number(bytes, unit->address_size);
    if (kind == 2)
        *to = indexed(unit, bytes);
    else if (kind == 4)
        *to = ranges->base + mf_bytes_uleb(bytes);
    else if (kind == 6)
        *to = mf_bytes_number(bytes, unit->address_size);
    else
        *to = *from + mf_bytes_uleb(bytes);
    return !ranges->is_over;
}

bool mf_ranges_next(const struct mf_unit *unit, struct mf_ranges *ranges,
                    uint64_t *from, uint64_t *to)
{
    if (ranges->is_over)
        return false;
    if (ranges->list.kind == MF_DWARF_OTHER)
        return one_range(unit, ranges, from, to);
    if (!ranges->begun && !begin(unit, ranges))
        return false;
    if (unit->version < 5)
        return next_pair(unit, ranges, from, to);
    while (!ranges->is_over && ranges->bytes.at)
        if (entry(unit, ranges, from, to) && ranges->bytes.at)
            return true;
    return false;
}
