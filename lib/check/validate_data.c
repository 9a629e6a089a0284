/* SPDX-License-Identifier: MIT
 *
 * validate_data.c - one look at the bytes of every tensor, without decoding
 */
#include "lib/base/parallel.h"
#include "lib/check/scan.h"
#include "lib/model/model.h"

/* What is read and looked at as one, by one thread. */
enum kind {
    PIECE_TENSOR,
    PIECE_PADDING, /* between tensors: zeros */
    PIECE_OTHER,   /* only for the checksum of the file */
    PIECE_FOOTER   /* the checksum */
};

struct piece {
    const struct mf_record *record; /* whose, or before the padding */
    uint64_t offset, done;          /* in the file; in the tensor */
    size_t size;
    uint32_t shard;
    enum kind kind;
    bool last;   /* of its tensor */
    bool summed; /* part of the checksum */
    /* what was found */
    bool any;              /* a byte is not zero */
    bool bad_scale;        /* of the whole tensor */
    uint32_t crc;          /* of a footer: what it says */
    uint64_t count, first; /* numbers that are none; in strides */
};

/* Pieces are made in the order of the file, some at a time; threads look at
 * them, and what they find is taken in again in the order of the file. */
#define PIECES 1024

#define FOOTER sizeof(uint32_t) /* bytes of a checksum behind everything */

struct look {
    struct mf_model *model;
    struct mf_index *index;
    const struct mf_isa *isa;
    struct mf_crew crew;
    struct piece *piece;
    size_t piece_count, piece_room;
    /* while pieces are made */
    uint64_t summed; /* of this shard's bytes, from the first on */
    /* while pieces are taken in */
    struct piece tensor; /* what was found in the pieces of one so far */
    uint32_t crc;        /* of the shard so far */
};

/* ---- one piece, in a thread ---- */

/* The scale of apr_q8 stands once, before the whole tensor. */
static size_t head_size(const struct piece *piece)
{
    size_t head = mf_type_head((enum mf_type)piece->record->type);

    return piece->done == 0 && piece->size >= head ? head : 0;
}

static void look_at_tensor(const struct look *look, const uint8_t *bytes,
                           struct piece *piece)
{
    bool big_endian = look->index->kind.byte_order == MF_BIG_ENDIAN;
    enum mf_type type = (enum mf_type)piece->record->type;
    size_t head = head_size(piece), first;
    uint64_t count = 0;

    piece->any = mf_scan_any(bytes, piece->size);
    piece->bad_scale =
        head > 0 && mf_scan(look->isa, MF_TYPE_F32, big_endian, bytes, head,
                            &count) != MF_SCAN_CLEAN;
    first = mf_scan(look->isa, type, big_endian, bytes, piece->size, &count);
    piece->first = piece->done / mf_scan_stride(type);
    if (first != MF_SCAN_CLEAN)
        piece->first += first;
    piece->count = count;
}

static enum mf_status look_at(struct mf_worker *worker, void *context,
                              size_t task)
{
    const struct look *look = context;
    struct piece *piece = &look->piece[task];
    uint8_t *bytes = mf_worker_room(worker, piece->offset);

    if (mf_source_read(&worker->env, &look->model->file[piece->shard].source,
                       piece->offset, bytes, piece->size) != MF_OK)
        return worker->env.error.status;
    if (piece->summed)
        piece->crc = mf_crc32(0, bytes, piece->size);
    if (piece->kind == PIECE_TENSOR)
        mf_worker_at(worker, piece->record->name);
    if (piece->kind == PIECE_TENSOR)
        look_at_tensor(look, bytes, piece);
    else if (piece->kind == PIECE_PADDING)
        piece->any = mf_scan_any(bytes, piece->size);
    else if (piece->kind == PIECE_FOOTER)
        piece->crc = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
                     (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    mf_worker_done(worker, piece->size);
    return MF_OK;
}

/* ---- what was found ---- */

static void report_tensor(const struct look *look)
{
    const struct piece *found = &look->tensor;
    const struct mf_record *record = found->record;
    struct mf_index *index = look->index;
    enum mf_type type = (enum mf_type)record->type;
    struct mf_scan_kind kind = mf_scan_kind(type);
    enum mf_severity severity =
        look->model->format->allows_nonfinite ? MF_WARNING : MF_ERROR;

    if (found->bad_scale)
        mf_index_note_of(index, record, severity, MF_RULE_DATA_SCALE,
                         record->offset,
                         "the scale of tensor '%s' is NaN or infinite",
                         mf_record_name(record).text);
    if (found->count > 0)
        mf_index_note_of(
            index, record, severity, kind.rule,
            record->offset + found->first * mf_scan_stride(type),
            "tensor '%s' has %" PRIu64 " %s, the first at %s %" PRIu64,
            mf_record_name(record).text, found->count,
            found->count == 1 ? kind.one : kind.many, kind.unit, found->first);
    if (!found->any)
        mf_index_note_of(index, record, MF_WARNING, MF_RULE_DATA_ZERO,
                         record->offset, "tensor '%s' is all zeros",
                         mf_record_name(record).text);
}

static void take_tensor(struct look *look, const struct piece *piece)
{
    struct piece *found = &look->tensor;

    if (piece->done == 0)
        *found = (struct piece){ .record = piece->record };
    if (found->count == 0)
        found->first = piece->first;
    found->count += piece->count;
    found->any = found->any || piece->any;
    found->bad_scale = found->bad_scale || piece->bad_scale;
    if (piece->last)
        report_tensor(look);
}

static void take_padding(struct look *look, const struct piece *piece)
{
    struct piece *found = &look->tensor;

    if (piece->done == 0)
        *found = *piece;
    found->any = found->any || piece->any;
    found->size = (size_t)piece->done + piece->size;
    if (!piece->last || !found->any)
        return;
    if (piece->record)
        mf_index_note_of(
            look->index, piece->record, MF_WARNING, MF_RULE_DATA_PADDING,
            found->offset,
            "the %zu bytes of padding after tensor '%s' are not all zeros",
            found->size, mf_record_name(piece->record).text);
    else
        mf_index_note(
            look->index, piece->shard, MF_WARNING, MF_RULE_DATA_PADDING,
            found->offset,
            "the %zu bytes of padding in the header are not all zeros",
            found->size);
}

static void take(struct look *look, const struct piece *piece)
{
    if (piece->offset == 0)
        look->crc = 0;
    if (piece->summed)
        look->crc = mf_crc32_join(look->crc, piece->crc, piece->size);
    if (piece->kind == PIECE_TENSOR)
        take_tensor(look, piece);
    else if (piece->kind == PIECE_PADDING)
        take_padding(look, piece);
    else if (piece->kind == PIECE_FOOTER && piece->crc != look->crc)
        mf_index_note(look->index, piece->shard, MF_ERROR,
                      look->model->part[piece->shard].footer_rule,
                      piece->offset,
                      "checksum mismatch: the footer has %08" PRIx32
                      ", the file's bytes give %08" PRIx32,
                      piece->crc, look->crc);
}

static enum mf_status look_and_take(struct look *look)
{
    enum mf_status status =
        mf_crew_run(&look->crew, look_at, look, look->piece_count);

    for (size_t i = 0; i < look->piece_count && status == MF_OK; i++)
        take(look, &look->piece[i]);
    look->piece_count = 0;
    return status;
}

/* ---- pieces of a file ---- */

/* Cuts span (its kind and the rest as in *like) into pieces of at most a
 * buffer, each a multiple of stride. */
static enum mf_status cut(struct look *look, struct mf_span span, size_t stride,
                          const struct piece *like)
{
    size_t most = look->crew.buffer_size - look->crew.buffer_size % stride;
    bool has_footer = look->model->part[like->shard].has_footer;
    bool summed =
        has_footer && like->kind != PIECE_FOOTER && span.offset == look->summed;

    if (summed)
        look->summed += span.size;
    for (uint64_t done = 0; done < span.size;) {
        uint64_t left = span.size - done;
        struct piece *piece;

        if (look->piece_count == look->piece_room &&
            look_and_take(look) != MF_OK)
            return look->model->env->error.status;
        piece = &look->piece[look->piece_count];
        *piece = *like;
        piece->offset = span.offset + done;
        piece->done = done;
        piece->size = mf_next_part(look->model->env, left, most);
        piece->summed = summed;
        if (piece->size == 0)
            return look->model->env->error.status;
        look->piece_count++;
        done += piece->size;
        piece->last = done == span.size;
    }
    return MF_OK;
}

/* Up to offset, whatever lies there, where the shard has a checksum. */
static enum mf_status cut_rest(struct look *look, uint32_t shard,
                               uint64_t offset)
{
    struct piece like = { .kind = PIECE_OTHER, .shard = shard };
    struct mf_span span = { .offset = look->summed };

    if (!look->model->part[shard].has_footer || offset <= look->summed)
        return MF_OK;
    span.size = offset - look->summed;
    return cut(look, span, 1, &like);
}

static enum mf_status cut_tensor(struct look *look,
                                 const struct mf_record *record)
{
    struct piece like = { .kind = PIECE_TENSOR,
                          .record = record,
                          .shard = record->shard };
    struct mf_span span = { record->offset, record->size };
    size_t stride;

    if (record->flags & MF_TENSOR_DAMAGED || record->type == MF_TYPE_UNKNOWN)
        return MF_OK;
    stride = mf_scan_stride((enum mf_type)record->type);
    if (record->size % stride != 0)
        return MF_OK; /* a size of its own: no block can be told */
    if (cut_rest(look, record->shard, record->offset) != MF_OK)
        return look->model->env->error.status;
    return cut(look, span, stride, &like);
}

/* Padding up to the alignment; what is longer is a gap, and told as such.  In a
 * tiled layout nothing lies between, and a footer is no padding. */
static enum mf_status cut_padding(struct look *look, size_t at,
                                  const struct mf_part *part)
{
    const struct mf_record *record = mf_record_by_offset(look->index, at);
    uint64_t end = record->offset + record->size, padded;
    bool last = at + 1 == part->first + part->count;
    uint64_t next = last ? part->data_end - (part->has_footer ? FOOTER : 0)
                         : mf_record_by_offset(look->index, at + 1)->offset;
    struct piece like = { .kind = PIECE_PADDING,
                          .record = record,
                          .shard = record->shard };
    struct mf_span span = { .offset = end };

    if (look->model->format->layout == MF_LAYOUT_TILED ||
        record->flags & MF_TENSOR_DAMAGED || next <= end ||
        !mf_align_up(end - part->data_offset, part->alignment, &padded))
        return MF_OK;
    padded += part->data_offset;
    span.size = (next < padded ? next : padded) - end;
    if (cut_rest(look, record->shard, end) != MF_OK)
        return look->model->env->error.status;
    return cut(look, span, 1, &like);
}

static enum mf_status cut_footer(struct look *look, uint32_t shard)
{
    struct piece like = { .kind = PIECE_FOOTER, .shard = shard };
    struct mf_span span = { .size = FOOTER };

    if (!look->model->part[shard].has_footer)
        return MF_OK;
    span.offset = look->model->file[shard].source.size - span.size;
    if (cut_rest(look, shard, span.offset) != MF_OK)
        return look->model->env->error.status;
    return cut(look, span, 1, &like);
}

#define ROOMS (sizeof(((struct mf_part *)0)->padding) / sizeof(struct mf_span))

/* What the header leaves free before the data. */
static enum mf_status cut_room(struct look *look, uint32_t shard,
                               struct mf_span span)
{
    struct piece like = { .kind = PIECE_PADDING, .shard = shard };

    if (cut_rest(look, shard, span.offset) != MF_OK)
        return look->model->env->error.status;
    return cut(look, span, 1, &like);
}

static enum mf_status cut_shard(struct look *look, uint32_t shard)
{
    const struct mf_part *part = &look->model->part[shard];
    enum mf_status status = MF_OK;

    look->summed = 0;
    for (size_t i = 0; i < ROOMS && status == MF_OK; i++)
        status = cut_room(look, shard, part->padding[i]);
    for (size_t i = 0; i < part->count && status == MF_OK; i++) {
        status =
            cut_tensor(look, mf_record_by_offset(look->index, part->first + i));
        if (status == MF_OK)
            status = cut_padding(look, part->first + i, part);
    }
    return status == MF_OK ? cut_footer(look, shard) : status;
}

/* ---- all of it ---- */

/* Room for the pieces and buffers for the threads, as much as this model is
 * good for. */
static enum mf_status prepare(struct look *look)
{
    const struct mf_index *index = look->index;
    uint64_t work = 0, largest = 0, pieces;

    for (size_t i = 0; i < index->tensor_count; i++) {
        const struct mf_record *record = &index->tensor[i];

        if (!(record->flags & MF_TENSOR_DAMAGED)) {
            work += record->size;
            largest = record->size > largest ? record->size : largest;
        }
    }
    for (size_t i = 0; i < look->model->file_count; i++)
        if (look->model->part[i].has_footer)
            largest = look->model->file[i].source.size;
    if (mf_crew_init(&look->crew, look->model->env, work, largest, 0) != MF_OK)
        return look->model->env->error.status;
    /* A tensor, its padding and what lies before each; the header's padding
     * and the footer. */
    pieces = work / look->crew.buffer_size + 4 * index->tensor_count +
             (2 * ROOMS + 2) * look->model->file_count + 1;
    look->piece_room = pieces < PIECES ? (size_t)pieces : PIECES;
    look->piece =
        mf_alloc(look->model->env, look->piece_room * sizeof(*look->piece));
    return look->piece ? MF_OK : look->model->env->error.status;
}

static void release(struct look *look)
{
    mf_release(look->model->env, look->piece,
               look->piece_room * sizeof(*look->piece));
    mf_crew_release(&look->crew);
}

/* Where a look ends before it has seen all, it has found nothing: the next one
 * will find it again. */
static void forget_findings(struct mf_index *index,
                            const struct mf_index *before)
{
    index->finding_count = before->finding_count;
    memcpy(index->count_of, before->count_of, sizeof(index->count_of));
}

enum mf_status mf_model_validate_data(struct mf_model *model)
{
    MF_NEED(NULL, model);

    struct look look = { .model = model, .index = &model->index };
    enum mf_status status = mf_model_validate(model);
    const struct mf_index before = model->index;

    if (status != MF_OK || model->data_validated)
        return status;
    look.isa = mf_isa_choose(model->env);
    if (!look.isa)
        return model->env->error.status;
    status = prepare(&look);
    for (size_t i = 0; i < model->file_count && status == MF_OK; i++)
        status = cut_shard(&look, (uint32_t)i);
    if (status == MF_OK)
        status = look_and_take(&look);
    release(&look);
    if (status != MF_OK) {
        forget_findings(look.index, &before);
        return status;
    }
    model->data_validated = true;
    mf_model_count_findings(model);
    return look.index->status;
}
