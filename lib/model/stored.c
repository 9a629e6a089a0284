/* SPDX-License-Identifier: MIT
 *
 * stored.c - bytes of tensors that do not lie in the file as they are read
 */
#include "lib/model/stored.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "lib/model/index.h"
#include "lib/model/stored_parts.h"

#define VIEW_BIT ((uint64_t)1 << 61)

static uint64_t offset_of(uint64_t bits, size_t row)
{
    return MF_STORED_BASE | bits | (uint64_t)row << MF_STORED_ROW_SHIFT;
}

static size_t row_of(uint64_t offset)
{
    return (size_t)(offset >> MF_STORED_ROW_SHIFT & (MF_STORED_ROWS_MAX - 1));
}

/* ---- tables ---- */

/* Makes room for one more row; tables grow by half. */
static enum mf_status make_room(struct mf_env *env, void **table, size_t count,
                                size_t *room, size_t row_size)
{
    size_t wanted = *room + *room / 2 + 16;
    void *moved;

    if (count < *room)
        return MF_OK;
    if (count >= MF_STORED_ROWS_MAX)
        return mf_refuse(env, MF_RULE_FILE_LIMIT, MF_NO_OFFSET,
                         "the file has more than %zu members or views",
                         MF_STORED_ROWS_MAX);
    moved = mf_env_resize(env, *table, *room * row_size, wanted * row_size);
    if (!moved)
        return env->error.status;
    *table = moved;
    *room = wanted;
    return MF_OK;
}

void mf_stored_release(struct mf_env *env, struct mf_stored_tables *tables)
{
    mf_release(env, tables->stored,
               tables->stored_room * sizeof(*tables->stored));
    mf_release(env, tables->view, tables->view_room * sizeof(*tables->view));
}

struct mf_stored *mf_index_add_stored(struct mf_index *index,
                                      const struct mf_part *part, uint32_t *row)
{
    struct mf_stored_tables *tables = &index->stored;
    void *table = tables->stored;

    if (make_room(index->env, &table, tables->stored_count,
                  &tables->stored_room, sizeof(struct mf_stored)) != MF_OK)
        return NULL;
    tables->stored = table;
    *row = (uint32_t)tables->stored_count++;
    tables->stored[*row] = (struct mf_stored){ .shard = (uint16_t)part->shard };
    return &tables->stored[*row];
}

uint64_t mf_stored_offset(const struct mf_index *index, uint32_t row)
{
    const struct mf_stored *stored = &index->stored.stored[row];

    return stored->method == MF_METHOD_PLAIN ? stored->file.offset
                                             : offset_of(0, row);
}

bool mf_stored_view_extent(const struct mf_stored_view *view, uint64_t *size,
                           uint64_t *end)
{
    uint64_t count = 1, last = 0, along;

    *size = *end = 0;
    for (uint32_t i = 0; i < view->rank; i++)
        if (view->dim[i] == 0)
            return true;
    for (uint32_t i = 0; i < view->rank; i++)
        if (!mf_mul(count, view->dim[i], &count))
            return false;
    if (!mf_mul(count, view->element, size) || *size > MF_STORED_SIZE_MAX)
        return false;
    for (uint32_t i = 0; i < view->rank; i++)
        if (!mf_mul(view->dim[i] - 1, view->stride[i], &along) ||
            !mf_add(last, along, &last))
            return false;
    return mf_mul(last, view->element, &last) &&
           mf_add(last, view->from, end) && mf_add(*end, view->element, end);
}

bool mf_stored_view_is_plain(const struct mf_stored_view *view)
{
    uint64_t stride = 1;

    for (uint32_t i = view->rank; i-- > 0;) {
        if (view->dim[i] != 1 && view->stride[i] != stride)
            return false;
        stride *= view->dim[i];
    }
    return view->swap <= 1;
}

enum mf_status mf_index_add_view(struct mf_index *index,
                                 const struct mf_stored_view *view,
                                 uint64_t *offset)
{
    struct mf_stored_tables *tables = &index->stored;
    void *table = tables->view;
    struct mf_stored_view *row;
    uint64_t end;

    if (make_room(index->env, &table, tables->view_count, &tables->view_room,
                  sizeof(struct mf_stored_view)) != MF_OK)
        return index->env->error.status;
    tables->view = table;
    row = &tables->view[tables->view_count];
    *row = *view;
    if (!mf_stored_view_extent(view, &row->size, &end) ||
        end > tables->stored[view->stored].size)
        return mf_fail(index->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "a view is not within its storage");
    *offset = offset_of(VIEW_BIT, tables->view_count++);
    return MF_OK;
}

uint64_t mf_stored_place(const struct mf_index *index, uint64_t offset)
{
    const struct mf_stored_tables *tables = &index->stored;
    const struct mf_stored_view *view = NULL;
    const struct mf_stored *stored;
    size_t row = row_of(offset);

    /* A file can claim any offset for its tensors: only those that have a row
     * are from here. */
    if (offset < MF_STORED_BASE || offset >> 63 != 0)
        return offset;
    if (offset & VIEW_BIT) {
        if (row >= tables->view_count)
            return offset;
        view = &tables->view[row];
        row = view->stored;
    }
    if (row >= tables->stored_count)
        return offset;
    stored = &tables->stored[row];
    return stored->file.offset +
           (view && stored->method == MF_METHOD_PLAIN ? view->from : 0);
}

bool mf_record_is_packed(const struct mf_index *index,
                         const struct mf_record *record)
{
    return record->storage > 0 &&
           index->stored.stored[record->storage - 1].method != MF_METHOD_PLAIN;
}

void mf_stored_describe(const struct mf_index *index,
                        const struct mf_record *record, struct mf_tensor *out)
{
    const struct mf_stored_tables *tables = &index->stored;
    const struct mf_stored_view *view;

    if (record->storage == 0)
        return;
    if (mf_record_is_packed(index, record))
        out->flags |= MF_TENSOR_PACKED;
    if (record->offset < MF_STORED_BASE)
        return;
    out->data.offset = mf_stored_place(index, record->offset);
    if (!(record->offset & VIEW_BIT))
        return;
    view = &tables->view[row_of(record->offset)];
    if (view->swap > 1)
        out->flags |= MF_TENSOR_SWAPPED;
    if (!mf_stored_view_is_plain(&(struct mf_stored_view){
            .dim = view->dim, .stride = view->stride, .rank = view->rank })) {
        out->flags |= MF_TENSOR_STRIDED;
        out->stride = view->stride;
    }
}

/* ---- the source ---- */

struct unpacking {
    struct mf_env *env;
    struct mf_source file;
    const struct mf_index *index;
    struct mf_streams streams;
};

/* A storage that is being read. */
struct reading {
    struct unpacking *unpacking;
    struct mf_io_stats *io;
    uint32_t row;
};

static bool read_stored(void *user, uint64_t offset, uint8_t *into, size_t size)
{
    const struct reading *reading = user;
    struct unpacking *unpacking = reading->unpacking;
    struct mf_stored *stored = &unpacking->index->stored.stored[reading->row];

    if (stored->method == MF_METHOD_PLAIN)
        return mf_source_fill(&unpacking->file, stored->file.offset + offset,
                              into, size, reading->io);
    return mf_streams_read(&unpacking->streams, stored, reading->row, offset,
                           into, size, reading->io);
}

/* Part of one element. */
static int64_t read_edge(const struct mf_gather *gather, uint64_t offset,
                         uint8_t *into, size_t size)
{
    size_t element = gather->view->element;
    size_t within = (size_t)(offset % element);
    uint8_t bytes[UINT8_MAX];

    if (size > element - within)
        size = element - within;
    if (!mf_gather(gather, offset / element, 1, bytes))
        return -1;
    memcpy(into, bytes + within, size);
    return (int64_t)size;
}

static int64_t read_view(struct unpacking *unpacking, uint64_t offset,
                         uint8_t *into, size_t size, struct mf_io_stats *io)
{
    const struct mf_stored_view *view =
        &unpacking->index->stored.view[row_of(offset)];
    struct reading reading = { unpacking, io, view->stored };
    struct mf_gather gather = { view, read_stored, &reading };
    uint64_t at = offset & MF_STORED_SIZE_MAX;

    if (at >= view->size)
        return 0;
    if (size > view->size - at)
        size = (size_t)(view->size - at);
    if (at % view->element != 0 || size < view->element)
        return read_edge(&gather, at, into, size);
    size -= size % view->element;
    return mf_gather(&gather, at / view->element, size / view->element, into)
               ? (int64_t)size
               : -1;
}

static int64_t unpacking_read(const struct mf_source *source, uint64_t offset,
                              void *buffer, size_t size, struct mf_io_stats *io)
{
    struct unpacking *unpacking = source->user;
    struct reading reading = { unpacking, io, (uint32_t)row_of(offset) };
    uint64_t at = offset & MF_STORED_SIZE_MAX, end;

    if (offset < MF_STORED_BASE)
        return unpacking->file.ops->read(&unpacking->file, offset, buffer, size,
                                         io);
    if (offset & VIEW_BIT)
        return read_view(unpacking, offset, buffer, size, io);
    end = unpacking->index->stored.stored[reading.row].size;
    if (at >= end)
        return 0;
    if (size > end - at)
        size = (size_t)(end - at);
    return read_stored(&reading, at, buffer, size) ? (int64_t)size : -1;
}

static uint64_t unpacking_size_now(const struct mf_source *source)
{
    const struct unpacking *unpacking = source->user;

    return mf_source_size_now(&unpacking->file);
}

static struct mf_source_times
unpacking_times_now(const struct mf_source *source)
{
    const struct unpacking *unpacking = source->user;

    return mf_source_times_now(&unpacking->file);
}

static void unpacking_close(struct mf_source *source)
{
    struct unpacking *unpacking = source->user;

    mf_streams_release(&unpacking->streams);
    mf_source_close(&unpacking->file);
    mf_release(unpacking->env, unpacking, sizeof(*unpacking));
}

static const struct mf_source_ops borrowed_ops = {
    .read = unpacking_read,
    .size_now = unpacking_size_now,
    .times_now = unpacking_times_now,
};
static const struct mf_source_ops unpacking_ops = {
    .read = unpacking_read,
    .size_now = unpacking_size_now,
    .times_now = unpacking_times_now,
    .close = unpacking_close,
    .borrowed = &borrowed_ops,
};

enum mf_status mf_stored_open(struct mf_env *env, struct mf_source *file,
                              const struct mf_index *index, uint32_t shard)
{
    struct unpacking *unpacking = mf_alloc(env, sizeof(*unpacking));

    if (!unpacking)
        return env->error.status;
    (void)shard; /* rows say which they are of */
    *unpacking =
        (struct unpacking){ .env = env, .file = *file, .index = index };
    unpacking->streams.env = env;
    unpacking->streams.file = &unpacking->file;
    file->ops = &unpacking_ops;
    file->user = unpacking;
    file->stored = true;
    return MF_OK;
}

bool mf_stored_needed(const struct mf_index *index, uint32_t shard)
{
    const struct mf_stored_tables *tables = &index->stored;

    if (index->kind.byte_order == MF_BIG_ENDIAN)
        return true;
    for (size_t i = 0; i < tables->stored_count; i++)
        if (tables->stored[i].shard == shard &&
            tables->stored[i].method != MF_METHOD_PLAIN)
            return true;
    for (size_t i = 0; i < tables->view_count; i++)
        if (tables->stored[tables->view[i].stored].shard == shard)
            return true;
    return false;
}
