/* SPDX-License-Identifier: MIT
 *
 * array.c - an array as a tensor
 */
#include "npy/npy.h"

static const char *const kinds[NPY_KINDS] = {
    [NPY_NUMBER] = "number",   [NPY_BYTES] = "bytes",
    [NPY_TEXT] = "text",       [NPY_VOID] = "void",
    [NPY_RECORD] = "record",   [NPY_OBJECT] = "object",
    [NPY_TIME] = "datetime64", [NPY_SPAN] = "timedelta64",
    [NPY_C128] = "c128",       [NPY_F128] = "f128",
    [NPY_C256] = "c256",
};

/* Types have no numbers here: any says that NumPy has it. */
uint32_t mf_npy_type_id(enum mf_type type)
{
    switch (type) {
    case MF_TYPE_F16:
    case MF_TYPE_F32:
    case MF_TYPE_F64:
    case MF_TYPE_I8:
    case MF_TYPE_I16:
    case MF_TYPE_I32:
    case MF_TYPE_I64:
    case MF_TYPE_U8:
    case MF_TYPE_U16:
    case MF_TYPE_U32:
    case MF_TYPE_U64:
    case MF_TYPE_BOOL:
    case MF_TYPE_C64:
        return 0;
    default:
        return MF_NO_TYPE_ID;
    }
}

const char *mf_npy_type_name(uint32_t type_id)
{
    return type_id < NPY_KINDS ? kinds[type_id] : NULL;
}

/* Arrays have no metadata. */
enum mf_status mf_npy_value_next(struct mf_values *values, struct mf_value *out)
{
    (void)out;
    values->done = true;
    return MF_OK;
}

/* ---- where its elements are ---- */

/* Strides, as the header's order says. */
static void set_strides(const struct npy_header *header, uint64_t *stride)
{
    uint64_t next = 1;

    for (uint32_t i = 0; i < header->rank; i++) {
        uint32_t at = header->fortran ? i : header->rank - 1 - i;

        stride[at] = next;
        /* What overflows here is found by the view's extent. */
        if (!mf_mul(next, header->dim[at], &next))
            next = UINT64_MAX;
    }
}

/* Offset, size and flags of a record whose elements have a size. */
static enum mf_status place(struct mf_index *index,
                            const struct npy_header *header,
                            const struct npy_place *at, uint64_t *stride,
                            struct mf_record *record)
{
    const struct mf_stored *stored = &index->stored.stored[at->row];
    struct mf_stored_view view = { .from = header->data,
                                   .dim = record->dim,
                                   .stride = stride,
                                   .stored = at->row,
                                   .rank = record->rank,
                                   .element = (uint8_t)header->element,
                                   .swap = header->swap };
    uint64_t size = header->element, end;

    for (uint32_t i = 0; i < header->rank; i++)
        if (!mf_mul(size, header->dim[i], &size)) {
            record->flags |= MF_TENSOR_DAMAGED; /* geometry.c says why */
            return MF_OK;
        }
    record->size = size;
    if (size != at->size - header->data) {
        record->flags |= MF_TENSOR_DAMAGED;
        mf_index_note_of(
            index, record, MF_ERROR, MF_RULE_NPY_SIZE, record->entry,
            "array '%s' has %" PRIu64
            " bytes by its shape and type, and %" PRIu64 " in the file",
            mf_record_name(record).text, size, at->size - header->data);
    }
    record->offset = mf_stored_offset(index, at->row) + header->data;
    if (size == 0 || record->flags & MF_TENSOR_DAMAGED || stored->unreadable ||
        header->type == MF_TYPE_UNKNOWN ||
        !mf_stored_view_extent(&view, &size, &end) ||
        mf_stored_view_is_plain(&view))
        return MF_OK;
    return mf_index_add_view(index, &view, &record->offset);
}

/* What cannot be a tensor is shown all the same, by its bytes. */
static void note_kind(struct mf_index *index, const struct npy_header *header,
                      struct mf_record *record)
{
    if (header->kind == NPY_NUMBER)
        return;
    record->flags |= MF_RECORD_SIZE_CHECKED;
    mf_index_note_of(index, record, MF_NOTE, MF_RULE_NPY_KIND, record->entry,
                     "array '%s' has elements '%s', which are not a type of "
                     "tensors",
                     mf_record_name(record).text, mf_quote(header->descr).text);
}

/* The bytes of an object are a program. */
static void miss_objects(struct mf_index *index, const struct mf_part *part,
                         const struct npy_place *at)
{
    mf_index_note(index, part->shard, MF_ERROR_MISSED, MF_RULE_NPY_OBJECT,
                  at->entry,
                  "array '%s' is of Python objects: a pickle, which could run "
                  "anything when it is loaded",
                  mf_quote(at->name).text);
    mf_index_miss(index, part->shard, at->name,
                  "an array of Python objects, which is a pickle");
}

enum mf_status mf_npy_add(struct mf_index *index, const struct mf_part *part,
                          const struct npy_header *header,
                          const struct npy_place *at)
{
    struct mf_record record = mf_record_begin(part, at->entry);
    uint64_t *dim = mf_index_dims(index, header->rank);
    uint64_t *stride = mf_index_dims(index, header->rank);

    if (!dim || !stride)
        return index->env->error.status;
    if (header->kind == NPY_OBJECT) {
        miss_objects(index, part, at);
        return MF_OK;
    }
    memcpy(dim, header->dim, header->rank * sizeof(*dim));
    set_strides(header, stride);
    record.name = at->name.at;
    record.name_size = (uint16_t)at->name.size;
    record.dim = dim;
    record.rank = (uint8_t)header->rank;
    record.type = (uint16_t)header->type;
    record.type_id = (uint32_t)header->kind;
    record.flags = MF_RECORD_SIZED;
    record.storage = at->row + 1;
    note_kind(index, header, &record);
    /* Of elements without bytes there are as many as one likes. */
    if (header->element == 0) {
        record.size = at->size - header->data;
        record.offset = mf_stored_offset(index, at->row) + header->data;
    } else if (place(index, header, at, stride, &record) != MF_OK) {
        return index->env->error.status;
    }
    return mf_index_add(index, &record);
}
