/* SPDX-License-Identifier: MIT
 *
 * transfer.c - the tensors' bytes are cut into pieces, which threads share
 *
 * All pieces know where they come from and where they go, so they can move in
 * any order and on any thread: the file is the same.  What is hard:
 *
 * - Tensors differ in size by a factor of a billion.  A large one becomes many
 *   pieces, so that all threads work on it and a stop is noticed soon.  Small
 *   ones that are neighbours in both files become one piece: a million tensors
 *   of 32 bytes took 27 s as a piece each, and take 2 s.
 * - Pieces are collected and run up to PIECES at a time, fewer where memory is
 *   short.  Some things end a run early: importance weights that do not fit
 *   into the room that is left, and a type with one scale for the whole
 *   tensor, which has to be read twice, once for its largest value.
 * - Where stopped work can go on, a run is a batch of work that a kill may
 *   lose, so it is small, and must end where a run of the work before ended.
 */
#include "lib/write/transfer.h"

#include "lib/base/sort.h"
#include "lib/check/scan.h"
#include "lib/write/part.h"
#include "lib/write/resume.h"

/* Large enough for the kernel to copy at full speed, small enough to share and
 * to stop; a multiple of every element's size. */
#define PIECE  ((size_t)8 * 1024 * 1024)
#define PIECES 256
#define RANKS  64 /* more of them have fewer pieces each */

/* Recoding takes a hundred times as long per byte. */
#define RECODED ((size_t)256 * 1024)

/* ---- pieces ---- */

/* The sums of an error are put together by pieces: these never depend on
 * whether work can go on. */
size_t mf_transfer_most(const struct mf_transfer *transfer,
                        const struct mf_piece *piece)
{
    const struct mf_recoding *recoding = &piece->recoding;
    const struct mf_attempt *part = transfer->outputs->attempt;
    size_t most = part                        ? mf_part_piece(part)
                  : transfer->outputs->resume ? MF_RESUME_PIECE
                                              : PIECE;
    size_t stride = mf_piece_stride(piece);

    if (!recoding->decode)
        return most - most % stride; /* whole blocks */
    most = RECODED;
    if (transfer->outputs->resume && !recoding->check &&
        recoding->out > recoding->in)
        most = most / recoding->out * recoding->in;
    return recoding->in < most ? most / recoding->in * recoding->in
                               : recoding->in;
}

/* The piece was added, by itself or to the one before. */
static enum mf_status added(struct mf_transfer *transfer,
                            const struct mf_piece *piece)
{
    struct mf_resume *resume = transfer->outputs->resume;

    if (!piece->measured)
        mf_part_added(transfer, piece->to + mf_piece_written(piece));
    return resume && !piece->measured && mf_resume_added(resume, piece)
               ? mf_transfer_run(transfer)
               : MF_OK;
}

enum mf_status mf_transfer_place(const struct mf_transfer *transfer,
                                 struct mf_piece *piece)
{
    const struct mf_resume *resume = transfer->outputs->resume;

    piece->hasher = resume ? transfer->isa : NULL;
    piece->again = transfer->outputs->again;
    piece->number = transfer->listed;
    return resume && !piece->measured ? mf_resume_place(resume, piece) : MF_OK;
}

static enum mf_status add_part(struct mf_transfer *transfer,
                               struct mf_piece *piece)
{
    bool taken;

    if (mf_part_place(transfer, piece, &taken) != MF_OK || !taken ||
        piece->size == 0 ||
        (transfer->count == transfer->room &&
         mf_transfer_run(transfer) != MF_OK) ||
        mf_transfer_place(transfer, piece) != MF_OK)
        return transfer->crew->env->error.status;
    transfer->piece[transfer->count++] = *piece;
    transfer->listed += !piece->measured;
    return added(transfer, piece);
}

/* A small piece that continues the one before. */
static enum mf_status join(struct mf_transfer *transfer, struct mf_piece *piece)
{
    const struct mf_outputs *outputs = transfer->outputs;
    const struct mf_resume *resume = outputs->resume;

    transfer->joined = false;
    piece->at = 0;
    piece->size = piece->span.size;
    if (transfer->count == 0 || piece->measured ||
        (resume && (outputs->together || mf_piece_is_digested(piece))))
        return MF_OK; /* each is listed and digested alike next time */
    if (outputs->attempt && !mf_part_continues(transfer, piece))
        return MF_OK; /* it may be of another part */
    if (resume && piece->size < MF_RESUME_PIECE &&
        mf_resume_place(resume, piece) != MF_OK)
        return transfer->crew->env->error.status;
    transfer->joined =
        mf_piece_join(&transfer->piece[transfer->count - 1], piece);
    return transfer->joined ? added(transfer, piece) : MF_OK;
}

bool mf_transfer_is_serial(const struct mf_piece *piece)
{
    return piece->tensor && !piece->tensor->made &&
           mf_record_is_packed(
               &piece->model->index,
               &piece->model->index.tensor[piece->tensor->record]);
}

/* Cuts piece.span, whose first byte goes to piece.to, into pieces. */
enum mf_status mf_transfer_add(struct mf_transfer *transfer,
                               struct mf_piece piece)
{
    const struct mf_recoding *recoding = &piece.recoding;
    size_t in = recoding->decode ? recoding->in : 1;
    size_t out = recoding->decode ? recoding->out : 1;
    size_t most = mf_transfer_most(transfer, &piece);
    uint64_t to = piece.to;
    bool serial = mf_transfer_is_serial(&piece);

    if (join(transfer, &piece) != MF_OK)
        return transfer->crew->env->error.status;
    for (piece.at = 0; piece.at < piece.span.size && !transfer->joined;
         piece.at += piece.size) {
        piece.size =
            mf_next_part(transfer->crew->env, piece.span.size - piece.at, most);
        piece.to = to + piece.at / in * out;
        piece.follows = serial && piece.at > 0;
        if (add_part(transfer, &piece) != MF_OK)
            return transfer->crew->env->error.status;
    }
    return MF_OK;
}

/* The gap between two tensors.  In a new file it is zeros already; to a pipe or
 * a program zeros have to be written, and where work goes on, verified. */
static enum mf_status fill_gap(struct mf_transfer *transfer,
                               struct mf_output *output, uint64_t from,
                               uint64_t to)
{
    struct mf_piece piece = { .output = output, .to = from };

    piece.span.size = to - from;
    return output->target.stream || output->target.given ||
                   transfer->outputs->resume || transfer->outputs->attempt
               ? mf_transfer_add(transfer, piece)
               : MF_OK;
}

/* Pieces that use another tensor's weights run first. */
static enum mf_status load_weights(struct mf_transfer *transfer,
                                   const struct mf_draft_tensor *tensor,
                                   bool fastest_first,
                                   struct mf_recoding *recoding)
{
    const struct mf_weights *from = &transfer->outputs->weights;
    size_t count = mf_weights_count(from, tensor, fastest_first, recoding);

    if (count == 0 ||
        mf_weights_again(&transfer->weights, tensor, fastest_first, recoding))
        return MF_OK;
    if (!mf_weights_fit(&transfer->weights, count) &&
        mf_transfer_run(transfer) != MF_OK)
        return transfer->crew->env->error.status;
    return mf_weights_load(&transfer->weights, transfer->crew, from, tensor,
                           count, fastest_first, recoding);
}

const struct mf_isa *mf_transfer_scanner(const struct mf_transfer *transfer,
                                         const struct mf_draft_tensor *tensor,
                                         uint64_t size)
{
    if (!transfer->outputs->finite_only || tensor->from >= MF_TYPE_COUNT ||
        tensor->from == MF_TYPE_BOOL ||
        size % mf_scan_stride((enum mf_type)tensor->from) != 0)
        return NULL;
    return transfer->isa;
}

/* All of a tensor: one of the model's, or one that is made. */
static struct mf_piece whole(const struct mf_transfer *transfer,
                             struct mf_output *output,
                             const struct mf_draft_tensor *tensor)
{
    const struct mf_model *model = transfer->outputs->model;
    struct mf_piece piece = { .output = output,
                              .model = model,
                              .source = tensor->made,
                              .tensor = tensor,
                              .to =
                                  output->draft.data_offset + tensor->offset };

    if (tensor->made)
        piece.span.size = tensor->made->size;
    else
        mf_piece_take(&piece, &model->index.tensor[tensor->record]);
    piece.scanner = mf_transfer_scanner(transfer, tensor, piece.span.size);
    return piece;
}

/* Sets what recodes the piece, which is all of a tensor. */
static enum mf_status set_recoding(struct mf_transfer *transfer,
                                   struct mf_piece *piece)
{
    struct mf_env *env = transfer->crew->env;
    const struct mf_draft *draft = &piece->output->draft;
    const struct mf_draft_tensor *tensor = piece->tensor;
    struct mf_recoding *recoding = &piece->recoding;
    struct mf_span *span = &piece->span;
    uint64_t in, out;

    if (!mf_recoding_init(env, transfer->isa, tensor,
                          draft->format->fastest_first, recoding))
        return env->error.status;
    recoding->effort = transfer->outputs->effort;
    if (piece->output->deviation)
        recoding->check =
            mf_env_codec(env, transfer->isa, (enum mf_type)tensor->type);
    span->offset += recoding->prefix;
    span->size -= span->size < recoding->prefix ? span->size : recoding->prefix;
    if (!mf_recoding_sizes(recoding, &in, &out) || in != span->size ||
        out + recoding->head != tensor->size)
        return mf_piece_out_of_bounds(env, piece);
    return load_weights(transfer, tensor, draft->format->fastest_first,
                        recoding);
}

enum mf_status mf_transfer_prepare(struct mf_transfer *transfer,
                                   struct mf_output *output,
                                   const struct mf_draft_tensor *tensor,
                                   struct mf_piece *piece)
{
    *piece = whole(transfer, output, tensor);
    if (tensor->size == 0 && piece->span.size == 0)
        return MF_OK; /* a dimension of 0: no rows to divide by */
    if (tensor->from != tensor->type)
        return set_recoding(transfer, piece);
    return tensor->size == piece->span.size
               ? MF_OK
               : mf_piece_out_of_bounds(transfer->crew->env, piece);
}

enum mf_status mf_transfer_add_whole(struct mf_transfer *transfer,
                                     struct mf_piece *piece)
{
    if (piece->recoding.head > 0 && mf_transfer_scale(transfer, piece) != MF_OK)
        return transfer->crew->env->error.status;
    return mf_transfer_add(transfer, *piece);
}

enum mf_status mf_transfer_gap(struct mf_transfer *transfer,
                               struct mf_output *output, size_t number)
{
    const struct mf_draft *draft = &output->draft;
    const struct mf_draft_tensor *tensor;
    uint64_t from = 0, to = draft->data_size;

    if (number < draft->tensor_count)
        to = mf_draft_in_order(draft, number)->offset;
    if (number > 0) {
        tensor = mf_draft_in_order(draft, number - 1);
        from = tensor->offset + tensor->size;
    }
    return fill_gap(transfer, output, draft->data_offset + from,
                    draft->data_offset + to);
}

static enum mf_status transfer_tensor(struct mf_transfer *transfer,
                                      struct mf_output *output,
                                      const struct mf_draft_tensor *tensor)
{
    struct mf_piece piece;

    if (!mf_part_wants(transfer->outputs, output, tensor))
        return MF_OK;
    if (mf_transfer_prepare(transfer, output, tensor, &piece) != MF_OK)
        return transfer->crew->env->error.status;
    return tensor->size == 0 && piece.span.size == 0
               ? MF_OK
               : mf_transfer_add_whole(transfer, &piece);
}

/* Rows of the draft, in its order, and what they are read from. */
struct rows {
    const struct mf_draft *draft;
    const struct mf_record *record;
};

static bool is_read_before(const void *table, uint32_t a, uint32_t b)
{
    const struct rows *rows = table;
    const struct mf_draft_tensor *left = mf_draft_in_order(rows->draft, a);
    const struct mf_draft_tensor *right = mf_draft_in_order(rows->draft, b);

    if (left->made || right->made)
        return left->made && !right->made;
    return rows->record[left->record].offset <
           rows->record[right->record].offset;
}

/* Bytes that a program brings may come in their order only, as of a pipe: one
 * thread takes them in that order, if the output can be written in any. */
static bool is_in_order(const struct mf_transfer *transfer,
                        const struct mf_output *output)
{
    const struct mf_outputs *outputs = transfer->outputs;

    return !outputs->model->given || outputs->env->threads != 1 ||
           outputs->resume || outputs->attempt ||
           outputs->model->file_count > 1 || output->draft.tensor_count < 2 ||
           output->target.stream;
}

static enum mf_status transfer_rows(struct mf_transfer *transfer,
                                    struct mf_output *output,
                                    const uint32_t *row)
{
    const struct mf_draft *draft = &output->draft;
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < draft->tensor_count && status == MF_OK; i++) {
        size_t number = row ? row[i] : i;

        status = mf_transfer_gap(transfer, output, number);
        if (status == MF_OK)
            status = transfer_tensor(transfer, output,
                                     mf_draft_in_order(draft, number));
    }
    return status == MF_OK
               ? mf_transfer_gap(transfer, output, draft->tensor_count)
               : status;
}

static enum mf_status transfer_output(struct mf_transfer *transfer,
                                      struct mf_output *output)
{
    struct mf_env *env = transfer->outputs->env;
    struct rows rows = { &output->draft,
                         transfer->outputs->model->index.tensor };
    size_t count = output->draft.tensor_count;
    enum mf_status status;
    uint32_t *row;

    if (is_in_order(transfer, output))
        return transfer_rows(transfer, output, NULL);
    row = mf_crew_resize(transfer->crew, NULL, 0, count * sizeof(*row));
    if (!row)
        return env->error.status;
    for (size_t i = 0; i < count; i++)
        row[i] = (uint32_t)i;
    mf_sort(row, count, is_read_before, &rows);
    status = transfer_rows(transfer, output, row);
    if (status == MF_OK)
        status = mf_transfer_run(transfer);
    mf_release(env, row, count * sizeof(*row));
    return status;
}

/* ---- all of them ---- */

static enum mf_status transfer_each(struct mf_transfer *transfer)
{
    struct mf_outputs *outputs = transfer->outputs;
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < outputs->count && status == MF_OK; i++) {
        if (outputs->attempt && !outputs->verbatim)
            status = mf_part_header(transfer, &outputs->output[i]);
        if (status == MF_OK)
            status = outputs->verbatim
                         ? mf_transfer_file(transfer)
                         : transfer_output(transfer, &outputs->output[i]);
    }
    return status == MF_OK && outputs->attempt ? mf_part_listed(transfer)
                                               : status;
}

static enum mf_status transfer_all(struct mf_transfer *transfer)
{
    struct mf_outputs *outputs = transfer->outputs;
    enum mf_status status;

    transfer->count = 0;
    transfer->listed = 0;
    transfer->weights.first = transfer->weights.count = 0;
    if (outputs->together && !outputs->again)
        status = mf_transfer_together(transfer);
    else
        status = transfer_each(transfer);
    if (status == MF_OK)
        status = mf_transfer_run(transfer);
    if (status == MF_OK && outputs->resume)
        status = mf_resume_listed(outputs->resume);
    return status;
}

/* Ranks wait for each other after each run: it has pieces for all. */
static size_t pieces_for(const struct mf_env *env)
{
    size_t ranks = env->ranks ? env->ranks->count : 1;

    return PIECES * (ranks < RANKS ? ranks : RANKS);
}

enum mf_status mf_outputs_transfer(struct mf_outputs *outputs,
                                   struct mf_crew *crew)
{
    struct mf_transfer transfer = { .outputs = outputs, .crew = crew };
    enum mf_status status = MF_OK;
    uint64_t room;

    transfer.isa = mf_isa_choose(outputs->env);
    if (!transfer.isa)
        return outputs->env->error.status;
    transfer.piece = mf_chunk_table(outputs->env, pieces_for(outputs->env),
                                    sizeof(*transfer.piece), &transfer.taken);
    if (!transfer.piece)
        return outputs->env->error.status;
    room = transfer.taken;
    status = mf_ranks_least(outputs->env, &room);
    transfer.room = (size_t)room;
    while (status == MF_OK) {
        status = transfer_all(&transfer);
        if (!outputs->resume || !mf_resume_again(outputs->resume))
            break;
        status = MF_OK;
    }
    mf_weights_release(&transfer.weights, outputs->env);
    mf_release(outputs->env, transfer.piece,
               transfer.taken * sizeof(*transfer.piece));
    return status;
}
