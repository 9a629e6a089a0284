/* SPDX-License-Identifier: MIT
 *
 * dwarf.c - units of debug information, and the inlined calls in them
 *
 * Entries form a tree, but it need not be followed: an inlined call comes
 * before those inside it, so for an address the last one that contains it is
 * the innermost.
 */
#include "lib/profile/dwarf.h"

/* ---- bounded reads from a section ---- */

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

/* ---- units of debug information, and the inlined calls in them ---- */

/* DW_TAG_* and DW_AT_*, DWARF 5, sections 7.5.3 and 7.5.4. */
#define TAG_INLINED 0x1d

enum attribute {
    NONE, /* of no interest */
    NAME,
    LINES,
    LOW,
    HIGH,
    ORIGIN,
    RANGES,
    CALL_FILE,
    CALL_LINE,
    STR_OFFSETS_BASE,
    ADDR_BASE,
    RNGLISTS_BASE,
    ATTRIBUTES
};

static const uint8_t attributes[] = {
    [0x03] = NAME,      [0x10] = LINES,
    [0x11] = LOW,       [0x12] = HIGH,
    [0x31] = ORIGIN,    [0x47] = ORIGIN,
    [0x55] = RANGES,    [0x58] = CALL_FILE,
    [0x59] = CALL_LINE, [0x72] = STR_OFFSETS_BASE,
    [0x73] = ADDR_BASE, [0x74] = RNGLISTS_BASE,
};

struct entry {
    uint64_t tag; /* 0: the end of a list of children */
    struct mf_dwarf_value value[ATTRIBUTES];
};

struct walk {
    struct mf_env *env;
    struct mf_arena *arena;
    const struct mf_addresses *addresses;
    struct mf_unit unit;
    /* Where the declaration with this code is in .debug_abbrev; 0: nowhere. */
    uint32_t *abbrev;
    size_t abbrev_count, abbrev_room;
    struct mf_line_files files;
};

size_t mf_addresses_from(const struct mf_addresses *addresses, uint64_t from)
{
    size_t low = 0, high = addresses->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (addresses->at[middle].at < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- declarations of entries ---- */

/* Codes count from 1 in what compilers write; others are left out. */
#define CODES_MAX 65536

static bool keep_abbrev(struct walk *walk, uint64_t code, uint32_t offset)
{
    void *table = walk->abbrev;

    if (code != walk->abbrev_count + 1 || code > CODES_MAX)
        return true;
    if (!mf_table_grow(walk->env, &table, &walk->abbrev_room,
                       walk->abbrev_count, sizeof(offset)))
        return false;
    walk->abbrev = table;
    walk->abbrev[walk->abbrev_count++] = offset;
    return true;
}

/* An attribute and its form; false after the last one. */
static bool next_attribute(struct mf_bytes *bytes, uint64_t *attribute,
                           uint64_t *form, int64_t *implicit)
{
    *attribute = mf_bytes_uleb(bytes);
    *form = mf_bytes_uleb(bytes);
    *implicit = *form == 0x21 ? mf_bytes_sleb(bytes) : 0;
    return (*attribute || *form) && bytes->at;
}

static bool read_abbrevs(struct walk *walk)
{
    struct mf_bytes section = walk->unit.debug->abbrev;
    struct mf_bytes bytes = mf_bytes_from(section, walk->unit.abbrev_offset);
    uint64_t code, attribute, form;
    int64_t implicit;

    walk->abbrev_count = 0;
    while ((code = mf_bytes_uleb(&bytes)) != 0) {
        if (!keep_abbrev(walk, code, (uint32_t)(section.left - bytes.left)))
            return false;
        mf_bytes_uleb(&bytes);    /* tag */
        mf_bytes_skip(&bytes, 1); /* has children */
        while (next_attribute(&bytes, &attribute, &form, &implicit))
            ;
    }
    return true;
}

/* ---- entries ---- */

/* False where the unit ends, or cannot be read. */
static bool read_entry(const struct walk *walk, struct mf_bytes *bytes,
                       struct entry *entry)
{
    uint64_t code, attribute, form;
    int64_t implicit;
    struct mf_bytes abbrev;

    if (bytes->left == 0)
        return false;
    code = mf_bytes_uleb(bytes);
    *entry = (struct entry){ 0 };
    if (code == 0)
        return bytes->at;
    if (code > walk->abbrev_count)
        return false;
    abbrev = mf_bytes_from(walk->unit.debug->abbrev, walk->abbrev[code - 1]);
    entry->tag = mf_bytes_uleb(&abbrev);
    mf_bytes_skip(&abbrev, 1);
    while (next_attribute(&abbrev, &attribute, &form, &implicit)) {
        struct mf_dwarf_value value =
            mf_dwarf_read(&walk->unit, bytes, form, implicit);

        if (attribute < sizeof(attributes) && attributes[attribute])
            entry->value[attributes[attribute]] = value;
    }
    return bytes->at;
}

static struct mf_ranges ranges_of(const struct entry *entry)
{
    return (struct mf_ranges){ .low = entry->value[LOW],
                               .high = entry->value[HIGH],
                               .list = entry->value[RANGES] };
}

/* A function may be declared in an entry of its own, and that elsewhere. */
#define ORIGINS_MAX 4

static const char *name_of(const struct walk *walk, const struct entry *inlined)
{
    struct entry entry = *inlined;
    const char *name = mf_dwarf_text(&walk->unit, &entry.value[NAME]);

    for (int i = 0; i < ORIGINS_MAX && !*name; i++) {
        struct mf_bytes bytes;

        if (entry.value[ORIGIN].kind != MF_DWARF_REFERENCE)
            break;
        bytes = mf_bytes_from(walk->unit.whole, entry.value[ORIGIN].number);
        if (!read_entry(walk, &bytes, &entry))
            break;
        name = mf_dwarf_text(&walk->unit, &entry.value[NAME]);
    }
    return *name ? name : "???";
}

static char *keep_text(struct mf_arena *arena, const char *text)
{
    size_t size = strlen(text);
    char *kept = mf_arena_text(arena, size);

    if (kept)
        memcpy(kept, text, size);
    return kept;
}

static bool add_inlined(const struct walk *walk, struct mf_address *address,
                        const struct entry *entry)
{
    const char *file =
        mf_line_file(&walk->files, entry->value[CALL_FILE].number);
    struct mf_inlined *inlined = mf_arena_take(walk->arena, sizeof(*inlined));

    if (!inlined)
        return false;
    *inlined = (struct mf_inlined){
        .outer = address->inlined,
        .function = keep_text(walk->arena, name_of(walk, entry)),
        .file = file ? keep_text(walk->arena, file) : NULL,
        .line = (uint32_t)entry->value[CALL_LINE].number,
    };
    address->inlined = inlined;
    return inlined->function && (!file || inlined->file);
}

static bool read_inlined(const struct walk *walk, const struct entry *entry)
{
    const struct mf_addresses *addresses = walk->addresses;
    struct mf_ranges ranges = ranges_of(entry);
    uint64_t from, to;

    while (mf_ranges_next(&walk->unit, &ranges, &from, &to))
        for (size_t i = mf_addresses_from(addresses, from);
             i < addresses->count && addresses->at[i].at < to; i++)
            if (!add_inlined(walk, &addresses->at[i], entry))
                return false;
    return true;
}

/* ---- units ---- */

/* DWARF 5, section 7.5.1; before, the address size comes last. */
static bool read_head(struct mf_unit *unit, struct mf_bytes *info)
{
    const uint8_t *start = info->at;
    struct mf_bytes bytes;
    unsigned type = 1;
    bool wide;

    bytes = mf_bytes_unit(info, &wide);
    unit->whole =
        (struct mf_bytes){ .at = start, .left = (size_t)(info->at - start) };
    unit->offset_size = wide ? 8 : 4;
    unit->version = (unsigned)mf_bytes_number(&bytes, 2);
    if (unit->version >= 5) {
        type = (unsigned)mf_bytes_number(&bytes, 1);
        unit->address_size = (unsigned)mf_bytes_number(&bytes, 1);
    }
    unit->abbrev_offset = mf_bytes_number(&bytes, unit->offset_size);
    if (unit->version < 5)
        unit->address_size = (unsigned)mf_bytes_number(&bytes, 1);
    unit->entries = bytes;
    /* 1: a whole unit; others are of types, or parts that are elsewhere. */
    return bytes.at && type == 1 && unit->version >= 2 && unit->version <= 5 &&
           (unit->address_size == 4 || unit->address_size == 8);
}

static void read_root(struct mf_unit *unit, const struct entry *root)
{
    const struct mf_dwarf_value *value = root->value;

    unit->str_offsets_base = value[STR_OFFSETS_BASE].number;
    unit->addr_base = value[ADDR_BASE].number;
    unit->rnglists_base = value[RNGLISTS_BASE].number;
    unit->has_lines = value[LINES].kind != MF_DWARF_OTHER;
    unit->line_offset = value[LINES].number;
    if (!mf_dwarf_address(unit, &value[LOW], &unit->low))
        unit->low = 0;
}

/* Whether the unit has one of the addresses. */
static bool is_wanted(const struct walk *walk, const struct entry *root)
{
    struct mf_ranges ranges = ranges_of(root);
    uint64_t from, to;

    while (mf_ranges_next(&walk->unit, &ranges, &from, &to)) {
        size_t first = mf_addresses_from(walk->addresses, from);

        if (first < walk->addresses->count &&
            walk->addresses->at[first].at < to)
            return true;
    }
    return false;
}

/* Texts of the sections do not stay. */
static bool keep_files(const struct walk *walk)
{
    const char *last = NULL, *kept = NULL;

    for (size_t i = 0; i < walk->addresses->count; i++) {
        struct mf_address *address = &walk->addresses->at[i];

        if (!address->file)
            continue;
        if (address->file != last) {
            last = address->file;
            kept = keep_text(walk->arena, last);
        }
        address->file = kept;
        if (!kept)
            return false;
    }
    return true;
}

static bool read_unit(struct walk *walk)
{
    struct mf_bytes bytes = walk->unit.entries;
    struct entry entry;

    if (!read_abbrevs(walk))
        return false;
    if (!read_entry(walk, &bytes, &entry))
        return true;
    read_root(&walk->unit, &entry);
    if (!is_wanted(walk, &entry))
        return true;
    walk->files.count = 0;
    if (walk->unit.has_lines &&
        !mf_lines_read(walk->env, &walk->unit, walk->addresses, &walk->files))
        return false;
    while (read_entry(walk, &bytes, &entry))
        if (entry.tag == TAG_INLINED && !read_inlined(walk, &entry))
            return false;
    return true;
}

bool mf_debug_name(struct mf_env *env, struct mf_arena *arena,
                   const struct mf_debug *debug,
                   const struct mf_addresses *addresses)
{
    struct walk walk = { .env = env, .arena = arena, .addresses = addresses };
    struct mf_bytes info = debug->info;
    bool has_memory = true;

    while (has_memory && info.left > 0 && info.at) {
        walk.unit = (struct mf_unit){ .debug = debug };
        if (read_head(&walk.unit, &info))
            has_memory = read_unit(&walk);
    }
    has_memory = has_memory && keep_files(&walk);
    mf_release(env, walk.abbrev, walk.abbrev_room * sizeof(*walk.abbrev));
    mf_release(env, walk.files.name,
               walk.files.room * sizeof(*walk.files.name));
    return has_memory;
}
