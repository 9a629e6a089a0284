/* SPDX-License-Identifier: MIT
 *
 * objects.c - which objects are loaded, and where
 */
#if defined(__linux__)
#define _GNU_SOURCE /* dl_iterate_phdr */
#endif
#include "lib/profile/object.h"

#if defined(__linux__)

#include <limits.h>
#include <link.h>
#include <unistd.h>

#define PROGRAM "/proc/self/exe"

struct search {
    struct mf_env *env;
    struct mf_arena *arena;
    const struct mf_addresses *addresses;
    struct mf_objects *objects;
    size_t number; /* of the object */
};

static const char *keep(struct mf_arena *arena, const char *text, size_t size)
{
    char *kept = mf_arena_text(arena, size);

    if (kept)
        memcpy(kept, text, size);
    return kept;
}

/* The program has no name in the list of the loader. */
static const char *program_name(struct mf_arena *arena)
{
    char path[PATH_MAX];
    ssize_t size = readlink(PROGRAM, path, sizeof(path));

    return size > 0 && (size_t)size < sizeof(path)
               ? keep(arena, path, (size_t)size)
               : PROGRAM;
}

static bool add(struct search *search, const struct dl_phdr_info *info,
                size_t first, size_t count)
{
    struct mf_objects *objects = search->objects;
    void *table = objects->at;
    struct mf_object object = { .base = info->dlpi_addr,
                                .first = first,
                                .count = count,
                                .is_program = search->number == 0 };

    object.path = object.is_program ? PROGRAM
                                    : keep(search->arena, info->dlpi_name,
                                           strlen(info->dlpi_name));
    object.name = object.is_program ? program_name(search->arena) : object.path;
    if (!object.name || !mf_table_grow(search->env, &table, &objects->room,
                                       objects->count, sizeof(object)))
        return false;
    objects->at = table;
    objects->at[objects->count++] = object;
    return true;
}

/* The loader's list has the segments of each object; together they are one
 * range that no other object has a part in. */
static int look_at(struct dl_phdr_info *info, size_t size, void *user)
{
    struct search *search = user;
    uint64_t low = UINT64_MAX, high = 0;
    struct mf_addresses rest = *search->addresses;
    size_t first, count;

    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uint64_t from = (uint64_t)info->dlpi_addr + segment->p_vaddr;

        if (segment->p_type != PT_LOAD)
            continue;
        low = from < low ? from : low;
        high = from + segment->p_memsz > high ? from + segment->p_memsz : high;
    }
    first = low < high ? mf_addresses_from(&rest, low) : 0;
    count = low < high ? mf_addresses_from(&rest, high) - first : 0;
    if (count > 0 && !add(search, info, first, count))
        return 1;
    search->number++;
    return 0;
}

bool mf_objects_find(struct mf_env *env, struct mf_arena *arena,
                     const struct mf_addresses *addresses,
                     struct mf_objects *out)
{
    struct search search = { env, arena, addresses, out, 0 };

    if (dl_iterate_phdr(look_at, &search) != 0)
        return false;
    for (size_t i = 0; i < out->count; i++)
        for (size_t n = 0; n < out->at[i].count; n++)
            addresses->at[out->at[i].first + n].at -= out->at[i].base;
    return true;
}

#else

bool mf_objects_find(struct mf_env *env, struct mf_arena *arena,
                     const struct mf_addresses *addresses,
                     struct mf_objects *out)
{
    (void)env;
    (void)arena;
    (void)addresses;
    (void)out;
    return true;
}

#endif
