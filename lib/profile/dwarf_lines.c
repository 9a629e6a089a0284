/* SPDX-License-Identifier: MIT
 *
 * dwarf_lines.c - the table of lines of a unit
 */
#include "lib/profile/dwarf.h"

/* ---- names of files ---- */

static const char *without_folder(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool add_file(struct mf_env *env, struct mf_line_files *files,
                     const char *path)
{
    void *table = files->name;

    if (!mf_table_grow(env, &table, &files->room, files->count,
                       sizeof(*files->name)))
        return false;
    files->name = table;
    files->name[files->count++] = without_folder(path);
    return true;
}

const char *mf_line_file(const struct mf_line_files *files, uint64_t index)
{
    return index < files->count ? files->name[index] : NULL;
}

/* Before DWARF 5: folders up to an empty text, then files, from 1 on. */
static bool read_old_files(struct mf_env *env, struct mf_bytes *bytes,
                           struct mf_line_files *files)
{
    const char *name;

    while (*mf_bytes_text(bytes))
        ;
    if (!add_file(env, files, ""))
        return false;
    while (*(name = mf_bytes_text(bytes))) {
        if (!add_file(env, files, name))
            return false;
        for (int i = 0; i < 3; i++) /* folder, time, size */
            mf_bytes_uleb(bytes);
    }
    return true;
}

/* DWARF 5: a list of fields with their forms, then entries made of these.
 * files NULL: they are folders. */
static bool read_entries(struct mf_env *env, const struct mf_unit *unit,
                         struct mf_bytes *bytes, struct mf_line_files *files)
{
    struct {
        uint64_t content, form;
    } field[256];
    uint64_t fields = mf_bytes_number(bytes, 1), count;

    for (uint64_t i = 0; i < fields; i++) {
        field[i].content = mf_bytes_uleb(bytes);
        field[i].form = mf_bytes_uleb(bytes);
    }
    count = mf_bytes_uleb(bytes);
    if (count > bytes->left) /* entries are not empty */
        return true;
    for (uint64_t n = 0; n < count && bytes->at; n++) {
        const char *name = "";

        for (uint64_t i = 0; i < fields; i++) {
            struct mf_dwarf_value value =
                mf_dwarf_read(unit, bytes, field[i].form, 0);

            if (field[i].content == 1) /* DW_LNCT_path */
                name = mf_dwarf_text(unit, &value);
        }
        if (files && !add_file(env, files, name))
            return false;
    }
    return true;
}

/* ---- the program ---- */

struct lines {
    const struct mf_addresses *addresses;
    const struct mf_line_files *files;
    struct mf_bytes bytes; /* of the program */
    unsigned version, address_size;
    unsigned step; /* bytes of the shortest instruction */
    int line_base;
    unsigned line_range, opcode_base;
    struct mf_bytes lengths; /* of the operands of standard opcodes */

    uint64_t address, file, line;
    uint64_t row_address, row_file, row_line; /* the last row */
    bool in_sequence;                         /* there is one */
};

/* A row is about all addresses up to the next one. */
static void end_row(struct lines *lines)
{
    const struct mf_addresses *addresses = lines->addresses;

    if (!lines->in_sequence || lines->row_address >= lines->address)
        return;
    for (size_t i = mf_addresses_from(addresses, lines->row_address);
         i < addresses->count && addresses->at[i].at < lines->address; i++) {
        addresses->at[i].file = mf_line_file(lines->files, lines->row_file);
        addresses->at[i].line = (uint32_t)lines->row_line;
    }
}

static void add_row(struct lines *lines)
{
    end_row(lines);
    lines->in_sequence = true;
    lines->row_address = lines->address;
    lines->row_file = lines->file;
    lines->row_line = lines->line;
}

static void begin_sequence(struct lines *lines)
{
    lines->in_sequence = false;
    lines->address = 0;
    lines->file = lines->line = 1;
}

static void extended(struct lines *lines)
{
    uint64_t size = mf_bytes_uleb(&lines->bytes);
    struct mf_bytes operand = lines->bytes;

    if (!mf_bytes_skip(&lines->bytes, size) || size == 0)
        return;
    switch (mf_bytes_number(&operand, 1)) {
    case 1: /* DW_LNE_end_sequence */
        end_row(lines);
        begin_sequence(lines);
        break;
    case 2: /* DW_LNE_set_address */
        if (size - 1 <= 8)
            lines->address = mf_bytes_number(&operand, (unsigned)size - 1);
        break;
    default:
        break;
    }
}

static void special(struct lines *lines, unsigned opcode)
{
    unsigned adjusted = opcode - lines->opcode_base;

    lines->address += (uint64_t)lines->step * (adjusted / lines->line_range);
    lines->line += (uint64_t)(int64_t)(lines->line_base +
                                       (int)(adjusted % lines->line_range));
}

/* DW_LNS_*, DWARF 5, section 6.2.5.2. */
static void standard(struct lines *lines, unsigned opcode)
{
    struct mf_bytes *bytes = &lines->bytes;

    switch (opcode) {
    case 1: /* copy */
        add_row(lines);
        break;
    case 2: /* advance_pc */
        lines->address += lines->step * mf_bytes_uleb(bytes);
        break;
    case 3: /* advance_line */
        lines->line += (uint64_t)mf_bytes_sleb(bytes);
        break;
    case 4: /* set_file */
        lines->file = mf_bytes_uleb(bytes);
        break;
    case 8: /* const_add_pc */
        lines->address += (uint64_t)lines->step *
                          ((255 - lines->opcode_base) / lines->line_range);
        break;
    case 9: /* fixed_advance_pc */
        lines->address += mf_bytes_number(bytes, 2);
        break;
    default: { /* the rest changes nothing that is of interest here */
        struct mf_bytes length = mf_bytes_from(lines->lengths, opcode - 1);
        uint64_t operands = mf_bytes_number(&length, 1);

        for (uint64_t i = 0; i < operands; i++)
            mf_bytes_uleb(bytes);
    }
    }
}

static void run(struct lines *lines)
{
    begin_sequence(lines);
    while (lines->bytes.left > 0 && lines->bytes.at) {
        unsigned opcode = (unsigned)mf_bytes_number(&lines->bytes, 1);

        if (opcode == 0) {
            extended(lines);
        } else if (opcode < lines->opcode_base) {
            standard(lines, opcode);
        } else {
            special(lines, opcode);
            add_row(lines);
        }
    }
}

/* DWARF 5, section 6.2.4. */
static bool read_head(struct mf_env *env, const struct mf_unit *unit,
                      struct lines *lines, struct mf_line_files *files)
{
    struct mf_unit own = *unit; /* with the sizes of this header */
    struct mf_bytes bytes = mf_bytes_from(unit->debug->line, unit->line_offset),
                    head;
    uint64_t head_size;
    bool wide;

    bytes = mf_bytes_unit(&bytes, &wide);
    own.offset_size = wide ? 8 : 4;
    lines->version = (unsigned)mf_bytes_number(&bytes, 2);
    if (lines->version >= 5) {
        own.address_size = (unsigned)mf_bytes_number(&bytes, 1) & 15;
        mf_bytes_skip(&bytes, 1); /* of segments */
    }
    head_size = mf_bytes_number(&bytes, own.offset_size);
    head = bytes;
    if (!bytes.at || lines->version < 2 || lines->version > 5 ||
        !mf_bytes_skip(&bytes, head_size))
        return true;
    lines->step = (unsigned)mf_bytes_number(&head, 1);
    mf_bytes_skip(&head, lines->version >= 4 ? 2 : 1); /* ..., is_stmt */
    lines->line_base = (int8_t)mf_bytes_number(&head, 1);
    lines->line_range = (unsigned)mf_bytes_number(&head, 1);
    lines->opcode_base = (unsigned)mf_bytes_number(&head, 1);
    if (!head.at || lines->line_range == 0 || lines->opcode_base == 0)
        return true;
    lines->lengths = head;
    mf_bytes_skip(&head, lines->opcode_base - 1);
    lines->bytes = bytes;
    if (lines->version < 5)
        return read_old_files(env, &head, files);
    return read_entries(env, &own, &head, NULL) &&
           read_entries(env, &own, &head, files);
}

bool mf_lines_read(struct mf_env *env, const struct mf_unit *unit,
                   const struct mf_addresses *addresses,
                   struct mf_line_files *files)
{
    struct lines lines = { .addresses = addresses, .files = files };

    if (!read_head(env, unit, &lines, files))
        return false;
    run(&lines);
    return true;
}
