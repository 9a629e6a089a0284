/* SPDX-License-Identifier: MIT
 *
 * validate_data.c - one look at the bytes of every tensor, without decoding
 */
#include "lib/model.h"
#include "lib/scan.h"

/* Smaller ones are slower, by system calls; larger ones fall out of the
 * second-level cache between being read and being looked at. */
#define BUFFER ((size_t)1024 * 1024)

/* The kernel copies into whole pages at more than twice the speed. */
#define PAGE ((size_t)4096)

struct look {
    struct mf_model *model;
    struct mf_index *index;
    const struct mf_isa *isa;
    uint8_t *buffer;
};

static enum mf_status read_at(const struct look *look, uint32_t shard,
                              uint64_t offset, size_t size)
{
    return mf_source_read(look->model->env, &look->model->file[shard].source,
                          offset, look->buffer, size);
}

/* ---- tensors ---- */

struct result {
    uint64_t count, first; /* numbers that are none; in strides */
    bool any;              /* a byte is not zero */
};

/* The scale of apr_q8 stands once, before the whole tensor. */
static uint64_t head_size(const struct mf_record *record)
{
    return record->type == MF_TYPE_APR_Q8 && record->size >= 4 ? 4 : 0;
}

static void look_at(const struct look *look, const struct mf_record *record,
                    uint64_t done, size_t size, struct result *result)
{
    bool big_endian = look->index->kind.byte_order == MF_BIG_ENDIAN;
    enum mf_type type = (enum mf_type)record->type;
    size_t head = done == 0 ? (size_t)head_size(record) : 0, first;
    uint64_t count;

    if (head > 0 && mf_scan(look->isa, MF_TYPE_F32, big_endian, look->buffer,
                            head, &count) != MF_SCAN_CLEAN) {
        result->first = 0;
        result->count = 1;
    }
    first = mf_scan(look->isa, type, big_endian, look->buffer, size, &count);
    if (first != MF_SCAN_CLEAN && result->count == 0)
        result->first = done / mf_scan_stride(type) + first;
    result->count += count;
    result->any = result->any || mf_scan_any(look->buffer, size);
}

static void report(const struct look *look, const struct mf_record *record,
                   const struct result *result)
{
    struct mf_index *index = look->index;
    size_t stride = mf_scan_stride((enum mf_type)record->type);
    bool blocks = mf_types[record->type].block > 1;

    index->shard = record->shard;
    if (result->count > 0)
        mf_index_note_of(
            index, record,
            look->model->format->layout == MF_LAYOUT_TILED ? MF_WARNING
                                                           : MF_ERROR,
            blocks ? MF_RULE_DATA_SCALE : MF_RULE_DATA_NOT_FINITE,
            record->offset + result->first * stride,
            "tensor '%s' has %" PRIu64 " %s that are infinite or no number, "
            "the first at %s %" PRIu64,
            mf_record_name(record).text, result->count,
            blocks ? "blocks with scales" : "elements",
            blocks ? "block" : "element", result->first);
    if (!result->any && record->size > 0)
        mf_index_note_of(index, record, MF_WARNING, MF_RULE_DATA_ZERO,
                         record->offset, "tensor '%s' holds nothing but zeros",
                         mf_record_name(record).text);
}

static enum mf_status look_through(const struct look *look,
                                   const struct mf_record *record)
{
    struct result result = { 0 };
    size_t stride, most;

    if (record->flags & MF_TENSOR_DAMAGED || record->type == MF_TYPE_UNKNOWN)
        return MF_OK;
    stride = mf_scan_stride((enum mf_type)record->type);
    if (record->size % stride != 0)
        return MF_OK; /* a size of its own: no block can be told */
    most = BUFFER - BUFFER % stride;
    for (uint64_t done = 0; done < record->size;) {
        uint64_t left = record->size - done;
        size_t size = left < most ? (size_t)left : most;

        if (read_at(look, record->shard, record->offset + done, size) != MF_OK)
            return look->model->env->error.status;
        look_at(look, record, done, size, &result);
        done += size;
    }
    report(look, record, &result);
    return MF_OK;
}

/* ---- between tensors ---- */

static const struct mf_record *in_order(const struct mf_index *index, size_t at)
{
    return &index->tensor[index->by_offset ? index->by_offset[at] : at];
}

/* Padding up to the alignment; what is longer is a gap, and told as such. */
static enum mf_status look_between(const struct look *look, size_t at,
                                   const struct mf_part *part)
{
    const struct mf_record *record = in_order(look->index, at);
    uint64_t end = record->offset + record->size, padded;
    bool last = at + 1 == part->first + part->count;
    uint64_t next =
        last ? part->data_end : in_order(look->index, at + 1)->offset;

    if (record->flags & MF_TENSOR_DAMAGED || next <= end ||
        !mf_align_up(end - part->data_offset, part->alignment, &padded))
        return MF_OK;
    padded += part->data_offset;
    next = next < padded ? next : padded;
    if (next - end > BUFFER || next == end)
        return MF_OK;
    if (read_at(look, record->shard, end, (size_t)(next - end)) != MF_OK)
        return look->model->env->error.status;
    look->index->shard = record->shard;
    if (mf_scan_any(look->buffer, (size_t)(next - end)))
        mf_index_note_of(
            look->index, record, MF_WARNING, MF_RULE_DATA_PADDING, end,
            "the %" PRIu64 " bytes of padding behind tensor '%s' are not all "
            "zero",
            next - end, mf_record_name(record).text);
    return MF_OK;
}

static enum mf_status look_at_padding(const struct look *look)
{
    enum mf_status status = MF_OK;

    /* In a tiled layout nothing lies between; a free one may end with a
     * footer, which is no padding. */
    if (look->model->format->layout != MF_LAYOUT_PADDED)
        return MF_OK;
    for (size_t i = 0; i < look->model->file_count; i++) {
        const struct mf_part *part = &look->model->part[i];

        for (size_t t = 0; t < part->count && status == MF_OK; t++)
            status = look_between(look, part->first + t, part);
    }
    return status;
}

/* ---- checksums ---- */

static enum mf_status check_sum(const struct look *look, uint32_t shard)
{
    const struct mf_part *part = &look->model->part[shard];
    uint64_t size = look->model->file[shard].source.size;
    uint64_t end = size - sizeof(uint32_t);
    uint32_t crc = 0, stored;

    if (!part->has_footer)
        return MF_OK;
    for (uint64_t at = 0; at < end;) {
        uint64_t left = end - at;
        size_t some = left < BUFFER ? (size_t)left : BUFFER;

        if (read_at(look, shard, at, some) != MF_OK)
            return look->model->env->error.status;
        crc = mf_crc32(crc, look->buffer, some);
        at += some;
    }
    if (read_at(look, shard, end, sizeof(stored)) != MF_OK)
        return look->model->env->error.status;
    stored = (uint32_t)look->buffer[0] | (uint32_t)look->buffer[1] << 8 |
             (uint32_t)look->buffer[2] << 16 | (uint32_t)look->buffer[3] << 24;
    look->index->shard = shard;
    if (stored != crc)
        mf_index_note(look->index, MF_ERROR, MF_RULE_APR_FOOTER, end,
                      "the footer's checksum is %08" PRIx32
                      ", the file's bytes give %08" PRIx32,
                      stored, crc);
    return MF_OK;
}

enum mf_status mf_validate_data(struct mf_model *model)
{
    struct look look = { .model = model, .index = &model->index };
    enum mf_status status = mf_validate(model);
    uint8_t *block;

    if (status != MF_OK || model->data_validated)
        return status;
    look.isa = mf_isa_choose(model->env);
    if (!look.isa)
        return model->env->error.status;
    block = mf_alloc(model->env, BUFFER + PAGE);
    if (!block)
        return model->env->error.status;
    look.buffer = block + (PAGE - (uintptr_t)block % PAGE);
    for (size_t i = 0; i < look.index->tensor_count && status == MF_OK; i++)
        status = look_through(&look, in_order(look.index, i));
    if (status == MF_OK)
        status = look_at_padding(&look);
    for (size_t i = 0; i < model->file_count && status == MF_OK; i++)
        status = check_sum(&look, (uint32_t)i);
    mf_release(model->env, block, BUFFER + PAGE);
    if (status != MF_OK)
        return status;
    model->data_validated = true;
    mf_model_count_findings(model);
    return look.index->status;
}
