/* SPDX-License-Identifier: MIT
 *
 * names.c - finding a row of a table by its name
 */
#include "lib/base/names.h"
#include "lib/base/str.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t mf_text_hash(struct mf_str text, uint64_t seed)
{
    return XXH3_64bits_withSeed(text.at, text.size, seed);
}

static size_t hash(const struct mf_names *names, struct mf_str name)
{
    return (size_t)mf_text_hash(name, names->seed);
}

/* At most two thirds full, so a search ends after two or three slots. */
static size_t slots_for(size_t count)
{
    size_t slots = 4;

    while (slots / 3 * 2 < count)
        slots *= 2;
    return slots;
}

size_t mf_names_size(size_t count)
{
    return slots_for(count) * sizeof(uint32_t);
}

enum mf_status mf_names_init(struct mf_names *names, struct mf_arena *arena,
                             size_t count)
{
    size_t slots = slots_for(count);

    names->slot = mf_arena_take(arena, slots * sizeof(*names->slot));
    if (!names->slot)
        return arena->env->error.status;
    memset(names->slot, 0, slots * sizeof(*names->slot));
    names->mask = slots - 1;
    return MF_OK;
}

/* The slot that holds name, or the free one where it would go. */
static uint32_t *find_slot(const struct mf_names *names, struct mf_str name)
{
    size_t at = hash(names, name) & names->mask;

    while (
        names->slot[at] != 0 &&
        !mf_str_same(name, names->name_at(names->table, names->slot[at] - 1)))
        at = (at + 1) & names->mask;
    return &names->slot[at];
}

size_t mf_names_add(struct mf_names *names, size_t row)
{
    uint32_t *slot = find_slot(names, names->name_at(names->table, row));

    if (*slot != 0)
        return *slot - 1;
    *slot = (uint32_t)row + 1;
    return MF_NOT_FOUND;
}

size_t mf_names_find(const struct mf_names *names, struct mf_str name)
{
    uint32_t slot = names->slot ? *find_slot(names, name) : 0;

    return slot == 0 ? MF_NOT_FOUND : slot - 1;
}
