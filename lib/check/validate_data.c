/* SPDX-License-Identifier: MIT
 *
 * validate_data.c - every byte of tensor data read once, without decoding
 *
 * A shard is cut into pieces in the order of the file: of tensors, of padding,
 * and, where the file ends with a checksum, of all that lies between.  Threads
 * scan the pieces; the results are then merged in file order by the calling
 * thread, so that findings do not depend on the number of threads.
 *
 * What is hard here:
 * - A tensor may be many pieces, and its findings count over all of them.  A
 *   piece is a multiple of the scan's stride, so that no block is cut in two.
 * - A checksum covers the whole file, but CRC-32 is computed per piece, in
 *   threads.  mf_crc32_join makes one of them, if the pieces cover each byte
 *   exactly once in order.  crc_end is the end of what they cover so far: a
 *   span that starts there counts, cut_other fills what lies between, and a
 *   span that was covered already (tensors may overlap in a damaged file) is
 *   scanned but not counted again.
 * - Memory is bounded: at most PIECES_MAX pieces are pending, then they are
 *   scanned and merged, and cutting goes on.
 * - Members of an archive have checksums of their own: data_members.c reads
 *   these before.
 * - If the user stops, or a read fails, the findings so far are removed: half
 *   a scan must not look like a whole one.
 */
#include <assert.h>

#include "lib/base/timings.h"
#include "lib/check/check.h"
#include "lib/check/data_members.h"
#include "lib/check/data_report.h"
#include "lib/check/data_rows.h"
#include "lib/model/model.h"

/* What a piece is read for. */
enum kind {
    PIECE_TENSOR,
    PIECE_PADDING, /* should be zeros */
    PIECE_OTHER,   /* only for the file's checksum */
    PIECE_FOOTER   /* the checksum itself */
};

/* What one thread reads and scans at once. */
struct piece {
    const struct mf_record *record; /* the tensor, or the one before padding */
    uint64_t offset, done;          /* in the file; in its span */
    size_t size;
    uint32_t shard;
    enum kind kind;
    bool last;    /* of its span */
    bool in_crc;  /* part of the checksum */
    uint64_t row; /* of a tensor whose rows are compared, or 0 */
    /* results */
    struct mf_data_found found;
    bool differs; /* not all rows are the same */
    uint32_t crc; /* of a footer: what it says */
};

#define PIECES_MAX 1024

#define FOOTER_SIZE sizeof(uint32_t) /* CRC-32 at the end of a file */

struct scanner {
    struct mf_model *model;
    struct mf_index *index;
    const struct mf_isa *isa;
    struct mf_crew crew;
    struct piece *piece;
    size_t piece_count, piece_room;
    /* while cutting */
    uint64_t crc_end; /* the shard's bytes up to here are in pieces */
    /* while merging */
    struct piece tensor; /* results of one tensor's pieces so far */
    uint32_t crc;        /* of the shard so far */
};

/* ---- one piece, in a thread ---- */

/* apr_q8 has one scale, before the whole tensor. */
static size_t head_size(const struct piece *piece)
{
    size_t head = mf_type_head((enum mf_type)piece->record->type);

    return piece->done == 0 && piece->size >= head ? head : 0;
}

static void scan_tensor(const struct scanner *scanner, const uint8_t *bytes,
                        struct piece *piece)
{
    bool big_endian = scanner->index->kind.byte_order == MF_BIG_ENDIAN;
    enum mf_type type = (enum mf_type)piece->record->type;
    size_t head = head_size(piece);
    struct mf_found *values = &piece->found.values;
    uint64_t count, before = piece->done / mf_scan_stride(type);

    piece->found.nonzero = mf_scan_any(bytes, piece->size);
    piece->found.bad_scale =
        head > 0 && mf_scan(scanner->isa, MF_TYPE_F32, big_endian, bytes, head,
                            &count) != MF_SCAN_CLEAN;
    piece->differs =
        piece->row > 0 &&
        mf_data_row_differs(bytes + head, piece->size - head, piece->row);
    mf_scan_all(scanner->isa, type, big_endian, bytes, piece->size, values);
    values->first_bad += before;
    values->first_high += before;
}

static enum mf_status scan_piece(struct mf_worker *worker, void *context,
                                 size_t task)
{
    const struct scanner *scanner = context;
    struct piece *piece = &scanner->piece[task];
    uint8_t *bytes = mf_worker_room(worker, piece->offset);
    struct mf_timed timed;

    if (mf_source_read(&worker->env, &scanner->model->file[piece->shard].source,
                       piece->offset, bytes, piece->size) != MF_OK)
        return worker->env.error.status;
    if (piece->in_crc) {
        timed = mf_timed_begin(&worker->env, MF_PHASE_DIGEST);
        piece->crc = mf_crc32(0, bytes, piece->size);
        mf_timed_end(&worker->env, timed);
    }
    if (piece->kind == PIECE_TENSOR)
        mf_worker_at(worker, piece->record->name);
    timed = mf_timed_begin(&worker->env, MF_PHASE_SCAN);
    if (piece->kind == PIECE_TENSOR)
        scan_tensor(scanner, bytes, piece);
    else if (piece->kind == PIECE_PADDING)
        piece->found.nonzero = mf_scan_any(bytes, piece->size);
    else if (piece->kind == PIECE_FOOTER)
        piece->crc = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
                     (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    mf_timed_end(&worker->env, timed);
    mf_worker_done(worker, piece->size);
    return MF_OK;
}

/* ---- merging results, in file order ---- */

static void add_found(struct mf_data_found *sum,
                      const struct mf_data_found *found)
{
    struct mf_found *values = &sum->values;

    if (values->bad == 0)
        values->first_bad = found->values.first_bad;
    if (values->high == 0)
        values->first_high = found->values.first_high;
    values->bad += found->values.bad;
    values->high += found->values.high;
    values->low += found->values.low;
    sum->nonzero = sum->nonzero || found->nonzero;
    sum->bad_scale = sum->bad_scale || found->bad_scale;
}

static enum mf_status merge_tensor(struct scanner *scanner,
                                   const struct piece *piece)
{
    struct piece *sum = &scanner->tensor;
    enum mf_status status = MF_OK;

    assert(piece->done == 0 || sum->record == piece->record);
    if (piece->done == 0)
        *sum = *piece;
    else
        add_found(&sum->found, &piece->found);
    sum->differs = sum->differs || piece->differs;
    if (!piece->last)
        return MF_OK;
    if (sum->row > 0 && !sum->differs && sum->found.nonzero)
        status = mf_data_rows_same(&scanner->crew, scanner->model, sum->record,
                                   sum->row, &sum->found.same);
    if (status == MF_OK)
        mf_data_report(scanner->model, sum->record, &sum->found);
    return status;
}

static void merge_padding(struct scanner *scanner, const struct piece *piece)
{
    struct piece *found = &scanner->tensor;

    if (piece->done == 0)
        *found = *piece;
    add_found(&found->found, &piece->found);
    found->size = (size_t)piece->done + piece->size;
    if (!piece->last || !found->found.nonzero)
        return;
    if (piece->record)
        mf_index_note_of(
            scanner->index, piece->record, MF_WARNING, MF_RULE_DATA_PADDING,
            found->offset,
            "the %zu bytes of padding after tensor '%s' are not all zeros",
            found->size, mf_record_name(piece->record).text);
    else
        mf_index_note(
            scanner->index, piece->shard, MF_WARNING, MF_RULE_DATA_PADDING,
            found->offset,
            "the %zu bytes of padding in the header are not all zeros",
            found->size);
}

static enum mf_status merge_piece(struct scanner *scanner,
                                  const struct piece *piece)
{
    if (piece->offset == 0)
        scanner->crc = 0;
    if (piece->in_crc)
        scanner->crc = mf_crc32_join(scanner->crc, piece->crc, piece->size);
    if (piece->kind == PIECE_TENSOR)
        return merge_tensor(scanner, piece);
    if (piece->kind == PIECE_PADDING)
        merge_padding(scanner, piece);
    else if (piece->kind == PIECE_FOOTER && piece->crc != scanner->crc)
        mf_index_note(scanner->index, piece->shard, MF_ERROR,
                      scanner->model->part[piece->shard].footer_rule,
                      piece->offset,
                      "checksum mismatch: the footer has %08" PRIx32
                      ", the file's bytes give %08" PRIx32,
                      piece->crc, scanner->crc);
    return MF_OK;
}

/* Pieces of a compressed tensor are unpacked one after the other. */
static bool follows(const void *context, size_t task)
{
    const struct scanner *scanner = context;
    const struct piece *piece = &scanner->piece[task];

    return task > 0 && piece->kind == PIECE_TENSOR && piece->done > 0 &&
           mf_record_is_packed(scanner->index, piece->record);
}

static enum mf_status scan_and_merge(struct scanner *scanner)
{
    enum mf_status status = mf_crew_run_rows(
        &scanner->crew, scan_piece, follows, scanner, scanner->piece_count);

    for (size_t i = 0; i < scanner->piece_count && status == MF_OK; i++)
        status = merge_piece(scanner, &scanner->piece[i]);
    scanner->piece_count = 0;
    return status;
}

/* ---- cutting a file into pieces ---- */

/* Cuts span into pieces that are otherwise like *like: each a multiple of
 * stride and at most a buffer. */
static enum mf_status cut_span(struct scanner *scanner, struct mf_span span,
                               size_t stride, const struct piece *like)
{
    size_t max = scanner->crew.buffer_size - scanner->crew.buffer_size % stride;
    bool has_footer = scanner->model->part[like->shard].has_footer;
    bool in_crc = has_footer && like->kind != PIECE_FOOTER &&
                  span.offset == scanner->crc_end;

    assert(stride > 0 && stride <= scanner->crew.buffer_size);
    assert(like->shard < scanner->model->file_count);
    if (in_crc)
        scanner->crc_end += span.size;
    for (uint64_t done = 0; done < span.size;) {
        uint64_t left = span.size - done;
        struct piece *piece;

        if (scanner->piece_count == scanner->piece_room &&
            scan_and_merge(scanner) != MF_OK)
            return scanner->model->env->error.status;
        piece = &scanner->piece[scanner->piece_count];
        *piece = *like;
        piece->offset = span.offset + done;
        piece->done = done;
        piece->size = mf_next_part(scanner->model->env, left, max);
        piece->in_crc = in_crc;
        if (piece->size == 0)
            return scanner->model->env->error.status;
        scanner->piece_count++;
        done += piece->size;
        piece->last = done == span.size;
    }
    return MF_OK;
}

/* In a shard with a checksum: the bytes up to offset that no piece has yet. */
static enum mf_status cut_other(struct scanner *scanner, uint32_t shard,
                                uint64_t offset)
{
    struct piece like = { .kind = PIECE_OTHER, .shard = shard };
    struct mf_span span = { .offset = scanner->crc_end };

    if (!scanner->model->part[shard].has_footer || offset <= scanner->crc_end)
        return MF_OK;
    span.size = offset - scanner->crc_end;
    return cut_span(scanner, span, 1, &like);
}

static enum mf_status cut_tensor(struct scanner *scanner,
                                 const struct mf_record *record)
{
    struct piece like = { .kind = PIECE_TENSOR,
                          .record = record,
                          .shard = record->shard };
    struct mf_span span = { record->offset, record->size };
    size_t stride;

    if (record->flags & MF_TENSOR_DAMAGED || record->type == MF_TYPE_UNKNOWN)
        return MF_OK;
    like.row = mf_data_row(scanner->model, record);
    stride = mf_scan_stride((enum mf_type)record->type);
    if (record->size % stride != 0)
        return MF_OK; /* where its blocks are is unknown */
    if (cut_other(scanner, record->shard, record->offset) != MF_OK)
        return scanner->model->env->error.status;
    return cut_span(scanner, span, stride, &like);
}

/* Padding up to the alignment; bytes after that are a gap, which geometry.c
 * reports.  A tiled layout has no padding; a footer is not padding. */
static enum mf_status cut_padding(struct scanner *scanner, size_t at,
                                  const struct mf_part *part)
{
    const struct mf_record *record = mf_record_by_offset(scanner->index, at);
    uint64_t end = record->offset + record->size, padded;
    bool last = at + 1 == part->first + part->count;
    uint64_t next = last ? part->data_end - (part->has_footer ? FOOTER_SIZE : 0)
                         : mf_record_by_offset(scanner->index, at + 1)->offset;
    struct piece like = { .kind = PIECE_PADDING,
                          .record = record,
                          .shard = record->shard };
    struct mf_span span = { .offset = end };

    if (scanner->model->format->layout == MF_LAYOUT_TILED ||
        record->flags & MF_TENSOR_DAMAGED || next <= end ||
        !mf_align_up(end - part->data_offset, part->alignment, &padded))
        return MF_OK;
    padded += part->data_offset;
    span.size = (next < padded ? next : padded) - end;
    if (cut_other(scanner, record->shard, end) != MF_OK)
        return scanner->model->env->error.status;
    return cut_span(scanner, span, 1, &like);
}

static enum mf_status cut_footer(struct scanner *scanner, uint32_t shard)
{
    struct piece like = { .kind = PIECE_FOOTER, .shard = shard };
    struct mf_span span = { .size = FOOTER_SIZE };

    if (!scanner->model->part[shard].has_footer)
        return MF_OK;
    span.offset = scanner->model->file[shard].source.size - span.size;
    if (cut_other(scanner, shard, span.offset) != MF_OK)
        return scanner->model->env->error.status;
    return cut_span(scanner, span, 1, &like);
}

#define PADDING_COUNT                                                          \
    (sizeof(((struct mf_part *)0)->padding) / sizeof(struct mf_span))

/* Padding between parts of the header. */
static enum mf_status cut_header_padding(struct scanner *scanner,
                                         uint32_t shard, struct mf_span span)
{
    struct piece like = { .kind = PIECE_PADDING, .shard = shard };

    if (cut_other(scanner, shard, span.offset) != MF_OK)
        return scanner->model->env->error.status;
    return cut_span(scanner, span, 1, &like);
}

static enum mf_status cut_shard(struct scanner *scanner, uint32_t shard)
{
    const struct mf_part *part = &scanner->model->part[shard];
    enum mf_status status = MF_OK;

    scanner->crc_end = 0;
    for (size_t i = 0; i < PADDING_COUNT && status == MF_OK; i++)
        status = cut_header_padding(scanner, shard, part->padding[i]);
    for (size_t i = 0; i < part->count && status == MF_OK; i++) {
        status = cut_tensor(
            scanner, mf_record_by_offset(scanner->index, part->first + i));
        if (status == MF_OK)
            status = cut_padding(scanner, part->first + i, part);
    }
    return status == MF_OK ? cut_footer(scanner, shard) : status;
}

/* ---- the whole model ---- */

/* Adds bytes to what has to be read. */
static void add_work(uint64_t size, uint64_t *work, uint64_t *largest)
{
    *work += size;
    *largest = size > *largest ? size : *largest;
}

/* Reserves pieces, and buffers for the threads, as many as this model needs. */
static enum mf_status prepare(struct scanner *scanner)
{
    const struct mf_index *index = scanner->index;
    uint64_t work = 0, largest = 0, members = 0, pieces;

    for (size_t i = 0; i < index->tensor_count; i++)
        if (!(index->tensor[i].flags & MF_TENSOR_DAMAGED))
            add_work(index->tensor[i].size, &work, &largest);
    for (size_t i = 0; i < index->stored.stored_count; i++)
        if (mf_data_has_checksum(&index->stored.stored[i]))
            add_work(index->stored.stored[i].size, &members, &largest);
    for (size_t i = 0; i < scanner->model->file_count; i++)
        if (scanner->model->part[i].has_footer)
            largest = scanner->model->file[i].source.size;
    if (mf_crew_init(&scanner->crew, scanner->model->env, members + work,
                     largest, 0) != MF_OK)
        return scanner->model->env->error.status;
    /* A tensor, its padding and what lies before each; the header's padding
     * and the footer. */
    pieces = work / scanner->crew.buffer_size + 4 * index->tensor_count +
             (2 * PADDING_COUNT + 2) * scanner->model->file_count + 1;
    scanner->piece = mf_chunk_table(
        scanner->model->env, pieces < PIECES_MAX ? (size_t)pieces : PIECES_MAX,
        sizeof(*scanner->piece), &scanner->piece_room);
    return scanner->piece ? MF_OK : scanner->model->env->error.status;
}

static void release(struct scanner *scanner)
{
    mf_release(scanner->model->env, scanner->piece,
               scanner->piece_room * sizeof(*scanner->piece));
    mf_crew_release(&scanner->crew);
}

/* After a scan that did not reach the end; the next one will find them again.
 */
static void restore_findings(struct mf_index *index,
                             const struct mf_index *before)
{
    index->finding_count = before->finding_count;
    memcpy(index->tally, before->tally, sizeof(index->tally));
}

enum mf_status mf_data_check(struct mf_model *model)
{
    struct scanner scanner = { .model = model, .index = &model->index };
    enum mf_status status = MF_OK;
    const struct mf_index before = model->index;

    if (model->data_validated)
        return MF_OK;
    scanner.isa = mf_isa_choose(model->env);
    if (!scanner.isa)
        return model->env->error.status;
    status = prepare(&scanner);
    if (status == MF_OK)
        status = mf_data_members(&scanner.crew, model);
    for (size_t i = 0; i < model->file_count && status == MF_OK; i++)
        status = cut_shard(&scanner, (uint32_t)i);
    if (status == MF_OK)
        status = scan_and_merge(&scanner);
    release(&scanner);
    if (status != MF_OK) {
        restore_findings(scanner.index, &before);
        return status;
    }
    model->data_validated = true;
    return scanner.index->status;
}
