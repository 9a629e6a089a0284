/* SPDX-License-Identifier: MIT
 *
 * object.c - symbols and debug information of an object file
 */
#include "lib/profile/object.h"

#if defined(__linux__)

#include <elf.h>
#include <link.h>

#include "lib/io/source.h"

/* A whole file, as far as it is of interest. */
struct file {
    struct mf_env *env;
    struct mf_source source;
    ElfW(Shdr) * section;
    size_t section_count;
    struct mf_bytes names; /* of sections */
};

/* Bytes of the file, to be released; empty if they cannot be read.  False
 * without memory. */
static bool read_bytes(struct file *file, uint64_t offset, uint64_t size,
                       struct mf_bytes *out)
{
    void *at;

    *out = (struct mf_bytes){ 0 };
    if (offset > file->source.size || size > file->source.size - offset ||
        size > SIZE_MAX || size == 0)
        return true;
    at = mf_alloc(file->env, (size_t)size);
    if (!at)
        return false;
    if (mf_source_read(file->env, &file->source, offset, at, (size_t)size) !=
        MF_OK) {
        mf_release(file->env, at, (size_t)size);
        mf_clear_error(file->env);
        return true;
    }
    *out = (struct mf_bytes){ .at = at, .left = (size_t)size };
    return true;
}

static void release_bytes(struct file *file, struct mf_bytes *bytes)
{
    mf_release(file->env, (void *)(uintptr_t)bytes->at, bytes->left);
    *bytes = (struct mf_bytes){ 0 };
}

/* ---- sections ---- */

/* Compressed sections are left out. */
static bool read_section(struct file *file, const ElfW(Shdr) * section,
                         struct mf_bytes *out)
{
    *out = (struct mf_bytes){ 0 };
    if (section->sh_type == SHT_NOBITS || section->sh_flags & SHF_COMPRESSED)
        return true;
    return read_bytes(file, section->sh_offset, section->sh_size, out);
}

static const ElfW(Shdr) *
    find_section(const struct file *file, const char *name)
{
    for (size_t i = 0; i < file->section_count; i++) {
        struct mf_bytes text =
            mf_bytes_from(file->names, file->section[i].sh_name);

        if (strcmp(mf_bytes_text(&text), name) == 0)
            return &file->section[i];
    }
    return NULL;
}

static bool read_named(struct file *file, const char *name,
                       struct mf_bytes *out)
{
    const ElfW(Shdr) *section = find_section(file, name);

    *out = (struct mf_bytes){ 0 };
    return !section || read_section(file, section, out);
}

/* The table of sections; left empty if the file is no such object. */
static bool read_sections(struct file *file)
{
    struct mf_bytes bytes;
    ElfW(Ehdr) head;

    if (file->source.size < sizeof(head) ||
        mf_source_read(file->env, &file->source, 0, &head, sizeof(head)) !=
            MF_OK) {
        mf_clear_error(file->env);
        return true;
    }
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_shentsize != sizeof(*file->section) ||
        head.e_shstrndx >= head.e_shnum)
        return true;
    if (!read_bytes(file, head.e_shoff,
                    (uint64_t)head.e_shnum * sizeof(*file->section), &bytes))
        return false;
    if (bytes.left == 0)
        return true;
    file->section = (void *)(uintptr_t)bytes.at;
    file->section_count = head.e_shnum;
    return read_section(file, &file->section[head.e_shstrndx], &file->names);
}

static void close_file(struct file *file)
{
    release_bytes(file, &file->names);
    mf_release(file->env, file->section,
               file->section_count * sizeof(*file->section));
    mf_source_close(&file->source);
}

/* ---- symbols ---- */

/* Of several names for one function a global one is taken, as it is the
 * official one; else the first. */
static bool is_better(const struct mf_address *address,
                      const ElfW(Sym) * symbol)
{
    return !address->function || symbol->st_value > address->function_at ||
           (symbol->st_value == address->function_at &&
            symbol->st_info >> 4 == STB_GLOBAL);
}

static bool name_function(struct mf_arena *arena, const ElfW(Sym) * symbol,
                          struct mf_bytes texts,
                          const struct mf_addresses *addresses)
{
    uint64_t from = symbol->st_value;
    struct mf_bytes bytes = mf_bytes_from(texts, symbol->st_name);
    const char *name = mf_bytes_text(&bytes);
    size_t i = mf_addresses_from(addresses, from);
    char *kept = NULL;

    for (; i < addresses->count && *name &&
           addresses->at[i].at - from < symbol->st_size;
         i++) {
        struct mf_address *address = &addresses->at[i];

        if (!is_better(address, symbol))
            continue;
        kept = kept ? kept : mf_arena_text(arena, strlen(name));
        if (!kept)
            return false;
        memcpy(kept, name, strlen(name));
        address->function = kept;
        address->function_at = from;
    }
    return true;
}

static bool name_functions(struct file *file, struct mf_arena *arena,
                           const char *table, const char *names,
                           const struct mf_addresses *addresses)
{
    struct mf_bytes symbols, texts = { 0 };
    bool has_memory =
        read_named(file, table, &symbols) && read_named(file, names, &texts);
    size_t count = symbols.left / sizeof(ElfW(Sym));

    for (size_t i = 0; i < count && has_memory; i++) {
        ElfW(Sym) symbol;
        unsigned type;

        memcpy(&symbol, symbols.at + i * sizeof(symbol), sizeof(symbol));
        type = symbol.st_info & 15;
        if ((type == STT_FUNC || type == STT_GNU_IFUNC) &&
            symbol.st_shndx != SHN_UNDEF)
            has_memory = name_function(arena, &symbol, texts, addresses);
    }
    release_bytes(file, &symbols);
    release_bytes(file, &texts);
    return has_memory;
}

/* ---- lines ---- */

static bool name_lines(struct file *file, struct mf_arena *arena,
                       const struct mf_addresses *addresses)
{
    struct mf_debug debug = { 0 };
    const struct {
        const char *name;
        struct mf_bytes *bytes;
    } wanted[] = {
        { ".debug_info", &debug.info },
        { ".debug_abbrev", &debug.abbrev },
        { ".debug_line", &debug.line },
        { ".debug_str", &debug.str },
        { ".debug_line_str", &debug.line_str },
        { ".debug_rnglists", &debug.rnglists },
        { ".debug_ranges", &debug.ranges },
        { ".debug_addr", &debug.addr },
        { ".debug_str_offsets", &debug.str_offsets },
    };
    const size_t count = sizeof(wanted) / sizeof(*wanted);
    bool has_memory = true;

    for (size_t i = 0; i < count && has_memory; i++)
        has_memory = read_named(file, wanted[i].name, wanted[i].bytes);
    if (has_memory)
        has_memory = mf_debug_name(file->env, arena, &debug, addresses);
    for (size_t i = 0; i < count; i++)
        release_bytes(file, wanted[i].bytes);
    return has_memory;
}

bool mf_object_name(struct mf_env *env, struct mf_arena *arena,
                    const struct mf_object *object,
                    const struct mf_addresses *addresses)
{
    struct file file = { .env = env };
    bool has_memory;

    if (mf_source_open_file(env, object->path, &file.source, NULL) != MF_OK) {
        mf_clear_error(env);
        return true;
    }
    has_memory =
        read_sections(&file) &&
        name_functions(&file, arena, ".dynsym", ".dynstr", addresses) &&
        name_functions(&file, arena, ".symtab", ".strtab", addresses) &&
        name_lines(&file, arena, addresses);
    close_file(&file);
    return has_memory;
}

#else

bool mf_object_name(struct mf_env *env, struct mf_arena *arena,
                    const struct mf_object *object,
                    const struct mf_addresses *addresses)
{
    (void)env;
    (void)arena;
    (void)object;
    (void)addresses;
    return true;
}

#endif
