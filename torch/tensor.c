/* SPDX-License-Identifier: MIT
 *
 * tensor.c - the tensors of a checkpoint
 *
 *     torch._utils._rebuild_tensor_v2(storage, offset, shape, strides, ...)
 *
 * Offset and strides count elements.  _rebuild_tensor has only these four
 * arguments, _rebuild_tensor_v3 a dtype as the seventh.  A parameter is a
 * tensor in another call.
 */
#include "torch/torch.h"

/* Calls within each other that make one tensor: a parameter of a class of its
 * own is two. */
#define CALLS_MAX 8

enum argument { STORAGE, OFFSET, SHAPE, STRIDES, DTYPE = 6 };

struct tensor {
    uint32_t node;
    struct torch_storage storage;
    struct mf_str key;
    uint64_t offset;
    uint32_t shape, strides; /* nodes */
    uint32_t rank;
    uint8_t dtype;
};

static unsigned makes_of(const struct pickle *pickle, uint32_t node)
{
    const struct pickle_node *value = &pickle->node[node];

    if (node == PICKLE_NIL ||
        (value->kind != PICKLE_CALL && value->kind != PICKLE_GLOBAL))
        return PICKLE_MAKES_VALUE;
    return mf_pickle_globals[value->global].makes;
}

bool mf_torch_is_tensor(const struct pickle *pickle, uint32_t node)
{
    if (pickle->node[node].kind == PICKLE_STORAGE)
        return true;
    if (pickle->node[node].kind != PICKLE_CALL)
        return false;
    switch (makes_of(pickle, node)) {
    case PICKLE_MAKES_TENSOR:
    case PICKLE_MAKES_PARAMETER:
    case PICKLE_MAKES_TYPED:
    case PICKLE_MAKES_TENSOR_CLASS:
    case PICKLE_MAKES_UNREAD:
        return true;
    default:
        return false;
    }
}

/* ---- the call ---- */

/* The arguments of the call that makes the tensor; PICKLE_NIL, and in *node the
 * call that is not read. */
static uint32_t find_arguments(const struct pickle *pickle, uint32_t *node)
{
    for (unsigned i = 0; i < CALLS_MAX && *node != PICKLE_NIL; i++) {
        uint32_t arguments = mf_pickle_item(pickle, *node, 1);
        unsigned makes = makes_of(pickle, *node);

        if (pickle->node[*node].kind != PICKLE_CALL)
            break;
        if (makes == PICKLE_MAKES_TYPED) {
            makes = makes_of(pickle, mf_pickle_item(pickle, arguments, 0));
            arguments = mf_pickle_item(pickle, arguments, 2);
        }
        if (makes == PICKLE_MAKES_TENSOR)
            return arguments;
        if (makes == PICKLE_MAKES_TENSOR_CLASS)
            return mf_pickle_item(pickle, *node, 2);
        if (makes != PICKLE_MAKES_PARAMETER)
            break;
        if (mf_pickle_item(pickle, arguments, 0) == PICKLE_NIL)
            break;
        *node = mf_pickle_item(pickle, arguments, 0);
    }
    return PICKLE_NIL;
}

/* ---- its arguments ---- */

/* Whether it is a tuple or list of numbers that are not negative; *count: how
 * many.  out: room for MF_RANK_MAX, or NULL. */
static bool take_numbers(const struct pickle *pickle, uint32_t node,
                         uint64_t *out, uint32_t *count)
{
    uint64_t number;
    uint32_t at;

    *count = 0;
    if (node == PICKLE_NIL || (pickle->node[node].kind != PICKLE_TUPLE &&
                               pickle->node[node].kind != PICKLE_LIST))
        return false;
    at = pickle->node[node].is.items.first;
    for (; at != PICKLE_NIL; at = pickle->item[at].next) {
        if (*count == MF_RANK_MAX ||
            !mf_pickle_unsigned(pickle, pickle->item[at].node, &number))
            return false;
        if (out)
            out[*count] = number;
        (*count)++;
    }
    return true;
}

/* NULL, or what is wrong with the arguments. */
static const char *take_arguments(const struct pickle *pickle,
                                  uint32_t arguments, struct tensor *out)
{
    uint32_t storage = mf_pickle_item(pickle, arguments, STORAGE);
    uint32_t dtype = mf_pickle_item(pickle, arguments, DTYPE);
    uint32_t strides;
    const char *fault;

    if (storage == PICKLE_NIL || pickle->node[storage].kind != PICKLE_STORAGE)
        return "a tensor without a storage";
    fault = mf_torch_storage(pickle, storage, &out->storage, &out->key);
    if (fault)
        return fault;
    if (!mf_pickle_unsigned(pickle, mf_pickle_item(pickle, arguments, OFFSET),
                            &out->offset))
        return "an offset that is not a whole number";
    out->shape = mf_pickle_item(pickle, arguments, SHAPE);
    out->strides = mf_pickle_item(pickle, arguments, STRIDES);
    if (!take_numbers(pickle, out->shape, NULL, &out->rank))
        return "a shape that is not a tuple of at most 64 whole numbers";
    if (!take_numbers(pickle, out->strides, NULL, &strides) ||
        strides != out->rank)
        return "strides that are not a whole number for each dimension";
    out->dtype = out->storage.dtype;
    if (makes_of(pickle, dtype) == PICKLE_MAKES_DTYPE)
        out->dtype = mf_pickle_globals[pickle->node[dtype].global].dtype;
    if (mf_pickle_dtypes[out->dtype].size == 0)
        return "a storage without a type";
    return NULL;
}

/* A storage that is a value by itself: all of its elements. */
static const char *take_storage(const struct pickle *pickle, uint32_t node,
                                struct tensor *out)
{
    const char *fault =
        mf_torch_storage(pickle, node, &out->storage, &out->key);

    out->shape = out->strides = PICKLE_NIL;
    out->rank = 1;
    out->dtype = out->storage.dtype;
    if (!fault && mf_pickle_dtypes[out->dtype].size == 0)
        return "a storage without a type";
    return fault;
}

/* ---- where it is ---- */

/* Finds the row of the storage, which must have the size that its id says;
 * that is said once. */
static bool find_storage(struct torch_walk *walk, struct tensor *tensor)
{
    size_t row = mf_names_find(walk->keys, tensor->key);
    const struct mf_stored *stored;
    uint64_t size;
    uint8_t element = mf_pickle_dtypes[tensor->storage.dtype].size;

    if (row == MF_NOT_FOUND) {
        mf_index_note(
            walk->index, walk->part->shard, MF_ERROR, MF_RULE_PICKLE_STORAGE,
            mf_torch_at(walk->pickle, tensor->node),
            "tensor '%s': the file has no storage '%s'",
            mf_quote(mf_torch_name(walk)).text, mf_quote(tensor->key).text);
        return false;
    }
    tensor->storage.row = (uint32_t)row;
    stored = &walk->index->stored.stored[row];
    if (walk->checked[row / 8] >> row % 8 & 1)
        return true;
    walk->checked[row / 8] |= (uint8_t)(1u << row % 8);
    if (stored->unreadable)
        return true;
    if (element > 0 && (!mf_mul(tensor->storage.whole, element, &size) ||
                        size != stored->size))
        mf_index_note(
            walk->index, walk->part->shard, MF_ERROR, MF_RULE_PICKLE_STORAGE,
            mf_torch_at(walk->pickle, tensor->node),
            "storage '%s' of tensor '%s' has %" PRIu64
            " elements of %u bytes in the pickle, and %" PRIu64
            " bytes in the file",
            mf_quote(tensor->key).text, mf_quote(mf_torch_name(walk)).text,
            tensor->storage.whole, element, stored->size);
    return true;
}

/* Sets offset, size and flags of the record. */
static enum mf_status place(struct torch_walk *walk,
                            const struct tensor *tensor,
                            struct mf_stored_view *view,
                            struct mf_record *record)
{
    const struct mf_stored *stored = &walk->index->stored.stored[view->stored];
    uint64_t first, end;
    bool starts = mf_add(tensor->storage.from, tensor->offset, &first) &&
                  mf_mul(first, view->element, &view->from);

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
                      mf_quote(mf_torch_name(walk)).text);
    } else if (end > stored->size) {
        record->flags |= MF_TENSOR_DAMAGED;
        mf_index_note(walk->index, walk->part->shard, MF_ERROR,
                      MF_RULE_PICKLE_STORAGE, record->entry,
                      "tensor '%s' ends at byte %" PRIu64
                      " of storage '%s', which has %" PRIu64,
                      mf_quote(mf_torch_name(walk)).text, end,
                      mf_quote(tensor->key).text, stored->size);
    } else if (record->size == 0) {
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

/* Reads shape and strides into the tensors' arena. */
static enum mf_status take_shape(struct torch_walk *walk,
                                 const struct tensor *tensor,
                                 struct mf_stored_view *view)
{
    uint64_t *dim = mf_index_dims(walk->index, tensor->rank);
    uint64_t *stride = mf_index_dims(walk->index, tensor->rank);
    uint32_t count;

    if (!dim || !stride)
        return walk->env->error.status;
    if (tensor->shape == PICKLE_NIL) {
        dim[0] = tensor->storage.count;
        stride[0] = 1;
    } else {
        take_numbers(walk->pickle, tensor->shape, dim, &count);
        take_numbers(walk->pickle, tensor->strides, stride, &count);
    }
    view->dim = dim;
    view->stride = stride;
    view->rank = (uint8_t)tensor->rank;
    return MF_OK;
}

static enum mf_status keep(struct torch_walk *walk, struct tensor *tensor)
{
    struct mf_str name = mf_torch_name(walk);
    struct mf_record record =
        mf_record_begin(walk->part, mf_torch_at(walk->pickle, tensor->node));
    char *text = mf_arena_text(&walk->index->tensor_arena, name.size);
    struct mf_stored_view view = { .element =
                                       mf_pickle_dtypes[tensor->dtype].size,
                                   .swap = swap_of(walk, tensor->dtype) };

    if (!text || take_shape(walk, tensor, &view) != MF_OK)
        return walk->env->error.status;
    memcpy(text, name.at, name.size);
    record.name = text;
    record.name_size = (uint16_t)name.size;
    record.dim = view.dim;
    record.rank = view.rank;
    record.type = mf_pickle_dtypes[tensor->dtype].type;
    record.type_id = record.type == MF_TYPE_UNKNOWN ? tensor->dtype : 0;
    record.flags = MF_RECORD_SIZED;
    if (!find_storage(walk, tensor)) {
        uint64_t end;

        mf_stored_view_extent(&view, &record.size, &end);
        record.flags |= MF_TENSOR_DAMAGED;
        return mf_index_add(walk->index, &record);
    }
    view.stored = tensor->storage.row;
    if (place(walk, tensor, &view, &record) != MF_OK)
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

    if (walk->filling)
        mf_index_note(
            walk->index, walk->part->shard, MF_ERROR, MF_RULE_PICKLE_TENSOR,
            mf_torch_at(pickle, call), "'%s' is %s%s%s",
            mf_quote(mf_torch_name(walk)).text,
            fault ? fault : "a tensor of a kind that is not read",
            named ? ": " : "",
            named ? mf_pickle_global_name(pickle, &pickle->node[function]).text
                  : "");
}

enum mf_status mf_torch_tensor(struct torch_walk *walk, uint32_t node)
{
    const struct pickle *pickle = walk->pickle;
    struct tensor tensor = { .node = node };
    uint32_t call = node, arguments;
    const char *fault;

    if (walk->index->metadata_only)
        return MF_OK;
    if (walk->name_size == 0) /* torch.save(tensor) */
        memcpy(walk->name, "tensor", walk->name_size = sizeof("tensor") - 1);
    if (pickle->node[node].kind == PICKLE_STORAGE) {
        fault = take_storage(pickle, node, &tensor);
    } else {
        arguments = find_arguments(pickle, &call);
        fault = arguments == PICKLE_NIL
                    ? NULL
                    : take_arguments(pickle, arguments, &tensor);
        if (arguments == PICKLE_NIL)
            tensor.node = PICKLE_NIL;
    }
    if (fault || tensor.node == PICKLE_NIL) {
        note_unread(walk, call, fault);
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
