/* SPDX-License-Identifier: MIT
 *
 * piece.c - a part of a tensor is read, recoded, checked and written
 *
 * The bounds of a piece come from the header of a file that may be hostile.
 * They were checked when the model was opened; here they are checked again
 * against the source, the tensor and the target.  A mistake anywhere in between
 * must end in an error, not in a file with the bytes of another tensor, or of
 * our memory.
 *
 * Values are scanned for NaN and infinity twice: as they are read, and after
 * recoding, because a value that was fine may overflow the new type.  So a file
 * that is written never has what `validate --data` would report.
 *
 * Where nothing is recoded or scanned, the kernel copies the bytes by itself
 * (copy_file_range), on some file systems without moving any.
 */
#include "lib/write/resume.h"

#include <stdio.h>

#include "lib/base/timings.h"
#include "lib/check/scan.h"
#include "lib/model/swap.h"

/* For fewer bytes, read and write are faster than copy_file_range. */
#define BY_KERNEL ((uint64_t)64 * 1024)

enum mf_status mf_piece_out_of_bounds(struct mf_env *env,
                                      const struct mf_piece *piece)
{
    return mf_fail(env, MF_ERR_IO, piece->span.offset & ~MF_SWAPPED_BIT,
                   "%" PRIu64 " bytes cannot be copied from here: they extend "
                   "past the end of the file",
                   piece->span.size);
}

void mf_piece_take(struct mf_piece *piece, const struct mf_record *record)
{
    const struct mf_model *model = piece->model;
    const struct mf_draft *draft = &piece->output->draft;

    piece->source = &model->file[record->shard].source;
    piece->big_endian = draft->big_endian && !draft->only_floats &&
                        piece->tensor->from == piece->tensor->type &&
                        mf_record_is_swapped(model, record);
    piece->span.offset =
        piece->big_endian ? record->offset : mf_record_data(model, record);
    piece->span.size = record->size;
}

/* ---- the order of bytes ---- */

/* Bytes of a block whose numbers are turned around; 1: they stay as they are.
 */
static size_t swapped_size(const struct mf_piece *piece)
{
    enum mf_type type =
        piece->tensor ? (enum mf_type)piece->tensor->type : MF_TYPE_UNKNOWN;
    const struct mf_draft *draft = piece->output ? &piece->output->draft : NULL;

    if (!draft || !draft->big_endian || piece->big_endian ||
        !mf_type_swaps(type) ||
        (draft->only_floats && type != MF_TYPE_F32 && type != MF_TYPE_F16))
        return 1;
    return mf_types[type].bytes;
}

/* bytes: whole blocks. */
void mf_piece_swap(const struct mf_piece *piece, uint8_t *bytes, size_t size)
{
    size_t block = swapped_size(piece);

    if (block > 1)
        mf_swap_blocks((enum mf_type)piece->tensor->type, bytes, size / block);
}

size_t mf_piece_stride(const struct mf_piece *piece)
{
    size_t block = swapped_size(piece);

    return block > 1 || !piece->scanner
               ? block
               : mf_scan_stride((enum mf_type)piece->tensor->type);
}

/* Values are scanned as they are written, or, where they are recoded, before
 * they are turned around. */
static bool scans_big_endian(const struct mf_piece *piece)
{
    return !piece->recoding.decode &&
           (piece->big_endian || swapped_size(piece) > 1);
}

/* ---- reading ---- */

enum mf_status mf_piece_read(struct mf_worker *worker,
                             const struct mf_piece *piece, uint64_t at,
                             uint8_t *into, size_t size)
{
    if (!piece->source) {
        memset(into, 0, size);
        return MF_OK;
    }
    if (mf_source_read(&worker->env, piece->source, piece->span.offset + at,
                       into, size) != MF_OK)
        return worker->env.error.status;
    if (!piece->recoding.decode)
        mf_piece_swap(piece, into, size);
    return MF_OK;
}

/* ---- NaN and infinite values ---- */

/* What is not finite: an element or block, by its number from the start of the
 * tensor, or the one scale of the whole tensor. */
struct fault {
    enum mf_type type;
    uint64_t number;
    bool of_all;
};

/* A tensor of a model or of a draft, for a message. */
struct faulty {
    struct mf_str name;
    uint64_t columns; /* of a row; 0 where it has none */
};

static uint64_t columns_of(const uint64_t *dim, uint32_t rank, bool fastest)
{
    return rank > 0 ? dim[fastest ? 0 : rank - 1] : 1;
}

/* The tensor that has byte *at of the piece, which may be several small tensors
 * joined and names only the first; *at becomes the byte in that tensor. */
static struct faulty tensor_at(const struct mf_piece *piece, uint64_t *at)
{
    const struct mf_draft_tensor *tensor = piece->tensor;
    const struct mf_index *index = &piece->model->index;
    const struct mf_draft *draft = &piece->output->draft;
    uint64_t offset = (piece->span.offset & ~MF_SWAPPED_BIT) + *at;
    struct faulty first = { tensor->name,
                            columns_of(tensor->dim, tensor->rank,
                                       draft->format->fastest_first) };

    if (piece->recoding.decode || *at < tensor->size)
        return first;
    for (size_t i = 0; i < index->tensor_count; i++) {
        const struct mf_record *record = &index->tensor[i];

        if (piece->source == &piece->model->file[record->shard].source &&
            offset >= record->offset &&
            offset - record->offset < record->size) {
            *at = offset - record->offset;
            return (
                struct faulty){ { record->name, record->name_size },
                                columns_of(record->dim, record->rank,
                                           piece->model->info.fastest_first) };
        }
    }
    return first;
}

/* Where the element is, or the elements of the block: " (row 3, column 5)". */
static void put_place(char *out, size_t room, enum mf_type type,
                      uint64_t columns, uint64_t number)
{
    uint64_t block = mf_types[type].block, first = number * block;

    out[0] = 0;
    if (columns == 0 || columns % block != 0) /* blocks cross rows */
        return;
    if (block == 1)
        snprintf(out, room, " (row %" PRIu64 ", column %" PRIu64 ")",
                 first / columns, first % columns);
    else
        snprintf(out, room,
                 " (row %" PRIu64 ", columns %" PRIu64 " to %" PRIu64 ")",
                 first / columns, first % columns, first % columns + block - 1);
}

static enum mf_status not_finite(struct mf_worker *worker,
                                 const struct mf_piece *piece,
                                 const struct fault *fault)
{
    enum mf_type type = fault->type;
    size_t stride = mf_scan_stride(type);
    uint64_t at = fault->number * stride;
    enum mf_rule rule =
        fault->of_all ? MF_RULE_DATA_SCALE : mf_scan_kind(type).rule;
    bool is = type == (enum mf_type)piece->tensor->from;
    struct faulty tensor = tensor_at(piece, &at);
    char what[64] = "its scale", place[96] = "", from[32] = "";

    if (!fault->of_all) {
        snprintf(what, sizeof(what), "%s %" PRIu64,
                 rule == MF_RULE_DATA_SCALE ? "a scale of block" : "element",
                 at / stride);
        put_place(place, sizeof(place), type, tensor.columns, at / stride);
    }
    if (!is)
        snprintf(from, sizeof(from), ", made from %s",
                 mf_types[piece->tensor->from].name);
    mf_fail(&worker->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
            "tensor '%s' as %s: %s %s infinite or NaN%s%s",
            mf_quote(tensor.name).text, mf_types[type].name, what,
            is ? "is" : "would be", place, from);
    /* The rule that the written file would violate. */
    worker->env.error.rule = mf_rules[rule].id;
    return worker->env.error.status;
}

/* bytes: of the tensor as it is or will be, from its byte `at` on. */
static enum mf_status scan_numbers(struct mf_worker *worker,
                                   const struct mf_piece *piece,
                                   enum mf_type type, uint64_t at,
                                   const uint8_t *bytes, size_t size)
{
    size_t head = piece->recoding.decode ? 0 : mf_type_head(type), first;
    bool big_endian = scans_big_endian(piece);
    struct fault fault = { .type = type, .of_all = true };
    uint64_t count;

    if (at == 0 && head > 0 && head <= size &&
        mf_scan(piece->scanner, MF_TYPE_F32, big_endian, bytes, head, &count) !=
            MF_SCAN_CLEAN)
        return not_finite(worker, piece, &fault);
    first = mf_scan(piece->scanner, type, big_endian, bytes, size, &count);
    if (first == MF_SCAN_CLEAN)
        return MF_OK;
    fault.of_all = false;
    fault.number = at / mf_scan_stride(type) + first;
    return not_finite(worker, piece, &fault);
}

enum mf_status mf_piece_check(struct mf_worker *worker,
                              const struct mf_piece *piece, enum mf_type type,
                              uint64_t at, const uint8_t *bytes, size_t size)
{
    struct mf_timed timed;
    enum mf_status status;

    if (!piece->scanner) /* the type may be unknown */
        return MF_OK;
    timed = mf_timed_begin(&worker->env, MF_PHASE_SCAN);
    status = scan_numbers(worker, piece, type, at, bytes, size);
    mf_timed_end(&worker->env, timed);
    return status;
}

/* ---- writing ---- */

/* Bytes of the piece from `done` on, which are read and written. */
static enum mf_status copy_part(struct mf_worker *worker,
                                const struct mf_piece *piece, uint64_t done,
                                uint8_t *buffer, size_t size)
{
    enum mf_type type =
        piece->tensor ? (enum mf_type)piece->tensor->type : MF_TYPE_I8;
    uint64_t at = piece->at + done;

    if (mf_piece_read(worker, piece, at, buffer, size) != MF_OK ||
        mf_piece_check(worker, piece, type, at, buffer, size) != MF_OK)
        return worker->env.error.status;
    return mf_target_write(&worker->env, &piece->output->target,
                           piece->to + done, buffer, size);
}

static enum mf_status copy_piece(struct mf_worker *worker,
                                 struct mf_piece *piece)
{
    struct mf_target *target = &piece->output->target;
    bool digests = piece->hasher && mf_piece_is_digested(piece);
    bool by_kernel = piece->source && !piece->scanner && !digests &&
                     swapped_size(piece) == 1 && piece->size >= BY_KERNEL;
    size_t stride = mf_piece_stride(piece);
    size_t most = worker->buffer_size - worker->buffer_size % stride, moved;
    struct mf_piece_digest digest;

    if (digests)
        mf_piece_digest_begin(&digest);
    for (uint64_t done = 0; done < piece->size; done += moved) {
        uint64_t at = piece->span.offset + piece->at + done;
        uint8_t *buffer = mf_worker_room(worker, at);

        moved = by_kernel ? mf_target_copy(&worker->env, target,
                                           piece->to + done, piece->source, at,
                                           (size_t)(piece->size - done))
                          : 0;
        by_kernel = moved > 0;
        if (moved == 0) {
            moved = mf_next_part(&worker->env, piece->size - done, most);
            if (moved == 0 ||
                copy_part(worker, piece, done, buffer, moved) != MF_OK)
                return worker->env.error.status;
        }
        if (digests)
            mf_piece_digest_add(&digest, piece->hasher, buffer, moved);
        mf_worker_done(worker, piece->source ? moved : 0);
    }
    if (digests)
        mf_piece_digest_end(&digest, piece->result.digest);
    return MF_OK;
}

enum mf_status mf_piece_read_rows(struct mf_worker *worker,
                                  const struct mf_piece *piece, uint64_t first,
                                  size_t rows)
{
    const struct mf_recoding *recoding = &piece->recoding;
    size_t numbers = mf_recoding_numbers(recoding, first, rows);
    size_t size = (size_t)mf_numbers_size(recoding->from, numbers);
    uint8_t *into = mf_recoding_room(recoding, worker->buffer);

    if (recoding->prefix > 0 &&
        mf_source_read(&worker->env, piece->source,
                       piece->span.offset - recoding->prefix, worker->buffer,
                       recoding->prefix) != MF_OK)
        return worker->env.error.status;
    if (mf_piece_read(worker, piece, first * recoding->in, into, size) != MF_OK)
        return worker->env.error.status;
    return mf_piece_check(worker, piece, recoding->from, first * recoding->in,
                          into, size);
}

/* Digests of what a piece is made of, and of what is written. */
struct digests {
    struct mf_piece_digest input, output;
};

/* What was recoded is written, or compared with what was written before. */
static enum mf_status put(struct mf_worker *worker, struct mf_piece *piece,
                          uint64_t to, const uint8_t *bytes, size_t size)
{
    return piece->again ? mf_piece_compare(worker, piece, to, bytes, size)
                        : mf_target_write(&worker->env, &piece->output->target,
                                          to, bytes, size);
}

enum mf_status mf_piece_finish_rows(struct mf_worker *worker,
                                    const struct mf_piece *piece,
                                    uint64_t first, size_t rows,
                                    uint8_t *result, size_t *size)
{
    const struct mf_recoding *recoding = &piece->recoding;

    *size = (size_t)mf_numbers_size(recoding->to,
                                    mf_recoding_numbers(recoding, first, rows));
    if (mf_piece_check(worker, piece, recoding->to, first * recoding->out,
                       result, *size) != MF_OK)
        return worker->env.error.status;
    mf_piece_swap(piece, result, *size);
    return MF_OK;
}

static enum mf_status recode_rows(struct mf_worker *worker,
                                  struct mf_piece *piece,
                                  struct digests *digests)
{
    const struct mf_recoding *recoding = &piece->recoding;
    size_t most = mf_recoding_rows(recoding, worker->buffer_size), some;
    uint64_t first = piece->at / recoding->in;
    uint64_t count = mf_recoding_count(recoding, piece->size);

    for (uint64_t done = 0; done < count; done += some) {
        uint8_t *result;
        size_t size;

        some = mf_next_part(&worker->env, count - done, most);
        if (some == 0 ||
            mf_piece_read_rows(worker, piece, first + done, some) != MF_OK)
            return worker->env.error.status;
        size = (size_t)mf_numbers_size(
            recoding->from, mf_recoding_numbers(recoding, first + done, some));
        mf_worker_done(worker, size);
        if (piece->hasher && !piece->measured)
            mf_piece_digest_input(&digests->input, piece, worker->buffer,
                                  done == 0, size);
        if (piece->measured) {
            piece->result.largest =
                mf_recode_largest(&worker->env, recoding, worker->buffer, some,
                                  first + done, piece->result.largest);
            continue;
        }
        result = mf_recode(&worker->env, recoding, worker->buffer, some,
                           first + done, &piece->result.deviation);
        if (!result)
            return worker->env.error.status;
        if (mf_piece_finish_rows(worker, piece, first + done, some, result,
                                 &size) != MF_OK)
            return worker->env.error.status;
        if (piece->hasher)
            mf_piece_digest_add(&digests->output, piece->hasher, result, size);
        if (put(worker, piece, piece->to + done * recoding->out, result,
                size) != MF_OK)
            return worker->env.error.status;
    }
    return MF_OK;
}

static enum mf_status recode_piece(struct mf_worker *worker,
                                   struct mf_piece *piece)
{
    struct digests digests;
    enum mf_status status;

    if (piece->hasher) {
        mf_piece_digest_begin(&digests.input);
        mf_piece_digest_begin(&digests.output);
    }
    status = recode_rows(worker, piece, &digests);
    if (piece->hasher) {
        mf_piece_digest_end(&digests.input, piece->result.input);
        mf_piece_digest_end(&digests.output, piece->result.digest);
    }
    return status;
}

/* The name that the progress function gets: it stays valid. */
static const char *name_of(const struct mf_piece *piece)
{
    const struct mf_draft_tensor *tensor = piece->tensor;

    return tensor->made ? tensor->made->name
                        : piece->model->index.tensor[tensor->record].name;
}

enum mf_status mf_piece_move(struct mf_worker *worker, struct mf_piece *piece)
{
    const struct mf_span *span = &piece->span;

    if (piece->rides && !piece->kept)
        return MF_OK; /* moved with the one before that reads */
    if (piece->source &&
        (!mf_source_has(piece->source, *span) || piece->at > span->size ||
         piece->size > span->size - piece->at))
        return mf_piece_out_of_bounds(&worker->env, piece);
    if (piece->tensor && piece->model)
        mf_worker_at(worker, name_of(piece));
    if (piece->riders > 0 && !piece->kept)
        return mf_piece_move_together(worker, piece);
    if (piece->kept || (piece->again && !piece->recoding.decode))
        return mf_piece_verify(worker, piece);
    return piece->recoding.decode ? recode_piece(worker, piece)
                                  : copy_piece(worker, piece);
}

/* ---- joining ---- */

static bool is_copied(const struct mf_piece *piece)
{
    return piece->source && !piece->recoding.decode;
}

/* Values that are scanned must have one type, without a scale before them; and
 * so must those that are turned around. */
static bool same_scan(const struct mf_piece *a, const struct mf_piece *b)
{
    if (a->big_endian != b->big_endian || swapped_size(a) != swapped_size(b) ||
        (swapped_size(a) > 1 && a->tensor->type != b->tensor->type))
        return false;
    if (!a->scanner || !b->scanner)
        return a->scanner == b->scanner;
    return a->tensor->type == b->tensor->type &&
           mf_type_head((enum mf_type)a->tensor->type) == 0;
}

bool mf_piece_join(struct mf_piece *last, const struct mf_piece *piece)
{
    if (!is_copied(piece) || !is_copied(last) || !same_scan(last, piece) ||
        last->kept != piece->kept || last->output != piece->output ||
        last->source != piece->source ||
        last->span.offset + last->at + last->size != piece->span.offset ||
        last->to + last->size != piece->to || last->size >= BY_KERNEL ||
        piece->span.size >= BY_KERNEL)
        return false;
    last->size += piece->span.size;
    last->span.size = last->at + last->size;
    return true;
}
