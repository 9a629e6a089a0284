/* SPDX-License-Identifier: MIT
 *
 * unpacked.c - storages that are unpacked as a whole, for reads in any order
 */
#include "lib/model/stored_parts.h"

#include <errno.h>
#include <string.h>

#include "lib/base/kept.h"
#include "lib/io/scratch.h"

/* A storage that is smaller goes to memory, as long as all of them are. */
#define SMALL ((uint64_t)256 << 10)

/* All of them together, where there is no scratch file. */
#define MEMORY_MOST ((uint64_t)64 << 20)

/* Any thread may be at work with the env, and an error is not its last word. */
static void *resize(struct mf_env *env, void *block, size_t from, size_t to)
{
    struct mf_error before;

    mf_kept_lock(env);
    before = env->error;
    block = mf_env_resize(env, block, from, to);
    env->error = before;
    mf_kept_unlock(env);
    if (!block)
        errno = ENOMEM;
    return block;
}

/* ---- the table ---- */

/* The row's place: where it is, or where it would be. */
static struct mf_unpacked *place_of(const struct mf_unpacked_table *table,
                                    uint32_t row)
{
    size_t at = row * (size_t)2654435761; /* Knuth's multiplicative hash */

    for (;; at++) {
        struct mf_unpacked *place = &table->row[at & (table->room - 1)];

        if (place->key == 0 || place->key == row + 1)
            return place;
    }
}

struct mf_unpacked *mf_unpacked_find(const struct mf_unpacked_table *table,
                                     uint32_t row)
{
    struct mf_unpacked *place = table->count > 0 ? place_of(table, row) : NULL;

    return place && place->key != 0 ? place : NULL;
}

/* Room for one more, at most three quarters full. */
static bool grow(struct mf_unpacked_table *table, struct mf_env *env)
{
    struct mf_unpacked_table more = *table;

    if (table->count < table->room / 4 * 3)
        return true;
    more.room = table->room > 0 ? 2 * table->room : 8;
    more.row = resize(env, NULL, 0, more.room * sizeof(*more.row));
    if (!more.row)
        return false;
    memset(more.row, 0, more.room * sizeof(*more.row));
    for (size_t i = 0; i < table->room; i++)
        if (table->row[i].key != 0)
            *place_of(&more, table->row[i].key - 1) = table->row[i];
    if (table->row)
        resize(env, table->row, table->room * sizeof(*table->row), 0);
    *table = more;
    return true;
}

/* ---- where bytes go ---- */

static bool take_memory(struct mf_unpacked_table *table, struct mf_env *env,
                        struct mf_unpacked *out, uint64_t most)
{
    errno = ENOSPC;
    if (table->in_memory > most || out->room > most - table->in_memory)
        return false;
    out->memory = resize(env, NULL, 0, (size_t)out->room);
    table->in_memory += out->memory ? out->room : 0;
    return out->memory != NULL;
}

static bool take_scratch(struct mf_unpacked_table *table, struct mf_env *env,
                         struct mf_unpacked *out)
{
    table->joined = table->joined || mf_scratch_join(env);
    return table->joined && mf_scratch_take(env, out->room, &out->at);
}

struct mf_unpacked *mf_unpacked_begin(struct mf_unpacked_table *table,
                                      struct mf_env *env, uint32_t row,
                                      uint64_t size)
{
    struct mf_unpacked made = { .key = row + 1, .room = size }, *place;

    place = mf_unpacked_find(table, row);
    if (place) { /* its room is kept */
        place->ready = place->again = false;
        place->error = 0;
        return place;
    }
    if (!grow(table, env))
        return NULL;
    if (!take_memory(table, env, &made, SMALL) &&
        !take_scratch(table, env, &made) &&
        !take_memory(table, env, &made, MEMORY_MOST)) {
        errno = ENOSPC;
        return NULL;
    }
    place = place_of(table, row);
    *place = made;
    table->count++;
    return place;
}

bool mf_unpacked_put(struct mf_env *env, const struct mf_unpacked *unpacked,
                     uint64_t offset, const uint8_t *bytes, size_t size)
{
    if (!unpacked->memory)
        return mf_scratch_write(env, unpacked->at + offset, bytes, size);
    memcpy(unpacked->memory + offset, bytes, size);
    return true;
}

bool mf_unpacked_get(struct mf_env *env, const struct mf_unpacked *unpacked,
                     uint64_t offset, uint8_t *into, size_t size)
{
    errno = unpacked->error ? unpacked->error : EBADMSG;
    if (unpacked->error || offset > unpacked->size ||
        size > unpacked->size - offset)
        return false;
    if (!unpacked->memory)
        return mf_scratch_read(env, unpacked->at + offset, into, size);
    memcpy(into, unpacked->memory + offset, size);
    return true;
}

void mf_unpacked_drop(struct mf_env *env, const struct mf_unpacked *unpacked)
{
    if (!unpacked->memory)
        mf_scratch_give(env, unpacked->at, unpacked->room);
}

void mf_unpacked_release(struct mf_unpacked_table *table, struct mf_env *env)
{
    for (size_t i = 0; i < table->room; i++)
        mf_release(env, table->row[i].memory, (size_t)table->row[i].room);
    mf_release(env, table->row, table->room * sizeof(*table->row));
    if (table->joined)
        mf_scratch_leave(env);
    *table = (struct mf_unpacked_table){ 0 };
}
