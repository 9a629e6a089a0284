/* SPDX-License-Identifier: MIT
 *
 * validate_data.c - every byte of tensor data read once, without decoding
 *
 * A shard is cut into pieces in the order of the file: of tensors, of padding,
 * and, where a checksum covers it, of all that lies between.  Threads scan the
 * pieces; the results are then merged in file order by the calling thread, so
 * that findings do not depend on the number of threads.
 *
 * What is hard here:
 * - A tensor may be many pieces, and its findings count over all of them.  A
 *   piece is a multiple of the scan's stride, so that no block is cut in two.
 * - A checksum covers a whole file, or a member of an archive, but CRC-32 is
 *   computed per piece, in threads.  mf_crc32_join makes one of them, if the
 *   pieces cover each byte exactly once in order.  `covered` is what no
 *   piece has yet: a span that starts there counts, cut_other fills what lies
 *   between, and a span that was covered already (tensors may overlap in a
 *   damaged file) is scanned but not counted again.
 * - A compressed member goes forward only: one thread does its pieces, and
 *   if it cannot be unpacked, its tensors are not reported.
 * - Memory is bounded: at most PIECES_MAX pieces are pending, then they are
 *   scanned and merged, and cutting goes on.
 * - If the user stops, or a read fails, the findings so far are removed: half
 *   a scan must not look like a whole one.
 */
#include <assert.h>

#include "lib/check/check.h"
#include "lib/check/data_parts.h"
#include "lib/model/steady.h"

#define PIECES_MAX  1024
#define FOOTER_SIZE sizeof(uint32_t) /* CRC-32 at the end of a file */

/* ---- cutting a file into pieces ---- */

/* Cuts span into pieces that are otherwise like *like: each a multiple of
 * stride and at most a buffer. */
static enum mf_status cut_span(struct data_scanner *scanner,
                               struct mf_span span, size_t stride,
                               const struct data_piece *like)
{
    size_t max = scanner->crew.buffer_size - scanner->crew.buffer_size % stride;
    bool covered = span.offset == scanner->covered.next &&
                   span.size <= scanner->covered.end - scanner->covered.next;

    assert(stride > 0 && stride <= scanner->crew.buffer_size);
    assert(like->shard < scanner->model->file_count);
    if (covered)
        scanner->covered.next += span.size;
    for (uint64_t done = 0; done < span.size;) {
        uint64_t left = span.size - done;
        size_t size = mf_next_part(scanner->model->env, left, max);
        struct data_piece *piece = size > 0 ? mf_data_add(scanner, like) : NULL;

        if (!piece)
            return scanner->model->env->error.status;
        piece->offset = span.offset + done;
        piece->done = done;
        piece->size = size;
        piece->in_crc =
            covered && scanner->covered.by_crc && like->kind != PIECE_FOOTER;
        piece->digested = covered && scanner->covered.by_digest;
        done += size;
        piece->last = done == span.size;
    }
    return MF_OK;
}

/* What a checksum covers up to offset and no piece has yet. */
static enum mf_status cut_other(struct data_scanner *scanner, uint32_t shard,
                                uint64_t offset)
{
    struct data_piece like = { .kind = PIECE_OTHER,
                               .storage = scanner->covered.storage,
                               .shard = shard };
    struct mf_span span = { .offset = scanner->covered.next };

    if (offset > scanner->covered.end)
        offset = scanner->covered.end;
    if (offset <= span.offset)
        return MF_OK;
    span.size = offset - span.offset;
    return cut_span(scanner, span, 1, &like);
}

/* Covers the rest of the member that tensors were cut of, if any. */
static enum mf_status end_member(struct data_scanner *scanner, uint32_t shard)
{
    struct data_piece like = { .kind = PIECE_MEMBER,
                               .storage = scanner->covered.storage,
                               .shard = shard };

    if (like.storage == 0)
        return MF_OK;
    if (cut_other(scanner, shard, scanner->covered.end) != MF_OK ||
        !mf_data_add(scanner, &like))
        return scanner->model->env->error.status;
    memset(&scanner->covered, 0, sizeof(scanner->covered));
    return MF_OK;
}

static void begin_member(struct data_scanner *scanner, uint32_t storage)
{
    struct mf_index *index = scanner->index;

    index->stored.stored[storage - 1].covered = true;
    scanner->covered.next = mf_stored_offset(index, storage - 1);
    scanner->covered.end =
        scanner->covered.next + index->stored.stored[storage - 1].size;
    scanner->covered.storage = storage;
    scanner->covered.by_crc = true;
}

/* Records come in the order of the file, and so one member after the other. */
static enum mf_status enter_member(struct data_scanner *scanner,
                                   const struct mf_record *record)
{
    const struct mf_index *index = scanner->index;

    if (!mf_data_is_in_member(index, record) ||
        record->storage == scanner->covered.storage)
        return MF_OK;
    if (end_member(scanner, record->shard) != MF_OK)
        return scanner->model->env->error.status;
    if (!index->stored.stored[record->storage - 1].covered)
        begin_member(scanner, record->storage);
    return MF_OK;
}

/* Those that no tensor lies in as it is read. */
static enum mf_status cut_other_members(struct data_scanner *scanner,
                                        uint32_t shard)
{
    const struct mf_stored_tables *tables = &scanner->index->stored;
    enum mf_status status = end_member(scanner, shard);

    for (size_t i = 0; i < tables->stored_count && status == MF_OK; i++)
        if (tables->stored[i].shard == shard && !tables->stored[i].covered &&
            mf_data_has_checksum(&tables->stored[i])) {
            begin_member(scanner, (uint32_t)i + 1);
            status = end_member(scanner, shard);
        }
    return status;
}

static enum mf_status cut_tensor(struct data_scanner *scanner,
                                 const struct mf_record *record)
{
    struct data_piece like = { .kind = PIECE_TENSOR,
                               .record = record,
                               .storage = record->storage,
                               .shard = record->shard };
    struct mf_span span = { record->offset, record->size };
    size_t stride;

    if (record->flags & MF_TENSOR_DAMAGED || record->type == MF_TYPE_UNKNOWN)
        return MF_OK;
    like.row = mf_data_row(scanner->model, record);
    stride = mf_scan_stride((enum mf_type)record->type);
    if (record->size % stride != 0)
        return MF_OK; /* where its blocks are is unknown */
    if (enter_member(scanner, record) != MF_OK ||
        cut_other(scanner, record->shard, record->offset) != MF_OK)
        return scanner->model->env->error.status;
    return cut_span(scanner, span, stride, &like);
}

/* Padding up to the alignment; bytes after that are a gap, which geometry.c
 * reports.  A tiled layout has no padding; a footer is not padding. */
static enum mf_status cut_padding(struct data_scanner *scanner, size_t at,
                                  const struct mf_part *part)
{
    const struct mf_record *record = mf_record_by_offset(scanner->index, at);
    uint64_t end = record->offset + record->size, padded;
    bool last = at + 1 == part->first + part->count;
    uint64_t stop = part->data_end - (part->has_footer ? FOOTER_SIZE : 0);
    uint64_t next =
        last ? stop : mf_record_by_offset(scanner->index, at + 1)->offset;
    struct data_piece like = { .kind = PIECE_PADDING,
                               .record = record,
                               .shard = record->shard };
    struct mf_span span = { .offset = end };

    next = next < stop ? next : stop; /* of a file that was cut off */
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

static enum mf_status cut_footer(struct data_scanner *scanner, uint32_t shard)
{
    struct data_piece like = { .kind = PIECE_FOOTER, .shard = shard };
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
static enum mf_status cut_header_padding(struct data_scanner *scanner,
                                         uint32_t shard, struct mf_span span)
{
    struct data_piece like = { .kind = PIECE_PADDING, .shard = shard };

    if (cut_other(scanner, shard, span.offset) != MF_OK)
        return scanner->model->env->error.status;
    return cut_span(scanner, span, 1, &like);
}

/* The digest of an archive is of its file, which is not what its tensors are
 * unpacked from. */
static bool is_digested(const struct data_scanner *scanner, uint32_t shard)
{
    const struct mf_file_digests *digests = scanner->model->digests;

    return digests && shard < digests->count && digests->of[shard].known &&
           scanner->model->format->layout != MF_LAYOUT_SHARED;
}

/* Pieces of another shard are scanned first: there is one digest. */
static enum mf_status begin_shard(struct data_scanner *scanner, uint32_t shard)
{
    const struct mf_part *part = &scanner->model->part[shard];
    uint64_t size = scanner->model->file[shard].source.size;
    enum mf_status status = MF_OK;

    memset(&scanner->covered, 0, sizeof(scanner->covered));
    scanner->covered.by_crc = part->has_footer;
    scanner->covered.by_digest = is_digested(scanner, shard);
    if (part->has_footer)
        scanner->covered.end = size - FOOTER_SIZE;
    if (scanner->covered.by_digest) {
        scanner->covered.end = size;
        status = mf_data_run(scanner);
        scanner->model->digests->restart(scanner->model->digests->digest);
    }
    return status;
}

static enum mf_status end_shard(struct data_scanner *scanner, uint32_t shard)
{
    struct mf_file_digests *digests = scanner->model->digests;
    enum mf_status status = MF_OK;

    if (scanner->covered.by_digest)
        status = cut_other(scanner, shard, scanner->covered.end);
    if (status == MF_OK && digests && shard < digests->count &&
        digests->of[shard].known) {
        status = mf_data_run(scanner);
        if (status == MF_OK)
            status = digests->end(scanner, shard);
    }
    return status;
}

static enum mf_status cut_shard(struct data_scanner *scanner, uint32_t shard)
{
    const struct mf_part *part = &scanner->model->part[shard];
    enum mf_status status = begin_shard(scanner, shard);

    for (size_t i = 0; i < PADDING_COUNT && status == MF_OK; i++)
        status = cut_header_padding(scanner, shard, part->padding[i]);
    for (size_t i = 0; i < part->count && status == MF_OK; i++) {
        status = cut_tensor(
            scanner, mf_record_by_offset(scanner->index, part->first + i));
        if (status == MF_OK)
            status = cut_padding(scanner, part->first + i, part);
    }
    if (status == MF_OK)
        status = cut_footer(scanner, shard);
    if (status == MF_OK)
        status = cut_other_members(scanner, shard);
    return status == MF_OK ? end_shard(scanner, shard) : status;
}

/* ---- the whole model ---- */

/* Adds bytes to what has to be read. */
static void add_work(uint64_t size, uint64_t *work, uint64_t *largest)
{
    *work += size;
    *largest = size > *largest ? size : *largest;
}

/* Reserves pieces, and buffers for the threads, as many as this model needs. */
static enum mf_status prepare(struct data_scanner *scanner)
{
    const struct mf_index *index = scanner->index;
    uint64_t work = 0, largest = 0, pieces;

    for (size_t i = 0; i < index->tensor_count; i++)
        if (!(index->tensor[i].flags & MF_TENSOR_DAMAGED) &&
            !mf_data_is_in_member(index, &index->tensor[i]))
            add_work(index->tensor[i].size, &work, &largest);
    for (size_t i = 0; i < index->stored.stored_count; i++) {
        index->stored.stored[i].covered = false;
        if (mf_data_has_checksum(&index->stored.stored[i]))
            add_work(index->stored.stored[i].size, &work, &largest);
    }
    for (size_t i = 0; i < scanner->model->file_count; i++)
        if (scanner->model->part[i].has_footer)
            largest = scanner->model->file[i].source.size;
    if (mf_crew_init(&scanner->crew, scanner->model->env, work, largest, 0) !=
        MF_OK)
        return scanner->model->env->error.status;
    /* A tensor, its padding and what lies before each; the rest of a member and
     * its end; the header's padding and the footer. */
    pieces = work / scanner->crew.buffer_size + 4 * index->tensor_count +
             2 * index->stored.stored_count +
             (2 * PADDING_COUNT + 2) * scanner->model->file_count + 1;
    scanner->piece = mf_chunk_table(
        scanner->model->env, pieces < PIECES_MAX ? (size_t)pieces : PIECES_MAX,
        sizeof(*scanner->piece), &scanner->piece_room);
    return scanner->piece ? MF_OK : scanner->model->env->error.status;
}

static void release(struct data_scanner *scanner)
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

enum mf_status mf_data_scan(struct data_scanner *scanner)
{
    enum mf_status status = prepare(scanner);

    for (size_t i = 0; i < scanner->model->file_count && status == MF_OK; i++)
        status = cut_shard(scanner, (uint32_t)i);
    if (status == MF_OK)
        status = mf_data_run(scanner);
    mf_data_members_end(scanner->index);
    release(scanner);
    return status;
}

size_t mf_data_last_padded(const struct mf_model *model)
{
    const struct mf_part *part = &model->part[0];
    const struct mf_record *record;
    uint64_t padded;
    size_t at = part->count;

    while (at > 0 && mf_record_by_offset(&model->index, at - 1)->flags &
                         MF_TENSOR_DAMAGED)
        at--;
    if (at == 0 || at == part->count)
        return at;
    record = mf_record_by_offset(&model->index, at - 1);
    return mf_align_up(record->offset + record->size - part->data_offset,
                       part->alignment, &padded) &&
                   padded > part->data_end - part->data_offset
               ? at
               : 0;
}

enum mf_status mf_data_scan_padding(struct data_scanner *scanner, size_t at)
{
    enum mf_status status = prepare(scanner);

    if (status == MF_OK)
        status = cut_padding(scanner, at, &scanner->model->part[0]);
    if (status == MF_OK)
        status = mf_data_run(scanner);
    release(scanner);
    return status;
}

enum mf_status mf_data_check(struct mf_model *model)
{
    const struct mf_isa *isa = mf_isa_choose(model->env);
    const struct mf_index before = model->index;
    enum mf_status status = MF_OK;

    if (model->data_validated)
        return MF_OK;
    if (model->scan)
        return mf_data_take(model);
    if (!isa)
        return model->env->error.status;
    for (unsigned round = 0;
         status == MF_OK && mf_steady_next(model->env, &model, 1, &round);) {
        struct data_scanner scanner = { .model = model,
                                        .index = &model->index,
                                        .isa = isa };

        if (round > 1)
            restore_findings(&model->index, &before);
        status = mf_data_scan(&scanner);
    }
    status = status == MF_OK ? model->env->error.status : status;
    if (status != MF_OK) {
        restore_findings(&model->index, &before);
        return status;
    }
    model->data_validated = true;
    return model->index.status;
}
