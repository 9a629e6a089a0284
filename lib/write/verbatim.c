/* SPDX-License-Identifier: MIT
 *
 * verbatim.c - a file is copied as it is
 *
 * Its values still get scanned for NaN when that is asked for: its tensors
 * become pieces in file order, and so do the bytes between them, which belong
 * to no tensor.
 */
#include "lib/write/transfer.h"

/* How many tensors of one run are described in memory. */
#define TENSORS 64

struct copy {
    uint64_t at; /* all bytes before it are in pieces */
    struct mf_draft_tensor tensor[TENSORS];
    size_t count;
};

/* The file's bytes from copy->at to end. */
static enum mf_status copy_bytes(struct mf_transfer *transfer,
                                 struct copy *copy, uint64_t end,
                                 struct mf_piece piece)
{
    const struct mf_model *model = transfer->outputs->model;
    uint64_t at = copy->at;

    piece.output = transfer->outputs->output;
    piece.model = model;
    piece.source = &model->file[0].source;
    piece.span = (struct mf_span){ at, end - at };
    piece.to = at;
    if (end < at || end > piece.source->size)
        return mf_piece_out_of_bounds(model->env, &piece);
    copy->at = end;
    return mf_transfer_add(transfer, piece);
}

/* The bytes before the tensor, and its own. */
static enum mf_status copy_tensor(struct mf_transfer *transfer,
                                  struct copy *copy,
                                  const struct mf_record *record)
{
    struct mf_draft_tensor *tensor = &copy->tensor[copy->count];
    struct mf_piece between = { 0 }, own = { .tensor = tensor };

    *tensor = (struct mf_draft_tensor){
        .name = { record->name, record->name_size },
        .dim = record->dim,
        .rank = record->rank,
        .from = record->type,
        .type = record->type,
        .size = record->size,
    };
    own.scanner = mf_transfer_scanner(transfer, tensor, record->size);
    own.big_endian = mf_record_is_swapped(transfer->outputs->model, record);
    if (copy_bytes(transfer, copy, record->offset, between) != MF_OK ||
        copy_bytes(transfer, copy, record->offset + record->size, own) != MF_OK)
        return transfer->outputs->env->error.status;
    if (transfer->joined || ++copy->count < TENSORS)
        return MF_OK;
    copy->count = 0;
    return mf_transfer_run(transfer);
}

enum mf_status mf_transfer_file(struct mf_transfer *transfer)
{
    const struct mf_model *model = transfer->outputs->model;
    size_t count =
        transfer->outputs->finite_only ? model->index.tensor_count : 0;
    struct copy copy = { .at = 0 };
    struct mf_piece rest = { 0 };

    for (size_t i = 0; i < count; i++) {
        const struct mf_record *record = mf_record_by_offset(&model->index, i);

        if (record->size > 0 && copy_tensor(transfer, &copy, record) != MF_OK)
            return model->env->error.status;
    }
    if (copy_bytes(transfer, &copy, model->file[0].source.size, rest) != MF_OK)
        return model->env->error.status;
    return mf_transfer_run(transfer);
}
