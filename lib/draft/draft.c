/* SPDX-License-Identifier: MIT
 *
 * draft.c - a file that will be written: its lists and its plan
 */
#include "lib/draft/draft.h"

#include <assert.h>

#include "lib/base/str.h"

/* ---- lists ---- */

void mf_draft_init(struct mf_draft *draft, struct mf_env *env,
                   const struct mf_format *format)
{
    *draft = (struct mf_draft){ .env = env,
                                .format = format,
                                .out = mf_format_out(format),
                                .floats = MF_TYPE_UNKNOWN };
    mf_arena_init(&draft->arena, env);
}

void mf_draft_release(struct mf_draft *draft)
{
    if (!draft->env)
        return;
    mf_release(draft->env, draft->entry,
               draft->entry_room * sizeof(*draft->entry));
    mf_release(draft->env, draft->tensor,
               draft->tensor_room * sizeof(*draft->tensor));
    mf_release(draft->env, draft->order,
               draft->tensor_count * sizeof(*draft->order));
    mf_arena_release(&draft->arena);
    *draft = (struct mf_draft){ 0 };
}

/* False after mf_fail. */
static bool resize(struct mf_env *env, void **rows, size_t *room, size_t more,
                   size_t size)
{
    void *moved = mf_env_resize(env, *rows, *room * size, more * size);

    if (!moved)
        return false;
    *rows = moved;
    *room = more;
    return true;
}

/* Makes room for one more row, by doubling.  False after mf_fail. */
static bool make_room(struct mf_env *env, void **rows, size_t *room,
                      size_t count, size_t size)
{
    return count < *room ||
           resize(env, rows, room, *room > 0 ? *room * 2 : 16, size);
}

struct mf_entry *mf_draft_add_entry(struct mf_draft *draft)
{
    void *rows = draft->entry;

    if (!make_room(draft->env, &rows, &draft->entry_room, draft->entry_count,
                   sizeof(*draft->entry)))
        return NULL;
    draft->entry = rows;
    draft->entry[draft->entry_count] = (struct mf_entry){ 0 };
    return &draft->entry[draft->entry_count++];
}

enum mf_status mf_draft_reserve(struct mf_draft *draft, size_t count)
{
    void *rows = draft->tensor;

    if (draft->tensor_count + count > draft->tensor_room &&
        !resize(draft->env, &rows, &draft->tensor_room,
                draft->tensor_count + count, sizeof(*draft->tensor)))
        return draft->env->error.status;
    draft->tensor = rows;
    return MF_OK;
}

struct mf_draft_tensor *mf_draft_add_tensor(struct mf_draft *draft)
{
    void *rows = draft->tensor;

    if (!make_room(draft->env, &rows, &draft->tensor_room, draft->tensor_count,
                   sizeof(*draft->tensor)))
        return NULL;
    draft->tensor = rows;
    draft->tensor[draft->tensor_count] = (struct mf_draft_tensor){ 0 };
    return &draft->tensor[draft->tensor_count++];
}

static enum mf_status copy_entries(struct mf_draft *draft,
                                   const struct mf_draft *from)
{
    for (size_t i = 0; i < from->entry_count; i++) {
        struct mf_entry *entry = mf_draft_add_entry(draft);

        if (!entry)
            return draft->env->error.status;
        *entry = from->entry[i];
    }
    return MF_OK;
}

enum mf_status mf_draft_copy(struct mf_draft *draft,
                             const struct mf_draft *from)
{
    struct mf_draft copy = *from;

    assert(draft->entry_count == 0 && draft->tensor_count == 0);
    assert(draft->format == from->format && !from->order);
    copy.arena = draft->arena;
    copy.entry = NULL;
    copy.tensor = NULL;
    copy.entry_count = copy.entry_room = 0;
    copy.tensor_count = copy.tensor_room = 0;
    *draft = copy;
    if (mf_draft_reserve(draft, from->tensor_count) != MF_OK)
        return draft->env->error.status;
    if (from->tensor_count > 0)
        memcpy(draft->tensor, from->tensor,
               from->tensor_count * sizeof(*from->tensor));
    draft->tensor_count = from->tensor_count;
    return copy_entries(draft, from);
}

struct mf_entry *mf_draft_find(const struct mf_draft *draft, const char *key)
{
    for (size_t i = 0; i < draft->entry_count; i++)
        if (mf_str_is(draft->entry[i].key, key))
            return &draft->entry[i];
    return NULL;
}

/* The key with the architecture for its "*"; NULL where the architecture is
 * missing, or too long. */
static const char *full_key(const struct mf_draft *draft, const char *key,
                            char *out, size_t capacity)
{
    const struct mf_entry *entry = mf_draft_find(draft, "general.architecture");
    const char *star = strchr(key, '*');
    size_t before = (size_t)(star - key), size;

    if (!entry || entry->type != MF_VALUE_STRING || !entry->text.at)
        return NULL;
    size = entry->text.size;
    if (size >= capacity - strlen(key))
        return NULL;
    memcpy(out, key, before);
    memcpy(out + before, entry->text.at, size);
    strcpy(out + before + size, star + 1);
    return out;
}

struct mf_entry *mf_draft_find_of(const struct mf_draft *draft, const char *key)
{
    char full[256];

    if (strchr(key, '*') && !full_key(draft, key, full, sizeof(full)))
        return NULL;
    return mf_draft_find(draft, strchr(key, '*') ? full : key);
}

struct mf_str mf_draft_key_at(const void *draft, size_t entry)
{
    return ((const struct mf_draft *)draft)->entry[entry].key;
}

void mf_draft_remove(struct mf_draft *draft, struct mf_entry *entry)
{
    size_t after = (size_t)(draft->entry + draft->entry_count - entry) - 1;

    memmove(entry, entry + 1, after * sizeof(*entry));
    draft->entry_count--;
}

struct mf_str mf_draft_text(struct mf_draft *draft, struct mf_str text)
{
    char *copy = mf_arena_text(&draft->arena, text.size);

    if (copy && text.size > 0)
        memcpy(copy, text.at, text.size);
    return (struct mf_str){ copy, text.size };
}

/* ---- the plan ---- */

static enum mf_status too_large(struct mf_draft *draft)
{
    return mf_fail(draft->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                   "the tensors together are larger than a file can be");
}

static enum mf_status place_tensors(struct mf_draft *draft)
{
    uint64_t at = 0;

    for (size_t i = 0; i < draft->tensor_count; i++) {
        size_t number = draft->order ? draft->order[i] : i;
        struct mf_draft_tensor *tensor = &draft->tensor[number];

        if (!mf_align_up(at, draft->alignment, &at))
            return too_large(draft);
        tensor->offset = at;
        if (!mf_add(at, tensor->size, &at))
            return too_large(draft);
    }
    if (draft->out->pads_last && !mf_align_up(at, draft->alignment, &at))
        return too_large(draft);
    draft->data_size = at;
    return MF_OK;
}

static enum mf_status check_tensor(const struct mf_draft *draft,
                                   const struct mf_draft_tensor *tensor)
{
    const struct mf_format *format = draft->format;
    const struct mf_format_out *out = draft->out;
    size_t most = out->name_size_max;
    struct mf_str name = tensor->name;

    if (most > 0 && (name.size == 0 || name.size > most))
        return mf_fail(draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "the name of tensor '%s' has %zu bytes, %s allows 1 to "
                       "%zu",
                       mf_quote(name).text, name.size, format->name, most);
    if (!mf_text_is_utf8(name.at, name.size) ||
        (most > 0 && memchr(name.at, 0, name.size)))
        return mf_fail(draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "the name of tensor '%s' is not UTF-8 or contains a NUL",
                       mf_quote(name).text);
    if (out->rank_max > 0 && tensor->rank > out->rank_max)
        return mf_fail(
            draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
            "tensor '%s' has %" PRIu32 " dimensions, %s allows %" PRIu32,
            mf_quote(name).text, tensor->rank, format->name, out->rank_max);
    return MF_OK;
}

/* The limits that a format's row states. */
static enum mf_status check_limits(const struct mf_draft *draft)
{
    if (draft->big_endian && !draft->out->big_endian)
        return mf_fail(draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "%s is always little-endian", draft->format->name);
    for (size_t i = 0; i < draft->tensor_count; i++)
        if (check_tensor(draft, &draft->tensor[i]) != MF_OK)
            return draft->env->error.status;
    return MF_OK;
}

static enum mf_status sort_tensors(struct mf_draft *draft)
{
    if (!draft->out->earlier || draft->order || draft->tensor_count == 0)
        return MF_OK;
    draft->order =
        mf_alloc(draft->env, draft->tensor_count * sizeof(*draft->order));
    if (!draft->order)
        return draft->env->error.status;
    for (size_t i = 0; i < draft->tensor_count; i++)
        draft->order[i] = (uint32_t)i;
    mf_sort(draft->order, draft->tensor_count, draft->out->earlier,
            draft->tensor);
    return MF_OK;
}

enum mf_status mf_draft_check(struct mf_draft *draft)
{
    if (check_limits(draft) != MF_OK || draft->out->check(draft) != MF_OK)
        return draft->env->error.status;
    return sort_tensors(draft);
}

enum mf_status mf_draft_plan(struct mf_draft *draft)
{
    const struct mf_format_out *out = draft->out;
    struct mf_sink sink;

    if (draft->version == 0)
        draft->version = out->version;
    if (draft->alignment == 0)
        draft->alignment = out->alignment;
    mf_sink_init(&sink, draft->env);
    sink.big_endian = draft->big_endian;
    if (mf_draft_check(draft) != MF_OK || place_tensors(draft) != MF_OK ||
        out->head(draft, &sink) != MF_OK)
        return draft->env->error.status;
    draft->data_offset = sink.offset;
    draft->part_size = sink.part_size;
    if (!mf_add(draft->data_offset, draft->data_size, &draft->file_size) ||
        !mf_add(draft->file_size, out->has_crc ? 4 : 0, &draft->file_size) ||
        draft->file_size > INT64_MAX)
        return too_large(draft);
    return MF_OK;
}

enum mf_status mf_draft_head(const struct mf_draft *draft, struct mf_sink *sink)
{
    enum mf_status status;

    sink->big_endian = draft->big_endian;
    status = draft->out->head(draft, sink);
    return mf_sink_finish(sink) == MF_OK ? status : sink->status;
}
