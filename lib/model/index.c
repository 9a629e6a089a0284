/* SPDX-License-Identifier: MIT
 *
 * index.c - the tables of a model: metadata, tensors, findings
 */
#include "lib/model/index.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"

void mf_index_init(struct mf_index *index, struct mf_env *env)
{
    *index = (struct mf_index){ .env = env, .findings_max = MF_FINDINGS_MAX };
    mf_arena_init(&index->arena, env);
    mf_arena_init(&index->tensor_arena, env);
}

void mf_index_release(struct mf_index *index)
{
    struct mf_env *env = index->env;

    mf_release(env, index->meta, index->meta_room * sizeof(*index->meta));
    mf_release(env, index->later_meta,
               index->later_meta_room * sizeof(*index->later_meta));
    mf_release(env, index->tensor, index->tensor_room * sizeof(*index->tensor));
    mf_stored_release(env, &index->stored);
    mf_missing_release(env, &index->missing);
    mf_table_release(env, &index->table);
    mf_release(env, index->finding,
               index->finding_room * sizeof(*index->finding));
    mf_arena_release(&index->arena);
    mf_arena_release(&index->tensor_arena);
    mf_index_init(index, env);
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Makes room for one more row of row_size bytes: the table then has room for
 * `wanted` of them, but never for more than `max`. */
static enum mf_status make_room(struct mf_env *env, void **table, size_t count,
                                size_t *room, size_t row_size, size_t wanted,
                                size_t max)
{
    void *moved;

    if (count < *room)
        return MF_OK;
    if (count >= max)
        return mf_refuse(env, MF_RULE_FILE_LIMIT, MF_NO_OFFSET,
                         "the file has more than %zu entries of one kind, "
                         "which is the limit",
                         max);
    if (wanted > max)
        wanted = max;
    moved = mf_env_resize(env, *table, *room * row_size, wanted * row_size);
    if (!moved)
        return env->error.status;
    *table = moved;
    *room = wanted;
    return MF_OK;
}

struct mf_meta *mf_index_add_meta(struct mf_index *index,
                                  const struct mf_part *part)
{
    bool first = part->shard == 0;
    size_t *count = first ? &index->meta_count : &index->later_meta_count;
    size_t *room = first ? &index->meta_room : &index->later_meta_room;
    void *table = first ? index->meta : index->later_meta;
    struct mf_meta *meta;
    /* Most models have fewer than 64 keys, later shards 3. */
    size_t wanted = first ? larger(2 * *count, 64) : *count + *count / 8 + 8;

    if (make_room(index->env, &table, *count, room, sizeof(*meta), wanted,
                  MF_META_MAX) != MF_OK)
        return NULL;
    *(first ? &index->meta : &index->later_meta) = table;
    meta = (struct mf_meta *)table + (*count)++;
    *meta = (struct mf_meta){ .shard = part->shard };
    return meta;
}

enum mf_status mf_index_reserve(struct mf_index *index, uint64_t claimed,
                                uint64_t seen, uint64_t name_bytes,
                                uint64_t dims)
{
    uint64_t trusted =
        seen > MF_TENSORS_MAX / MF_TRUST ? MF_TENSORS_MAX : seen * MF_TRUST;
    uint64_t more = claimed < trusted ? claimed : trusted;
    size_t room = index->tensor_count + (size_t)more;
    uint64_t text;
    struct mf_record *moved;

    if (claimed > MF_TENSORS_MAX - index->tensor_count)
        return mf_refuse(index->env, MF_RULE_FILE_LIMIT, MF_NO_OFFSET,
                         "the file claims %" PRIu64 " tensors; the limit is "
                         "%" PRIu64,
                         claimed, MF_TENSORS_MAX);
    if (seen == 0 || more == 0)
        return MF_OK;
    index->tensor_claimed = index->tensor_count + claimed;
    if (room > index->tensor_room) {
        moved = mf_env_resize(index->env, index->tensor,
                              index->tensor_room * sizeof(*moved),
                              room * sizeof(*moved));
        if (!moved)
            return index->env->error.status;
        index->tensor = moved;
        index->tensor_room = room;
    }
    /* Each name ends with a NUL, and dims after it start on a multiple of 8.
     * If only some entries were seen, later names may be a little longer
     * (blk.9, blk.10): an eighth more. */
    text = name_bytes + seen * 8 + dims * sizeof(uint64_t);
    if (more > seen)
        text = text / seen * more + (text / seen * more) / 8 + more;
    return mf_arena_reserve(&index->tensor_arena, (size_t)text);
}

/* The table never needs more rows than the headers claim. */
static size_t max_tensors(const struct mf_index *index)
{
    return index->tensor_claimed > index->tensor_count &&
                   index->tensor_claimed < MF_TENSORS_MAX
               ? (size_t)index->tensor_claimed
               : MF_TENSORS_MAX;
}

enum mf_status mf_index_add(struct mf_index *index,
                            const struct mf_record *record)
{
    void *table = index->tensor;

    assert(index->tensor_count == 0 ||
           record->shard >= index->tensor[index->tensor_count - 1].shard);
    if (make_room(index->env, &table, index->tensor_count, &index->tensor_room,
                  sizeof(*record), larger(MF_TRUST * index->tensor_count, 16),
                  max_tensors(index)) != MF_OK)
        return index->env->error.status;
    index->tensor = table;
    index->tensor[index->tensor_count++] = *record;
    return MF_OK;
}

uint64_t *mf_index_dims(struct mf_index *index, uint32_t rank)
{
    assert(rank <= MF_RANK_MAX);
    return mf_arena_take(&index->tensor_arena, rank * sizeof(uint64_t));
}

struct mf_quoted mf_record_name(const struct mf_record *record)
{
    return mf_quote((struct mf_str){ record->name, record->name_size });
}

/* The message, in the arena; NULL if memory ran out. */
static const char *keep_message(struct mf_index *index, const char *format,
                                va_list arguments)
{
    char text[sizeof(index->env->error.message)];
    size_t size;
    char *kept;

    vsnprintf(text, sizeof(text), format, arguments);
    size = mf_utf8_whole(text, strlen(text));
    kept = mf_arena_text(&index->arena, size);
    if (kept)
        memcpy(kept, text, size);
    return kept;
}

enum mf_reason mf_index_damage_reason(const struct mf_index *index)
{
    for (size_t i = 0; i < MF_RULE_COUNT; i++)
        if (index->damaged_by[i] && i != MF_RULE_PICKLE_GLOBAL)
            return MF_REASON_INPUT_INVALID;
    return MF_REASON_INPUT_CLASSES;
}

static bool keep_damage(struct mf_index *index, enum mf_rule rule,
                        const char *name)
{
    struct mf_damage *damage = mf_arena_take(&index->arena, sizeof(*damage));

    if (!damage)
        return false;
    *damage = (struct mf_damage){ name, rule, index->damage };
    index->damage = damage;
    return true;
}

static void add_finding(struct mf_index *index, enum mf_rule rule,
                        struct mf_finding finding, const char *format,
                        va_list arguments)
{
    void *table = index->finding;
    size_t wanted = larger(2 * index->finding_count, 8);
    bool damages = finding.severity == MF_ERROR && !index->opened;

    assert(finding.severity < MF_ERROR || mf_rules[rule].readers != 0);
    if (damages) {
        index->damaged_by[rule]++;
        index->damage_count++;
    }
    if (finding.severity == MF_ERROR_ELSEWHERE)
        finding.severity = MF_ERROR;
    finding.usual = finding.severity;
    finding.offset = mf_stored_place(index, finding.offset);
    index->tally[rule][finding.severity]++;
    if (index->finding_count == index->findings_max || index->status != MF_OK)
        return;
    finding.message = keep_message(index, format, arguments);
    if (!finding.message ||
        (damages && finding.tensor.at &&
         !keep_damage(index, rule, finding.tensor.at)) ||
        make_room(index->env, &table, index->finding_count,
                  &index->finding_room, sizeof(finding), wanted,
                  index->findings_max) != MF_OK) {
        index->status = index->env->error.status;
        return;
    }
    index->finding = table;
    index->finding[index->finding_count++] = finding;
}

void mf_index_note(struct mf_index *index, uint32_t shard,
                   enum mf_severity severity, enum mf_rule rule,
                   uint64_t offset, const char *format, ...)
{
    struct mf_finding finding = { .rule = mf_rules[rule].id,
                                  .severity = severity,
                                  .shard = shard,
                                  .offset = offset };
    va_list arguments;

    va_start(arguments, format);
    add_finding(index, rule, finding, format, arguments);
    va_end(arguments);
}

void mf_index_note_of(struct mf_index *index, const struct mf_record *record,
                      enum mf_severity severity, enum mf_rule rule,
                      uint64_t offset, const char *format, ...)
{
    struct mf_finding finding = { .rule = mf_rules[rule].id,
                                  .severity = severity,
                                  .shard = record->shard,
                                  .offset = offset,
                                  .tensor = { record->name,
                                              record->name_size } };
    va_list arguments;

    va_start(arguments, format);
    add_finding(index, rule, finding, format, arguments);
    va_end(arguments);
}

static struct mf_str meta_name(const void *table, size_t row)
{
    return ((const struct mf_index *)table)->meta[row].key;
}

static struct mf_str tensor_name(const void *table, size_t row)
{
    const struct mf_record *record =
        &((const struct mf_index *)table)->tensor[row];

    return (struct mf_str){ record->name, record->name_size };
}

bool mf_meta_same(const struct mf_meta *a, const struct mf_meta *b)
{
    if (a->type != b->type || a->count != b->count)
        return false;
    if (a->type == MF_VALUE_STRING)
        return a->text.at && b->text.at &&
               memcmp(a->text.at, b->text.at, a->text.size) == 0;
    return a->type == MF_VALUE_NULL ||
           (a->type != MF_VALUE_ARRAY && a->type != MF_VALUE_OBJECT &&
            a->number.u64 == b->number.u64);
}

void mf_index_note_duplicate(struct mf_index *index,
                             const struct mf_meta *first,
                             const struct mf_meta *second)
{
    bool in_file = first->type == MF_VALUE_ARRAY ||
                   first->type == MF_VALUE_OBJECT ||
                   (first->type == MF_VALUE_STRING && !first->text.at);

    mf_index_note(index, second->shard, MF_ERROR, MF_RULE_META_DUPLICATE,
                  second->span.offset,
                  "duplicate key '%s' (%s, at %#" PRIx64 " and %#" PRIx64
                  "); the first one is used",
                  mf_quote(second->key).text,
                  mf_meta_same(first, second)              ? "same value"
                  : in_file && first->type == second->type ? "values"
                                                           : "different values",
                  first->span.offset, second->span.offset);
}

static void note_duplicate_tensor(struct mf_index *index, size_t first,
                                  size_t second)
{
    struct mf_record *tensor = index->tensor;

    tensor[second].flags |= MF_TENSOR_DAMAGED;
    mf_index_note_of(index, &tensor[second], MF_ERROR, MF_RULE_TENSOR_DUPLICATE,
                     tensor[second].entry,
                     "duplicate tensor '%s', at %#" PRIx64 " of shard %u and "
                     "at %#" PRIx64 " of shard %u",
                     mf_record_name(&tensor[second]).text, tensor[first].entry,
                     tensor[first].shard + 1u, tensor[second].entry,
                     tensor[second].shard + 1u);
}

enum mf_status mf_index_build_names(struct mf_index *index)
{
    size_t first;

    index->meta_names = (struct mf_names){ .seed = index->env->hash_seed,
                                           .name_at = meta_name,
                                           .table = index };
    index->tensor_names = index->meta_names;
    index->tensor_names.name_at = tensor_name;
    /* Both tables from one chunk: the number of allocations must not depend
     * on how full the last one happens to be. */
    if (mf_arena_reserve(&index->arena,
                         mf_names_size(index->meta_count) +
                             mf_names_size(index->tensor_count)) != MF_OK ||
        mf_names_init(&index->meta_names, &index->arena, index->meta_count) !=
            MF_OK ||
        mf_names_init(&index->tensor_names, &index->arena,
                      index->tensor_count) != MF_OK)
        return index->env->error.status;
    for (size_t i = 0; i < index->meta_count; i++)
        if ((first = mf_names_add(&index->meta_names, i)) != MF_NOT_FOUND)
            mf_index_note_duplicate(index, &index->meta[first],
                                    &index->meta[i]);
    for (size_t i = 0; i < index->tensor_count; i++)
        if ((first = mf_names_add(&index->tensor_names, i)) != MF_NOT_FOUND)
            note_duplicate_tensor(index, first, i);
    return index->status;
}

enum mf_status mf_index_rename(struct mf_index *index, size_t *first,
                               size_t *second)
{
    *first = *second = MF_NOT_FOUND;
    if (mf_names_init(&index->tensor_names, &index->arena,
                      index->tensor_count) != MF_OK)
        return index->env->error.status;
    for (size_t i = 0; i < index->tensor_count && *first == MF_NOT_FOUND; i++) {
        *first = mf_names_add(&index->tensor_names, i);
        *second = i;
    }
    return MF_OK;
}

/* ---- metadata ---- */

const struct mf_meta *mf_index_meta(const struct mf_index *index,
                                    const char *key)
{
    size_t row =
        mf_names_find(&index->meta_names, (struct mf_str){ key, strlen(key) });

    return row == MF_NOT_FOUND ? NULL : &index->meta[row];
}

bool mf_meta_is_integer(const struct mf_meta *meta)
{
    return meta->type <= MF_VALUE_I32 || meta->type == MF_VALUE_U64 ||
           meta->type == MF_VALUE_I64;
}

bool mf_meta_unsigned(const struct mf_meta *meta, uint64_t *out)
{
    if (!meta)
        return false;
    switch (meta->type) {
    case MF_VALUE_I8:
    case MF_VALUE_I16:
    case MF_VALUE_I32:
    case MF_VALUE_I64:
        *out = meta->number.u64;
        return meta->number.i64 >= 0;
    case MF_VALUE_U8:
    case MF_VALUE_U16:
    case MF_VALUE_U32:
    case MF_VALUE_U64:
        *out = meta->number.u64;
        return true;
    default:
        return false;
    }
}
