/* SPDX-License-Identifier: MIT
 *
 * dwarf.h - which function and line of the source an address is in
 *
 * DWARF 2 to 5, as gcc and clang write it: units with a tree of entries (of
 * which only the inlined calls are of interest here), and for each unit a
 * program that produces the table of its lines.  Names and numbers in comments
 * come from the standard.  Damage makes names wrong or leaves them out; it
 * never reads outside a section.
 */
#ifndef MF_LIB_DWARF_H
#define MF_LIB_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/base/heap.h"
#include "lib/profile/table.h"

/* ---- bounded reads from a section ---- */

/* As in a reader of files: after a read past the end all reads give zeros, and
 * one check after a record is enough.  Numbers have the byte order of this
 * machine, for which the object was made. */

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
    if (offset == 0)
        return section; /* there may be none */
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

/* ---- which function and line of the source an address is in ---- */

/* The sections of an object; empty ones are missing. */
struct mf_debug {
    struct mf_bytes info, abbrev, line, str, line_str, rnglists, ranges, addr,
        str_offsets;
};

/* A function that the compiler has put into its caller. */
struct mf_inlined {
    struct mf_inlined *outer; /* inlined around it, or NULL */
    const char *function;
    const char *file; /* of the call, without its folder */
    uint32_t line;
};

/* An address as the object was linked, and what was found for it. */
struct mf_address {
    uint64_t at;
    const char *function; /* that was not inlined; NULL: unknown */
    uint64_t function_at; /* where it begins */
    const char *file;     /* without its folder; NULL: unknown */
    uint32_t line;
    struct mf_inlined *inlined; /* the innermost call, or NULL */
};

/* Addresses of one object, in ascending order. */
struct mf_addresses {
    struct mf_address *at;
    size_t count;
};

/* The first address that is at least that, from 0 to count. */
size_t mf_addresses_from(const struct mf_addresses *addresses, uint64_t from);

/* Fills in file, line and inlined.  Texts are in the arena.  False without
 * memory. */
bool mf_debug_name(struct mf_env *env, struct mf_arena *arena,
                   const struct mf_debug *debug,
                   const struct mf_addresses *addresses);

/* ---- between the files that read DWARF ---- */

/* What an attribute is. */
enum mf_dwarf_kind {
    MF_DWARF_OTHER, /* of no interest; or there is no attribute */
    MF_DWARF_NUMBER,
    MF_DWARF_ADDRESS,
    MF_DWARF_ADDRESS_INDEX,
    MF_DWARF_OFFSET, /* in another section */
    MF_DWARF_LIST_INDEX,
    MF_DWARF_REFERENCE, /* an entry, from the unit's start */
    MF_DWARF_TEXT,
    MF_DWARF_TEXT_STR,
    MF_DWARF_TEXT_LINE,
    MF_DWARF_TEXT_INDEX
};

struct mf_dwarf_value {
    enum mf_dwarf_kind kind;
    uint64_t number; /* of MF_DWARF_TEXT: its address */
};

struct mf_unit {
    const struct mf_debug *debug;
    struct mf_bytes whole;   /* with its header */
    struct mf_bytes entries; /* the root is the first */
    unsigned version, address_size, offset_size;
    uint64_t abbrev_offset;
    /* Of the root: */
    uint64_t low; /* the address that ranges are relative to */
    uint64_t line_offset;
    bool has_lines;
    uint64_t str_offsets_base, addr_base, rnglists_base;
};

/* An attribute of that form, or just its value in .debug_line. */
struct mf_dwarf_value mf_dwarf_read(const struct mf_unit *unit,
                                    struct mf_bytes *bytes, uint64_t form,
                                    int64_t implicit);

/* "" if it is not a text. */
const char *mf_dwarf_text(const struct mf_unit *unit,
                          const struct mf_dwarf_value *value);

/* False if it is not an address. */
bool mf_dwarf_address(const struct mf_unit *unit,
                      const struct mf_dwarf_value *value, uint64_t *out);

/* The ranges of addresses of an entry, one after the other. */
struct mf_ranges {
    struct mf_dwarf_value low, high, list; /* its attributes */
    struct mf_bytes bytes;                 /* private from here on */
    uint64_t base;
    bool begun, is_over;
};
bool mf_ranges_next(const struct mf_unit *unit, struct mf_ranges *ranges,
                    uint64_t *from, uint64_t *to);

/* The names of the files of a unit's table of lines. */
struct mf_line_files {
    const char **name; /* without folders */
    size_t count, room;
};
const char *mf_line_file(const struct mf_line_files *files, uint64_t index);

/* Runs the unit's program of lines; fills in file and line of addresses, and
 * the names of all files. */
bool mf_lines_read(struct mf_env *env, const struct mf_unit *unit,
                   const struct mf_addresses *addresses,
                   struct mf_line_files *files);

#endif
