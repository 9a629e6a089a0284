/* SPDX-License-Identifier: MIT
 *
 * missing.c - what a file has and a reader leaves out
 */
#include "lib/model/index.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/model/model.h"

static enum mf_status make_room(struct mf_env *env,
                                struct mf_missing_table *table)
{
    size_t wanted = table->room + table->room / 2 + 8;
    void *moved;

    if (table->count < table->room)
        return MF_OK;
    moved = mf_env_resize(env, table->row, table->room * sizeof(*table->row),
                          wanted * sizeof(*table->row));
    if (!moved)
        return env->error.status;
    table->row = moved;
    table->room = wanted;
    return MF_OK;
}

/* A copy in the arena; at is NULL after mf_fail. */
static struct mf_str keep(struct mf_index *index, struct mf_str text)
{
    char *copy = mf_arena_text(&index->arena, text.size);

    if (copy && text.size > 0)
        memcpy(copy, text.at, text.size);
    return (struct mf_str){ copy, text.size };
}

void mf_index_miss(struct mf_index *index, uint32_t shard, struct mf_str name,
                   const char *format, ...)
{
    struct mf_missing_table *table = &index->missing;
    struct mf_missed row = { .shard = shard };
    char text[sizeof(index->env->error.message)];
    struct mf_str reason = { text, 0 };
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    reason.size = mf_utf8_whole(text, strlen(text));
    row.name = keep(index, name);
    reason = keep(index, reason);
    row.reason = reason.at;
    if (row.name.at && row.reason && make_room(index->env, table) == MF_OK)
        table->row[table->count++] = row;
    else
        index->status = index->env->error.status;
}

void mf_missing_release(struct mf_env *env, struct mf_missing_table *table)
{
    mf_release(env, table->row, table->room * sizeof(*table->row));
}

enum mf_status mf_missing_refuse(const struct mf_model *model)
{
    const struct mf_missing_table *table = &model->index.missing;

    if (table->count == 0 || table->allowed)
        return MF_OK;
    return mf_decline(model->env, MF_REASON_DATA_MISSING, MF_NO_OFFSET,
                      "%zu tensor%s or member%s of the model %s not read",
                      table->count, table->count == 1 ? "" : "s",
                      table->count == 1 ? "" : "s",
                      table->count == 1 ? "is" : "are");
}

bool mf_missing_at(const struct mf_model *model, size_t index,
                   struct mf_missed *out)
{
    if (!model || !out)
        return false;

    if (index >= model->index.missing.count)
        return false;
    *out = model->index.missing.row[index];
    return true;
}

bool mf_missing_skipped_at(const struct mf_model *model, size_t index,
                           struct mf_missed *out)
{
    const struct mf_missing_table *table = &model->index.missing;

    if (index >= table->skipped)
        return false;
    *out = table->row[table->count + index];
    return true;
}
