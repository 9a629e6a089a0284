/* SPDX-License-Identifier: MIT
 *
 * data_pieces.c - pieces of tensor data: scanned in threads, merged in order
 */

#include <assert.h>

#include "lib/base/little.h"
#include "lib/base/timings.h"
#include "lib/check/data_parts.h"

/* ---- one piece, in a thread ---- */

/* apr_q8 has one scale, before the whole tensor. */
static size_t head_size(const struct data_piece *piece)
{
    size_t head = mf_type_head((enum mf_type)piece->record->type);

    return piece->done == 0 && piece->size >= head ? head : 0;
}

static void scan_tensor(const struct data_scanner *scanner,
                        const uint8_t *bytes, struct data_piece *piece)
{
    bool big_endian = scanner->index->kind.byte_order == MF_BIG_ENDIAN;
    enum mf_type type = (enum mf_type)piece->record->type;
    size_t head = head_size(piece);
    struct mf_scan_found *values = &piece->result.found.values;
    uint64_t count, before = piece->done / mf_scan_stride(type);

    piece->result.found.nonzero = mf_scan_any(bytes, piece->size);
    piece->result.found.bad_scale =
        head > 0 && mf_scan(scanner->isa, MF_TYPE_F32, big_endian, bytes, head,
                            &count) != MF_SCAN_CLEAN;
    if (piece->row > 0 && scanner->rows)
        piece->result.differs = scanner->rows->differ(
            scanner->rows, piece, bytes + head, piece->size - head);
    else if (piece->row > 0)
        piece->result.differs =
            mf_data_row_differs(bytes + head, piece->size - head, piece->row);
    mf_scan_all(scanner->isa, type, big_endian, bytes, piece->size, values);
    values->first_bad += before;
    values->first_high += before;
}

static struct mf_stored *storage_of(const struct data_scanner *scanner,
                                    const struct data_piece *piece)
{
    return piece->storage > 0
               ? &scanner->index->stored.stored[piece->storage - 1]
               : NULL;
}

/* Pieces of compressed bytes are unpacked one after the other. */
static bool follows(const void *context, size_t task)
{
    const struct data_scanner *scanner = context;
    const struct data_piece *piece = &scanner->piece[task];
    const struct mf_stored *stored = storage_of(scanner, piece);

    return task > 0 && stored && stored->method != MF_METHOD_PLAIN &&
           piece[-1].offset + piece[-1].size == piece->offset;
}

/* Not after a piece that could not be unpacked, nor where that fails. */
static enum mf_status read_piece(struct mf_worker *worker,
                                 const struct data_scanner *scanner,
                                 size_t task, uint8_t *bytes)
{
    struct data_piece *piece = &scanner->piece[task];
    const struct mf_stored *stored = storage_of(scanner, piece);

    piece->result.broken =
        stored &&
        (stored->broken || (follows(scanner, task) && piece[-1].result.broken));
    if (piece->result.broken ||
        mf_source_read(&worker->env, &scanner->model->file[piece->shard].source,
                       piece->offset, bytes, piece->size) == MF_OK)
        return MF_OK;
    piece->result.broken = stored && worker->env.error.status == MF_ERR_CORRUPT;
    if (piece->result.broken)
        mf_clear_error(&worker->env);
    return worker->env.error.status;
}

/* Bytes are digested in the order of the file: each piece when it is its turn,
 * also those whose bytes are not. */
static enum mf_status digest_piece(struct mf_worker *worker,
                                   struct data_scanner *scanner, size_t task,
                                   const uint8_t *bytes)
{
    const struct data_piece *piece = &scanner->piece[task];
    const struct mf_file_digests *digests = scanner->model->digests;
    struct mf_timed timed;

    if (!digests || !mf_worker_wait(worker, &scanner->turn, task))
        return worker->env.error.status;
    timed = mf_timed_begin(&worker->env, MF_PHASE_DIGEST);
    if (piece->digested)
        digests->add(digests->digest, bytes, piece->size);
    mf_timed_end(&worker->env, timed);
    atomic_store_explicit(&scanner->turn, task + 1, memory_order_release);
    return MF_OK;
}

static enum mf_status scan_piece(struct mf_worker *worker, void *context,
                                 size_t task)
{
    struct data_scanner *scanner = context;
    struct data_piece *piece = &scanner->piece[task];
    uint8_t *bytes = mf_worker_room(worker, piece->offset);
    struct mf_timed timed;

    if (piece->kind == PIECE_MEMBER)
        return digest_piece(worker, scanner, task, bytes);
    if (storage_of(scanner, piece))
        mf_worker_at(worker, storage_of(scanner, piece)->name.at);
    if (read_piece(worker, scanner, task, bytes) != MF_OK ||
        digest_piece(worker, scanner, task, bytes) != MF_OK ||
        piece->result.broken)
        return worker->env.error.status;
    if (piece->in_crc) {
        timed = mf_timed_begin(&worker->env, MF_PHASE_DIGEST);
        piece->result.crc = mf_crc32(0, bytes, piece->size);
        mf_timed_end(&worker->env, timed);
    }
    if (piece->kind == PIECE_TENSOR)
        mf_worker_at(worker, piece->record->name);
    timed = mf_timed_begin(&worker->env, MF_PHASE_SCAN);
    if (piece->kind == PIECE_TENSOR)
        scan_tensor(scanner, bytes, piece);
    else if (piece->kind == PIECE_PADDING)
        piece->result.found.nonzero = mf_scan_any(bytes, piece->size);
    else if (piece->kind == PIECE_FOOTER)
        piece->result.crc = mf_little_32(bytes);
    mf_timed_end(&worker->env, timed);
    mf_worker_done(worker, piece->size);
    piece->result.scanned = true;
    return MF_OK;
}

/* ---- merging results, in file order ---- */

static void add_found(struct mf_data_found *sum,
                      const struct mf_data_found *found)
{
    struct mf_scan_found *values = &sum->values;

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

static enum mf_status merge_tensor(struct data_scanner *scanner,
                                   const struct data_piece *piece)
{
    const struct mf_stored *stored = storage_of(scanner, piece);
    struct data_piece *sum = &scanner->tensor;
    enum mf_status status = MF_OK;

    assert(piece->done == 0 || sum->record == piece->record);
    if (piece->done == 0)
        *sum = *piece;
    else
        add_found(&sum->result.found, &piece->result.found);
    sum->result.differs = sum->result.differs || piece->result.differs;
    if (!piece->last || (stored && stored->broken))
        return MF_OK;
    if (sum->row > 0 && !sum->result.differs && sum->result.found.nonzero &&
        scanner->rows)
        sum->result.found.same = sum->record->size / sum->row;
    else if (sum->row > 0 && !sum->result.differs && sum->result.found.nonzero)
        status = mf_data_rows_same(&scanner->crew, scanner->model, sum->record,
                                   sum->row, &sum->result.found.same);
    if (status == MF_OK)
        mf_data_report(scanner->model, sum->record, &sum->result.found);
    return status;
}

static void merge_padding(struct data_scanner *scanner,
                          const struct data_piece *piece)
{
    struct data_piece *found = &scanner->tensor;

    if (piece->done == 0)
        *found = *piece;
    add_found(&found->result.found, &piece->result.found);
    found->size = (size_t)piece->done + piece->size;
    if (!piece->last || !found->result.found.nonzero)
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

static void merge_footer(struct data_scanner *scanner,
                         const struct data_piece *piece)
{
    if (piece->result.crc != scanner->crc)
        mf_index_note(scanner->index, piece->shard, MF_ERROR,
                      scanner->model->part[piece->shard].footer_rule,
                      piece->offset,
                      "checksum mismatch: the footer has %08" PRIx32
                      ", the file's bytes give %08" PRIx32,
                      piece->result.crc, scanner->crc);
}

static enum mf_status merge_piece(struct data_scanner *scanner,
                                  const struct data_piece *piece)
{
    if (piece->in_crc)
        scanner->crc =
            mf_crc32_join(scanner->crc, piece->result.crc, piece->size);
    if (piece->kind == PIECE_TENSOR)
        return merge_tensor(scanner, piece);
    if (piece->kind == PIECE_PADDING) {
        merge_padding(scanner, piece);
    } else if (piece->kind != PIECE_OTHER) {
        if (piece->kind == PIECE_FOOTER)
            merge_footer(scanner, piece);
        else
            mf_data_member_report(scanner->index, storage_of(scanner, piece),
                                  scanner->crc);
        scanner->crc = 0;
    }
    return MF_OK;
}

/* What was scanned before a failure counts where it cannot be read again. */
static void merge_scanned(struct data_scanner *scanner)
{
    for (size_t i = 0; scanner->rows && i < scanner->piece_count &&
                       scanner->piece[i].result.scanned;
         i++)
        merge_piece(scanner, &scanner->piece[i]);
}

static void expect(const struct data_scanner *scanner)
{
    struct mf_expected expected = { 0 };

    for (size_t i = 0; i < scanner->piece_count; i++) {
        const struct data_piece *piece = &scanner->piece[i];

        mf_expect_add(&expected, &scanner->model->file[piece->shard].source,
                      (struct mf_span){ piece->offset, piece->size });
    }
    mf_expect_end(&expected);
}

static void *result_of(void *context, size_t task)
{
    struct data_scanner *scanner = context;

    return &scanner->piece[task].result;
}

/* Bytes that are digested in their order are one process's. */
static const struct mf_yields results = { result_of,
                                          sizeof(struct data_result) };

enum mf_status mf_data_run(struct data_scanner *scanner)
{
    enum mf_status status;

    atomic_init(&scanner->turn, 0);
    expect(scanner);
    status = scanner->model->digests
                 ? mf_crew_run_rows(&scanner->crew, scan_piece, follows,
                                    scanner, scanner->piece_count)
                 : mf_crew_share(&scanner->crew, scan_piece, follows, scanner,
                                 scanner->piece_count, &results);
    for (size_t i = 0; i < scanner->piece_count; i++)
        if (scanner->piece[i].result.broken)
            storage_of(scanner, &scanner->piece[i])->broken = true;
    if (status != MF_OK)
        merge_scanned(scanner);
    for (size_t i = 0; i < scanner->piece_count && status == MF_OK; i++)
        status = merge_piece(scanner, &scanner->piece[i]);
    scanner->piece_count = 0;
    return status;
}

struct data_piece *mf_data_add(struct data_scanner *scanner,
                               const struct data_piece *like)
{
    if (scanner->piece_count == scanner->piece_room &&
        mf_data_run(scanner) != MF_OK)
        return NULL;
    scanner->piece[scanner->piece_count] = *like;
    return &scanner->piece[scanner->piece_count++];
}
