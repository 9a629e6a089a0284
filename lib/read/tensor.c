/* SPDX-License-Identifier: MIT
 *
 * tensor.c - reading elements and bytes of tensors
 */
#include "lib/read/read.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/timings.h"
#include "lib/codec/codecs.h"
#include "lib/model/steady.h"
#include "lib/model/swap.h"

/* Elements of a tensor, on their way. */
struct reading {
    struct mf_tensor_reader *reader;
    const struct mf_record *record;
    const struct mf_source *source;
    enum mf_type type;
    enum mf_read_as as;
    const struct mf_codec *codec; /* NULL: turn, or nothing, does it */
    mf_turn *turn;
    uint64_t elements; /* of the tensor */
};

/* ---- what can be read ---- */

/* Of a tensor that is not damaged. */
static enum mf_status find(struct mf_tensor_reader *reader, size_t index,
                           const struct mf_record **out)
{
    const struct mf_model *model = reader->model;
    struct mf_env *env = &reader->env;
    const struct mf_record *record;

    mf_clear_error(env);
    if (model->closed)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "the model was closed");
    if (index >= model->index.tensor_count)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "tensor index %zu is out of range: there are %zu", index,
                       model->index.tensor_count);
    record = &model->index.tensor[index];
    if (record->flags & MF_TENSOR_DAMAGED)
        return mf_fail(env, MF_ERR_CORRUPT, record->entry,
                       "tensor '%s' is damaged", mf_record_name(record).text);
    *out = record;
    return MF_OK;
}

static enum mf_status
no_decoder(struct mf_env *env, const struct mf_record *record, const char *what)
{
    return mf_decline(env, MF_REASON_TYPE_NOT_DECODED, record->entry,
                      "tensor '%s' %s", mf_record_name(record).text, what);
}

/* Whether the numbers are what is wanted already. */
static bool are_wanted(const struct reading *reading)
{
    return reading->as == MF_READ_OWN ||
           (reading->type == MF_TYPE_F32 && reading->as == MF_READ_F32) ||
           (reading->type == MF_TYPE_F64 && reading->as == MF_READ_F64) ||
           (reading->type == MF_TYPE_I64 && reading->as == MF_READ_I64);
}

static enum mf_status check_type(const struct reading *reading)
{
    const struct mf_record *record = reading->record;
    struct mf_env *env = &reading->reader->env;
    char what[96];

    if (reading->type == MF_TYPE_UNKNOWN)
        return no_decoder(env, record, "has an unknown type");
    if (are_wanted(reading) || reading->codec || reading->turn)
        return MF_OK;
    snprintf(what, sizeof(what), "is %s: %s", mf_types[reading->type].name,
             reading->as == MF_READ_I64 ? "its numbers are not integers"
                                        : "decoding that is not supported");
    return no_decoder(env, record, what);
}

/* Whether the tensor has the bytes that its shape asks for. */
static enum mf_status check_size(struct reading *reading)
{
    const struct mf_record *record = reading->record;
    uint64_t size;

    if (mf_elements(record->dim, record->rank, &reading->elements) &&
        mf_type_size(reading->type, reading->elements, &size) &&
        size == record->size)
        return MF_OK;
    return mf_fail(&reading->reader->env, MF_ERR_UNSUPPORTED, record->entry,
                   "tensor '%s': its size, %" PRIu64
                   " bytes, does not match its shape",
                   mf_record_name(record).text, record->size);
}

static enum mf_status check_range(const struct reading *reading, uint64_t first,
                                  uint64_t count)
{
    uint64_t elements = reading->elements;
    size_t block = mf_types[reading->type].block;
    struct mf_env *env = &reading->reader->env;

    if (first > elements || count > elements - first)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "tensor '%s' has %" PRIu64
                       " elements; asked for %" PRIu64 " from %" PRIu64 " on",
                       mf_record_name(reading->record).text, elements, count,
                       first);
    if (reading->as == MF_READ_OWN &&
        (first % block != 0 ||
         (count % block != 0 && first + count != elements) ||
         (mf_type_head(reading->type) > 0 && first > 0)))
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "tensor '%s' has blocks of %zu elements of %s: they are "
                       "read whole",
                       mf_record_name(reading->record).text, block,
                       mf_types[reading->type].name);
    return MF_OK;
}

static enum mf_status begin(struct mf_tensor_reader *reader, size_t index,
                            enum mf_read_as as, struct reading *out)
{
    const struct mf_record *record;
    enum mf_type type;

    if (find(reader, index, &record) != MF_OK)
        return reader->env.error.status;
    if ((unsigned)as > MF_READ_I64)
        return mf_fail(&reader->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "%d is not a way to read numbers", (int)as);
    type = (enum mf_type)record->type;
    *out = (struct reading){
        .reader = reader,
        .record = record,
        .source = &reader->model->file[record->shard].source,
        .type = type,
        .as = as,
    };
    if (type != MF_TYPE_UNKNOWN && !are_wanted(out))
        out->turn = mf_turn_of(type, as);
    if (type != MF_TYPE_UNKNOWN && !are_wanted(out) && !out->turn &&
        as != MF_READ_I64)
        out->codec = mf_env_codec(reader->model->env, reader->isa, type);
    return check_type(out) == MF_OK ? check_size(out)
                                    : reader->env.error.status;
}

/* ---- reading ---- */

/* Bytes of the tensor, as a little-endian file has them. */
static enum mf_status fetch(const struct reading *reading, uint64_t at,
                            void *into, size_t size)
{
    struct mf_env *env = &reading->reader->env;

    if (size == 0 ||
        mf_source_read(env, reading->source,
                       mf_record_data(reading->reader->model, reading->record) +
                           at,
                       into, size) == MF_OK)
        return MF_OK;
    return mf_shard_error(env, reading->reader->model, reading->record->shard);
}

/* Straight to where they are wanted. */
static enum mf_status read_own(const struct reading *reading, uint64_t first,
                               uint64_t count, void *out)
{
    size_t width = mf_types[reading->type].bytes;
    size_t block = mf_types[reading->type].block;
    uint64_t head = mf_type_head(reading->type);
    uint64_t size = (count / block + (count % block != 0)) * width;

    if (count > 0 && head > 0)
        size += head;
    if (size > SIZE_MAX)
        return mf_fail(&reading->reader->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "%" PRIu64 " bytes do not fit the address space", size);
    if (fetch(reading, first / block * width, out, (size_t)size) != MF_OK)
        return reading->reader->env.error.status;
    if (MF_HOST_IS_BIG && block == 1 && head == 0)
        mf_swap_blocks(reading->type, out, (size_t)count);
    return MF_OK;
}

/* The numbers of the blocks from `block` on, with the tensor's head before
 * them, in the buffer. */
static enum mf_status fetch_blocks(const struct reading *reading,
                                   uint64_t block, size_t blocks)
{
    size_t head = mf_type_head(reading->type);
    size_t width = mf_types[reading->type].bytes;
    uint8_t *buffer = reading->reader->buffer;

    return fetch(reading, 0, buffer, head) == MF_OK
               ? fetch(reading, head + block * width, buffer + head,
                       blocks * width)
               : reading->reader->env.error.status;
}

static enum mf_status no_room(const struct reading *reading, uint64_t place)
{
    return mf_fail(&reading->reader->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "tensor '%s': element %" PRIu64 " of %s is above %" PRId64,
                   mf_record_name(reading->record).text, place,
                   mf_types[reading->type].name, INT64_MAX);
}

/* Numbers that no codec is asked for. */
static enum mf_status turn_some(const struct reading *reading, uint64_t first,
                                size_t count, uint8_t *out)
{
    size_t bad = 0;

    if (reading->turn(reading->reader->buffer, reading->type, out, count, &bad))
        return MF_OK;
    return no_room(reading, first + bad);
}

/* Whole blocks, the last one of the tensor excepted, to their place. */
static void decode_some(const struct reading *reading, size_t count,
                        uint8_t *out)
{
    struct mf_tensor_reader *reader = reading->reader;
    struct mf_timed timed = mf_timed_begin(&reader->env, MF_PHASE_DECODE);
    bool doubles = reading->as == MF_READ_F64;

    if (doubles)
        out += count * (sizeof(double) - sizeof(float));
    reading->codec->decode(reader->buffer, (void *)out, count);
    mf_timed_end(&reader->env, timed);
}

/* Part of one block. */
static void decode_part(const struct reading *reading, size_t skip,
                        size_t count, size_t in_block, uint8_t *out)
{
    struct mf_tensor_reader *reader = reading->reader;

    assert(in_block <= MF_BLOCK_MAX && skip + count <= in_block);
    reading->codec->decode(reader->buffer, reader->block, in_block);
    if (reading->as == MF_READ_F64)
        out += count * (sizeof(double) - sizeof(float));
    memcpy(out, reader->block + skip, count * sizeof(float));
}

/* The next elements, from `first` on, of at most `left`: as many as the buffer
 * has room for. */
static enum mf_status read_some(const struct reading *reading, uint64_t first,
                                uint64_t left, uint8_t *out, size_t *count)
{
    size_t block = mf_types[reading->type].block;
    size_t room = (reading->reader->room - mf_type_head(reading->type)) /
                  mf_types[reading->type].bytes;
    size_t skip = (size_t)(first % block), blocks, in_block = block;
    uint64_t in_tensor = reading->elements - (first - skip);

    if (in_tensor < in_block)
        in_block = (size_t)in_tensor;
    blocks = left / block < room ? (size_t)(left / block) : room;
    if (skip > 0 || blocks == 0) { /* not all of this one */
        blocks = 1;
        *count = in_block - skip < left ? in_block - skip : (size_t)left;
    } else {
        *count = blocks * block;
    }
    if (fetch_blocks(reading, first / block, blocks) != MF_OK)
        return reading->reader->env.error.status;
    if (reading->turn)
        return turn_some(reading, first, *count, out);
    if (*count == blocks * block)
        decode_some(reading, *count, out);
    else
        decode_part(reading, skip, *count, in_block, out);
    if (reading->as == MF_READ_F64)
        mf_turn_floats((void *)out, *count);
    return MF_OK;
}

static enum mf_status read_numbers(const struct reading *reading,
                                   uint64_t first, uint64_t count, void *out)
{
    size_t width = mf_read_size(reading->as), some = 0;
    uint8_t *to = out;

    for (uint64_t done = 0; done < count; done += some) {
        if (read_some(reading, first + done, count - done, to, &some) != MF_OK)
            return reading->reader->env.error.status;
        to += some * width;
    }
    return MF_OK;
}

enum mf_status mf_tensor_reader_read(struct mf_tensor_reader *reader,
                                     size_t index, uint64_t first,
                                     uint64_t count, enum mf_read_as as,
                                     void *out)
{
    MF_NEED(NULL, reader);
    MF_NEED(&reader->env, out || count == 0);

    struct reading reading;

    mf_clear_error(&reader->env);
    if (begin(reader, index, as, &reading) != MF_OK ||
        check_range(&reading, first, count) != MF_OK)
        return reader->env.error.status;
    return are_wanted(&reading) ? read_own(&reading, first, count, out)
                                : read_numbers(&reading, first, count, out);
}

enum mf_status mf_tensor_reader_bytes(struct mf_tensor_reader *reader,
                                      size_t index, uint64_t offset,
                                      size_t size, void *out)
{
    MF_NEED(NULL, reader);
    MF_NEED(&reader->env, out || size == 0);

    const struct mf_record *record;
    struct reading reading;

    mf_clear_error(&reader->env);
    if (find(reader, index, &record) != MF_OK)
        return reader->env.error.status;
    if (offset > record->size || size > record->size - offset)
        return mf_fail(&reader->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "tensor '%s' has %" PRIu64
                       " bytes; asked for %zu from %" PRIu64 " on",
                       mf_record_name(record).text, record->size, size, offset);
    if (record->type == MF_TYPE_UNKNOWN &&
        mf_record_is_swapped(reader->model, record))
        return no_decoder(&reader->env, record,
                          "has an unknown type in a big-endian file");
    reading = (struct reading){
        .reader = reader,
        .record = record,
        .source = &reader->model->file[record->shard].source,
    };
    return fetch(&reading, offset, out, size);
}
