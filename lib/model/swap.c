/* SPDX-License-Identifier: MIT
 *
 * swap.c - tensors of big-endian files, as a little-endian file has them
 */
#include "lib/model/swap.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "lib/model/model.h"

/* Numbers of one width in a block. */
struct run {
    uint16_t at;
    uint8_t width, count, step;
};

static const struct run rows[MF_TYPE_COUNT][2] = {
#define SWAP(NAME, at, width, count, step, at2, width2, count2, step2)         \
    [MF_TYPE_##NAME] = { { at, width, count, step },                           \
                         { at2, width2, count2, step2 } },
#include "lib/model/swap.def"
#undef SWAP
};

/* ---- blocks ---- */

static inline void swap_2(uint8_t *at)
{
    uint16_t value;

    memcpy(&value, at, sizeof(value));
    value = __builtin_bswap16(value);
    memcpy(at, &value, sizeof(value));
}

static inline void swap_4(uint8_t *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof(value));
    value = __builtin_bswap32(value);
    memcpy(at, &value, sizeof(value));
}

static inline void swap_8(uint8_t *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof(value));
    value = __builtin_bswap64(value);
    memcpy(at, &value, sizeof(value));
}

/* Tensors of plain numbers: loops that compilers make vectors of. */
static void swap_numbers(size_t width, uint8_t *bytes, size_t count)
{
    if (width == 2)
        for (size_t i = 0; i < count; i++)
            swap_2(bytes + 2 * i);
    else if (width == 4)
        for (size_t i = 0; i < count; i++)
            swap_4(bytes + 4 * i);
    else
        for (size_t i = 0; i < count; i++)
            swap_8(bytes + 8 * i);
}

/* The run in each of the blocks, which are size bytes apart. */
static void swap_run(struct run run, size_t size, uint8_t *bytes, size_t blocks)
{
    uint8_t *block = bytes + run.at;

    for (size_t i = 0; i < blocks; i++, block += size)
        for (size_t k = 0; k < run.count; k++)
            if (run.width == 2)
                swap_2(block + k * run.step);
            else
                swap_4(block + k * run.step);
}

bool mf_type_swaps(enum mf_type type)
{
    return type < MF_TYPE_COUNT && rows[type][0].width > 0;
}

void mf_swap_blocks(enum mf_type type, uint8_t *bytes, size_t blocks)
{
    const struct run *run = rows[type];
    size_t size = mf_types[type].bytes;

    assert(type < MF_TYPE_COUNT);
    if (run[0].width == size) {
        swap_numbers(size, bytes, blocks);
        return;
    }
    for (size_t i = 0; i < 2; i++)
        if (run[i].count > 0)
            swap_run(run[i], size, bytes, blocks);
}

/* ---- records ---- */

bool mf_record_is_swapped(const struct mf_model *model,
                          const struct mf_record *record)
{
    return model->index.kind.byte_order == MF_BIG_ENDIAN &&
           (record->type == MF_TYPE_UNKNOWN ||
            mf_type_swaps((enum mf_type)record->type));
}

uint64_t mf_record_data(const struct mf_model *model,
                        const struct mf_record *record)
{
    return record->type != MF_TYPE_UNKNOWN &&
                   mf_record_is_swapped(model, record)
               ? record->offset | MF_SWAPPED_BIT
               : record->offset;
}

enum mf_status mf_tensor_turnable(const struct mf_model *model, size_t tensor)
{
    const struct mf_record *record = &model->index.tensor[tensor];

    if (record->type != MF_TYPE_UNKNOWN || !mf_record_is_swapped(model, record))
        return MF_OK;
    return mf_fail(model->env, MF_ERR_UNSUPPORTED, record->offset,
                   "tensor '%s' has an unknown type in a big-endian file: its "
                   "little-endian bytes are unknown",
                   mf_record_name(record).text);
}

/* ---- reading ---- */

/* A big-endian file. */
struct swapped {
    struct mf_env *env;
    struct mf_source file;
    const struct mf_index *index;
    uint32_t shard;
    atomic_size_t last; /* tensor that was read, in the order of data */
};

/* How many of the tensors, in the order of their data, begin at the offset of
 * the shard or before. */
static size_t begun(const struct mf_index *index, uint32_t shard,
                    uint64_t offset)
{
    size_t low = 0, high = index->tensor_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct mf_record *record = mf_record_by_offset(index, middle);

        if (record->shard < shard ||
            (record->shard == shard && record->offset <= offset))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has_byte(const struct swapped *swapped, size_t at, uint64_t offset)
{
    const struct mf_record *record = mf_record_by_offset(swapped->index, at);

    return record->shard == swapped->shard &&
           !(record->flags & MF_TENSOR_DAMAGED) && record->offset <= offset &&
           offset - record->offset < record->size;
}

/* The tensor that has that byte: mostly the one last read.  Sound ones do not
 * overlap, so else it is the last that begins there or before, but for empty
 * and damaged ones, of which a file may have a million. */
static const struct mf_record *record_at(struct swapped *swapped,
                                         uint64_t offset)
{
    const struct mf_index *index = swapped->index;
    size_t last = atomic_load_explicit(&swapped->last, memory_order_relaxed);

    if (last < index->tensor_count && has_byte(swapped, last, offset))
        return mf_record_by_offset(index, last);
    for (size_t i = begun(index, swapped->shard, offset); i-- > 0;) {
        if (mf_record_by_offset(index, i)->shard != swapped->shard)
            break;
        if (!has_byte(swapped, i, offset))
            continue;
        atomic_store_explicit(&swapped->last, i, memory_order_relaxed);
        return mf_record_by_offset(index, i);
    }
    return NULL;
}

/* Bytes within one block, of which the file has all. */
static int64_t read_edge(const struct mf_source *file, enum mf_type type,
                         uint64_t block, size_t within, uint8_t *into,
                         size_t size, struct mf_io_stats *io)
{
    uint8_t bytes[512];
    size_t whole = mf_types[type].bytes;

    assert(whole <= sizeof(bytes) && within < whole);
    if (!mf_source_fill(file, block, bytes, whole, io))
        return -1;
    mf_swap_blocks(type, bytes, 1);
    if (size > whole - within)
        size = whole - within;
    memcpy(into, bytes + within, size);
    return (int64_t)size;
}

static int64_t read_swapped(struct swapped *swapped, uint64_t place,
                            uint8_t *into, size_t size, struct mf_io_stats *io)
{
    const struct mf_record *record = record_at(swapped, place);
    enum mf_type type;
    size_t block, within;
    uint64_t left;

    if (!record || record->type == MF_TYPE_UNKNOWN) {
        errno = EIO;
        return -1;
    }
    type = (enum mf_type)record->type;
    block = mf_types[type].bytes;
    within = (size_t)((place - record->offset) % block);
    left = record->size - (place - record->offset);
    if (size > left)
        size = (size_t)left;
    if (within > 0 || size < block)
        return read_edge(&swapped->file, type, place - within, within, into,
                         size, io);
    size -= size % block;
    if (!mf_source_fill(&swapped->file, place, into, size, io))
        return -1;
    mf_swap_blocks(type, into, size / block);
    return (int64_t)size;
}

static int64_t swapped_read(const struct mf_source *source, uint64_t offset,
                            void *buffer, size_t size, struct mf_io_stats *io)
{
    struct swapped *swapped = source->user;

    return offset & MF_SWAPPED_BIT
               ? read_swapped(swapped, offset & ~MF_SWAPPED_BIT, buffer, size,
                              io)
               : swapped->file.ops->read(&swapped->file, offset, buffer, size,
                                         io);
}

static uint64_t swapped_size_now(const struct mf_source *source)
{
    const struct swapped *swapped = source->user;

    return mf_source_size_now(&swapped->file);
}

static struct mf_source_times swapped_times_now(const struct mf_source *source)
{
    const struct swapped *swapped = source->user;

    return mf_source_times_now(&swapped->file);
}

static void swapped_close(struct mf_source *source)
{
    struct swapped *swapped = source->user;

    mf_source_close(&swapped->file);
    mf_release(swapped->env, swapped, sizeof(*swapped));
}

static const struct mf_source_ops borrowed_ops = {
    .read = swapped_read,
    .size_now = swapped_size_now,
    .times_now = swapped_times_now,
};
static const struct mf_source_ops swapped_ops = {
    .read = swapped_read,
    .size_now = swapped_size_now,
    .times_now = swapped_times_now,
    .close = swapped_close,
    .borrowed = &borrowed_ops,
};

enum mf_status mf_swapped_open(struct mf_env *env, struct mf_source *file,
                               const struct mf_index *index, uint32_t shard)
{
    struct swapped *swapped = mf_alloc(env, sizeof(*swapped));

    if (!swapped)
        return env->error.status;
    *swapped = (struct swapped){ .env = env,
                                 .file = *file,
                                 .index = index,
                                 .shard = shard,
                                 .last = SIZE_MAX };
    file->ops = &swapped_ops;
    file->user = swapped;
    file->stored = true;
    return MF_OK;
}
