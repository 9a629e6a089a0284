/* SPDX-License-Identifier: MIT
 *
 * tensor.c - the tensors of a checkpoint become rows of the index
 */
#include "torch/torch.h"

bool mf_torch_is_tensor(const struct pickle *pickle, uint32_t node)
{
    return pickle->node[node].kind == PICKLE_STORAGE ||
           (pickle->node[node].kind == PICKLE_CALL &&
            mf_pickle_makes_tensor(mf_pickle_makes(pickle, node)));
}

/* ---- where it is ---- */

/* A tensor that is not in the values has no name. */
static struct mf_quoted name_of(const struct torch_walk *walk)
{
    static const char none[] = "(not in the values)";

    return mf_quote(walk->resting ? (struct mf_str){ none, sizeof(none) - 1 }
                                  : mf_torch_name(walk));
}

/* Finds the row of the storage, which must have the size that its id says. */
static bool find_storage(struct torch_walk *walk, struct torch_tensor *tensor)
{
    size_t row = mf_names_find(walk->keys, tensor->key);
    const struct mf_stored *stored;
    uint64_t size;
    uint8_t element = mf_pickle_dtypes[tensor->storage.dtype].size;

    if (row == MF_NOT_FOUND) {
        mf_index_note(walk->index, walk->part->shard, MF_ERROR,
                      MF_RULE_PICKLE_STORAGE,
                      mf_torch_at(walk->pickle, tensor->node),
                      "tensor '%s': the file has no storage '%s'",
                      name_of(walk).text, mf_quote(tensor->key).text);
        return false;
    }
    tensor->storage.row = (uint32_t)row;
    stored = &walk->index->stored.stored[row];
    if (!stored->unreadable &&
        (!mf_mul(tensor->storage.whole, element, &size) ||
         size != stored->size))
        mf_index_note(walk->index, walk->part->shard, MF_ERROR,
                      MF_RULE_PICKLE_STORAGE,
                      mf_torch_at(walk->pickle, tensor->node),
                      "storage '%s' of tensor '%s' has %" PRIu64
                      " elements of %u bytes in the pickle, and %" PRIu64
                      " bytes in the file",
                      mf_quote(tensor->key).text, name_of(walk).text,
                      tensor->storage.whole, element, stored->size);
    return true;
}

/* Bytes of the row up to the end of the storage, which can be a part of it. */
static uint64_t storage_end(const struct torch_tensor *tensor,
                            const struct mf_stored *stored)
{
    uint64_t end;

    return mf_mul(tensor->storage.from + tensor->storage.count,
                  mf_pickle_dtypes[tensor->storage.dtype].size, &end) &&
                   end < stored->size
               ? end
               : stored->size;
}

/* Where the tensor begins in the row; false: beyond what there can be. */
static bool begin_of(const struct torch_tensor *tensor, uint8_t element,
                     uint64_t *out)
{
    uint64_t from, offset;

    return mf_mul(tensor->storage.from,
                  mf_pickle_dtypes[tensor->storage.dtype].size, &from) &&
           mf_mul(tensor->offset, element, &offset) &&
           mf_add(from, offset, out);
}

/* Sets offset, size and flags of the record. */
static enum mf_status place(struct torch_walk *walk,
                            const struct torch_tensor *tensor,
                            struct mf_stored_view *view,
                            struct mf_record *record)
{
    const struct mf_stored *stored = &walk->index->stored.stored[view->stored];
    uint64_t end, most = storage_end(tensor, stored);
    bool starts = begin_of(tensor, view->element, &view->from);

    record->storage = view->stored + 1;
    record->offset = mf_stored_offset(walk->index, view->stored);
    if (stored->unreadable) {
        mf_stored_view_extent(view, &record->size, &end);
        record->flags |= MF_TENSOR_DAMAGED;
        return MF_OK;
    }
    if (!mf_stored_view_extent(view, &record->size, &end) || !starts) {
        record->flags |= MF_TENSOR_DAMAGED;
        mf_index_note(walk->index, walk->part->shard, MF_ERROR,
                      MF_RULE_PICKLE_STORAGE, record->entry,
                      "tensor '%s': its shape, strides and offset lead to "
                      "more bytes than a storage can have",
                      name_of(walk).text);
    } else if (end > most) {
        record->flags |= MF_TENSOR_DAMAGED;
        mf_index_note(walk->index, walk->part->shard, MF_ERROR,
                      MF_RULE_PICKLE_STORAGE, record->entry,
                      "tensor '%s' ends at byte %" PRIu64
                      " of storage '%s', which has %" PRIu64,
                      name_of(walk).text, end, mf_quote(tensor->key).text,
                      most);
    } else if (record->size == 0 || walk->resting) {
        return MF_OK;
    } else if (mf_stored_view_is_plain(view)) {
        record->offset += view->from;
    } else {
        return mf_index_add_view(walk->index, view, &record->offset);
    }
    return MF_OK;
}

/* Elements are in the file's byte order; a complex one is two numbers. */
static uint8_t swap_of(const struct torch_walk *walk, uint8_t dtype)
{
    uint8_t size = mf_pickle_dtypes[dtype].size;
    bool complex = dtype == PICKLE_DTYPE_complex64 ||
                   dtype == PICKLE_DTYPE_complex128 ||
                   dtype == PICKLE_DTYPE_complex32;

    return walk->swapped ? (complex ? size / 2 : size) : 1;
}

/* PyTorch turns the numbers of a storage around when it first meets it, in its
 * type: a tensor of another one gets that result. */
enum mf_status mf_torch_widths(struct torch_walk *walk)
{
    const struct pickle *pickle = walk->pickle;

    walk->width_size = walk->index->stored.stored_count + 1;
    walk->width = mf_alloc(walk->env, walk->width_size);
    if (!walk->width)
        return walk->env->error.status;
    memset(walk->width, 0, walk->width_size);
    for (uint32_t i = 0; i < pickle->node_count; i++) {
        struct torch_storage storage;
        struct mf_str key;
        size_t row;

        if (pickle->node[i].kind != PICKLE_STORAGE ||
            mf_torch_storage(pickle, i, &storage, &key))
            continue;
        row = mf_names_find(walk->keys, key);
        if (row != MF_NOT_FOUND && walk->width[row] == 0)
            walk->width[row] = swap_of(walk, storage.dtype);
    }
    return MF_OK;
}

static void check_width(struct torch_walk *walk,
                        const struct mf_stored_view *view,
                        struct mf_record *record)
{
    if (!walk->swapped || walk->width[view->stored] == view->swap)
        return;
    record->flags |= MF_TENSOR_DAMAGED;
    mf_index_note(walk->index, walk->part->shard, MF_ERROR,
                  MF_RULE_PICKLE_ORDER, record->entry,
                  "big-endian tensor '%s' has elements of another size than "
                  "its storage, which PyTorch turns around: %u and %u bytes",
                  name_of(walk).text, view->swap, walk->width[view->stored]);
}

/* Reads shape and strides into dim, which has room for both. */
static void take_shape(struct torch_walk *walk,
                       const struct torch_tensor *tensor, uint64_t *dim,
                       struct mf_stored_view *view)
{
    uint64_t *stride = dim + tensor->rank;

    if (tensor->shape == PICKLE_NIL) {
        dim[0] = tensor->storage.count;
        stride[0] = 1;
    } else {
        mf_torch_numbers(walk->pickle, tensor->shape, dim);
        mf_torch_numbers(walk->pickle, tensor->strides, stride);
    }
    view->dim = dim;
    view->stride = stride;
    view->rank = (uint8_t)tensor->rank;
}

/* Sets the record; its name is not. */
static enum mf_status make_record(struct torch_walk *walk,
                                  struct torch_tensor *tensor, uint64_t *dim,
                                  struct mf_record *record)
{
    struct mf_stored_view view = { .element =
                                       mf_pickle_dtypes[tensor->dtype].size,
                                   .swap = swap_of(walk, tensor->dtype) };

    take_shape(walk, tensor, dim, &view);
    record->dim = view.dim;
    record->rank = view.rank;
    record->type = mf_pickle_dtypes[tensor->dtype].type;
    record->type_id = record->type == MF_TYPE_UNKNOWN ? tensor->dtype : 0;
    record->flags = MF_RECORD_SIZED;
    if (!find_storage(walk, tensor)) {
        uint64_t end;

        mf_stored_view_extent(&view, &record->size, &end);
        record->flags |= MF_TENSOR_DAMAGED;
        return MF_OK;
    }
    view.stored = tensor->storage.row;
    check_width(walk, &view, record);
    return place(walk, tensor, &view, record);
}

static enum mf_status keep(struct torch_walk *walk, struct torch_tensor *tensor)
{
    struct mf_str name = mf_torch_name(walk);
    struct mf_record record =
        mf_record_begin(walk->part, mf_torch_at(walk->pickle, tensor->node));
    char *text = mf_arena_text(&walk->index->tensor_arena, name.size);
    uint64_t *dim = mf_index_dims(walk->index, 2 * tensor->rank);

    if (!text || !dim)
        return walk->env->error.status;
    memcpy(text, name.at, name.size);
    record.name = text;
    record.name_size = (uint16_t)name.size;
    if (make_record(walk, tensor, dim, &record) != MF_OK)
        return walk->env->error.status;
    return mf_index_add(walk->index, &record);
}

/* ---- in the walk ---- */

static void note_unread(struct torch_walk *walk, uint32_t call,
                        const char *fault)
{
    const struct pickle *pickle = walk->pickle;
    uint32_t function = mf_pickle_item(pickle, call, 0);
    bool named = pickle->node[call].kind == PICKLE_CALL &&
                 function != PICKLE_NIL &&
                 pickle->node[function].kind == PICKLE_GLOBAL;
    struct pickle_name name = { "" };

    if (!walk->filling)
        return;
    if (!fault)
        fault = "a tensor of a kind that is not read";
    if (named)
        name = mf_pickle_global_name(pickle, &pickle->node[function]);
    mf_index_note(walk->index, walk->part->shard,
                  walk->resting ? MF_ERROR : MF_ERROR_MISSED,
                  MF_RULE_PICKLE_TENSOR, mf_torch_at(pickle, call),
                  "'%s' is %s%s%s", name_of(walk).text, fault,
                  named ? ": " : "", name.text);
    if (!walk->resting)
        mf_torch_miss(walk, "%s%s%s", fault, named ? ": " : "", name.text);
}

/* One that the values do not have: only whether PyTorch could make it. */
static enum mf_status check_only(struct torch_walk *walk,
                                 struct torch_tensor *tensor,
                                 enum torch_fault fault, const char *what)
{
    uint64_t dim[2 * MF_RANK_MAX];
    struct mf_record record =
        mf_record_begin(walk->part, mf_torch_at(walk->pickle, tensor->node));

    if (fault == TORCH_REFUSED)
        note_unread(walk, tensor->node, what);
    if (fault != TORCH_NO_FAULT)
        return MF_OK;
    return make_record(walk, tensor, dim, &record);
}

enum mf_status mf_torch_tensor(struct torch_walk *walk, uint32_t node)
{
    struct torch_tensor tensor;
    const char *what;
    enum torch_fault fault;

    if (walk->index->metadata_only)
        return MF_OK;
    fault = mf_torch_describe(walk->pickle, node, &tensor, &what);
    if (walk->resting)
        return check_only(walk, &tensor, fault, what);
    if (walk->name_size == 0) /* torch.save(tensor) */
        memcpy(walk->name, "tensor", walk->name_size = sizeof("tensor") - 1);
    if (fault == TORCH_NO_FAULT && walk->unproven &&
        walk->index->tensors_only) {
        fault = TORCH_UNREAD;
        what = "a tensor that something unknown is called with";
    }
    if (fault != TORCH_NO_FAULT) {
        note_unread(walk, tensor.node, what);
        return MF_OK;
    }
    if (!mf_torch_spend(
            walk, sizeof(struct mf_record) + sizeof(struct mf_stored_view) +
                      walk->name_size + 16 * (uint64_t)tensor.rank + 12))
        return MF_OK;
    walk->tensors += !walk->filling;
    walk->name_bytes += walk->filling ? 0 : walk->name_size + 1;
    walk->dims += walk->filling ? 0 : 2 * (uint64_t)tensor.rank;
    return walk->filling ? keep(walk, &tensor) : MF_OK;
}
