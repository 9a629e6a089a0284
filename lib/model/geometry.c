/* SPDX-License-Identifier: MIT
 *
 * geometry.c - sizes and offsets of tensors, checked once for all formats
 *
 * A format's parser has filled in what the header says of each tensor: type,
 * shape, an offset within the data section and, in some formats, a size.  Here
 * that becomes an absolute span of the file, or a finding, in five steps:
 *
 *   check_size      the size, from type and shape; compared with a stated one
 *   make_absolute   the offset in the file; alignment
 *   order_by_offset tensors in the order of their data
 *   infer_sizes     tensors of an unknown type get the space up to the next one
 *   check_shard     bounds, then overlaps and gaps in one walk
 *
 * The difficulty is that one wrong tensor must not cause findings about sound
 * ones.  A tensor with a wrong size or offset is marked damaged; its extent is
 * unknown, so it is left out of what follows, and a shard that has one gets no
 * findings about gaps: any gap may be the damaged tensor's.  An overlap is
 * reported against the tensor that reaches furthest so far, not only against
 * the previous one, and damages both: neither is known to be right.
 *
 * Numbers come from the file and may be anything.  Sums and products go through
 * mf_add and mf_mul; offset + size is used only after in_bounds() is true.
 *
 * Tensor data is never read.
 */
#include <assert.h>
#include <stdio.h>

#include "lib/base/sort.h"
#include "lib/model/index.h"

static void mark_damaged(struct mf_record *record)
{
    record->flags |= MF_TENSOR_DAMAGED;
}

/* ---- each tensor by itself ---- */

static bool has_whole_rows(const struct mf_record *record)
{
    uint32_t block = mf_types[record->type].block;

    return block == 1 || (record->rank > 0 && record->dim[0] % block == 0);
}

/* "4096 x 32 x 2": up to eight dimensions, in a message. */
struct shape_text {
    char text[200];
};

static struct shape_text shape_of(const struct mf_record *record)
{
    struct shape_text out = { "" };
    size_t used = 0;

    /* 8 numbers of 20 digits, " x " between them, " ..." and an end: 186. */
    for (unsigned i = 0; i < record->rank && i < 8; i++)
        used +=
            (size_t)snprintf(out.text + used, sizeof(out.text) - used,
                             "%s%" PRIu64, i > 0 ? " x " : "", record->dim[i]);
    if (record->rank > 8)
        snprintf(out.text + used, sizeof(out.text) - used, " ...");
    return out;
}

/* *out: the bytes that type and shape imply; false, with a finding, if they
 * imply none. */
static bool expected_size(struct mf_index *index, struct mf_record *record,
                          enum mf_layout layout, uint64_t *out)
{
    const struct mf_type_row *type = &mf_types[record->type];
    uint64_t elements;

    assert(record->type < MF_TYPE_UNKNOWN);
    if (!mf_elements(record->dim, record->rank, &elements)) {
        mf_index_note_of(
            index, record, MF_ERROR, MF_RULE_TENSOR_OVERFLOW, record->entry,
            "tensor '%s' (%s, %s) has more than 2^63 elements",
            mf_record_name(record).text, shape_of(record).text, type->name);
        return false;
    }
    if (layout == MF_LAYOUT_PADDED && !has_whole_rows(record)) {
        mf_index_note_of(
            index, record, MF_ERROR, MF_RULE_TENSOR_ROW, record->entry,
            "tensor '%s': the row length %" PRIu64
            " is not a multiple of %u, the block size of %s",
            mf_record_name(record).text, record->rank > 0 ? record->dim[0] : 1,
            type->block, type->name);
        return false;
    }
    if (!mf_type_size((enum mf_type)record->type, elements, out)) {
        mf_index_note_of(index, record, MF_ERROR, MF_RULE_TENSOR_OVERFLOW,
                         record->entry,
                         "tensor '%s' (%s, %s): %" PRIu64 " elements do not "
                         "fill whole bytes, or need more than 2^63",
                         mf_record_name(record).text, shape_of(record).text,
                         type->name, elements);
        return false;
    }
    return true;
}

static void check_size(struct mf_index *index, struct mf_record *record,
                       enum mf_layout layout)
{
    uint64_t expected;

    if (record->type == MF_TYPE_UNKNOWN ||
        record->flags & MF_RECORD_SIZE_CHECKED)
        return;
    if (!expected_size(index, record, layout, &expected)) {
        mark_damaged(record);
        return;
    }
    if (record->flags & MF_RECORD_SIZED && record->size != expected) {
        mf_index_note_of(index, record, MF_ERROR, MF_RULE_TENSOR_SIZE,
                         record->entry,
                         "tensor '%s' has %" PRIu64 " bytes, but its shape and "
                         "type %s imply %" PRIu64,
                         mf_record_name(record).text, record->size,
                         mf_types[record->type].name, expected);
        mark_damaged(record);
        return;
    }
    record->size = expected;
}

/* Turns the offset within the data section into one in the file. */
static void make_absolute(struct mf_index *index, const struct mf_part *part,
                          struct mf_record *record, enum mf_layout layout)
{
    uint64_t relative = record->offset;

    if (relative >= MF_STORED_BASE && layout == MF_LAYOUT_SHARED)
        return;
    if (!mf_add(part->data_offset, relative, &record->offset)) {
        mf_index_note_of(
            index, record, MF_ERROR, MF_RULE_TENSOR_BOUNDS, record->entry,
            "tensor '%s': offset %" PRIu64
            " is out of range (the data starts at %" PRIu64 ")",
            mf_record_name(record).text, relative, part->data_offset);
        record->offset = UINT64_MAX;
        mark_damaged(record);
        return;
    }
    if (part->alignment > 1 && relative % part->alignment != 0) {
        bool strict = layout == MF_LAYOUT_PADDED;

        mf_index_note_of(index, record, strict ? MF_ERROR : MF_WARNING,
                         MF_RULE_TENSOR_ALIGNMENT, record->entry,
                         "tensor '%s': offset %" PRIu64
                         " is not a multiple of the alignment %" PRIu64,
                         mf_record_name(record).text, relative,
                         part->alignment);
        if (strict)
            mark_damaged(record);
    }
}

/* An empty tensor needs no bytes, but must not start after the data's end,
 * except in a padded layout, where writers give it any offset. */
static bool in_bounds(const struct mf_record *record, uint64_t end,
                      enum mf_layout layout)
{
    if (record->size == 0 && layout == MF_LAYOUT_PADDED &&
        !(record->flags & MF_TENSOR_SIZE_INFERRED))
        return true;
    if (record->offset >= MF_STORED_BASE && layout == MF_LAYOUT_SHARED)
        return true;
    return record->offset <= end && record->size <= end - record->offset;
}

/* ---- all tensors, in the order of their data ---- */

static bool is_before(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_index *index = table;
    const struct mf_record *left = &index->tensor[a];
    const struct mf_record *right = &index->tensor[b];
    uint64_t left_at = mf_stored_place(index, left->offset);
    uint64_t right_at = mf_stored_place(index, right->offset);

    if (left_at != right_at)
        return left_at < right_at;
    /* An empty tensor comes before the one that shares its offset. */
    if ((left->size == 0) != (right->size == 0))
        return left->size == 0;
    return a < b;
}

static bool is_sorted(const struct mf_index *index, const struct mf_part *part)
{
    for (size_t i = 1; i < part->count; i++)
        if (is_before(index, (uint32_t)(part->first + i),
                      (uint32_t)(part->first + i - 1)))
            return false;
    return true;
}

/* Sets index->by_offset, unless the tables of all shards are in the order of
 * their data already, as in nearly all files. */
static enum mf_status order_by_offset(struct mf_index *index,
                                      const struct mf_part *parts,
                                      size_t part_count)
{
    size_t sorted = 0;
    uint32_t *order;

    while (sorted < part_count && is_sorted(index, &parts[sorted]))
        sorted++;
    if (sorted == part_count)
        return MF_OK;
    order = mf_arena_take(&index->arena, index->tensor_count * sizeof(*order));
    if (!order)
        return index->env->error.status;
    for (size_t i = 0; i < index->tensor_count; i++)
        order[i] = (uint32_t)i;
    for (size_t i = 0; i < part_count; i++)
        mf_sort(order + parts[i].first, parts[i].count, is_before, index);
    index->by_offset = order;
    return MF_OK;
}

/* The size of a tensor of unknown type: up to the next tensor. */
static void infer_size(struct mf_record *record, uint64_t next_offset)
{
    if (record->type != MF_TYPE_UNKNOWN || record->flags & MF_RECORD_SIZED ||
        record->flags & MF_TENSOR_DAMAGED)
        return;
    record->size =
        next_offset > record->offset ? next_offset - record->offset : 0;
    record->flags |= MF_TENSOR_SIZE_INFERRED;
}

/* Backwards, because the next tensor with a larger offset is needed: `here` is
 * the offset of the previous tensor in this walk, `next` the smallest offset
 * above it.  Tensors that share an offset share their `next`. */
static void infer_sizes(struct mf_index *index, const struct mf_part *part)
{
    uint64_t next = part->data_end, here = next;

    for (size_t i = part->first + part->count; i-- > part->first;) {
        struct mf_record *record = mf_record_by_offset(index, i);

        if (record->offset < here)
            next = here;
        infer_size(record, next);
        here = record->offset;
    }
}

static void note_overlap(struct mf_index *index, struct mf_record *first,
                         uint64_t first_end, struct mf_record *second)
{
    uint64_t shared = first_end - second->offset;

    if (shared > second->size)
        shared = second->size;
    mf_index_note_of(
        index, second, MF_ERROR, MF_RULE_TENSOR_OVERLAP, second->offset,
        "tensor '%s' overlaps '%s' by %" PRIu64 " bytes",
        mf_record_name(second).text, mf_record_name(first).text, shared);
    mark_damaged(first);
    mark_damaged(second);
}

/* Bytes between two tensors that belong to neither. */
static void note_gap(struct mf_index *index, enum mf_layout layout,
                     uint64_t from, const struct mf_record *next)
{
    static const enum mf_severity severity[] = {
        [MF_LAYOUT_PADDED] = MF_ERROR_ELSEWHERE,
        [MF_LAYOUT_TILED] = MF_ERROR,
        [MF_LAYOUT_FREE] = MF_WARNING,
    };

    if (layout == MF_LAYOUT_INLINE)
        return; /* they describe the tensor */
    mf_index_note_of(index, next, severity[layout], MF_RULE_DATA_GAP, from,
                     "%" PRIu64 " bytes before tensor '%s' belong to no tensor",
                     next->offset - from, mf_record_name(next).text);
}

/* Bytes after the last tensor.  Padded layouts allow zeros there; the bytes
 * have to be read to tell, which mf_model_validate does. */
static void check_end(struct mf_index *index, struct mf_part *part,
                      enum mf_layout layout, uint64_t from)
{
    uint64_t size = part->data_end - from;

    if (layout == MF_LAYOUT_PADDED)
        part->trailing = (struct mf_span){ from, size };
    else if (layout == MF_LAYOUT_TILED)
        mf_index_note(index, part->shard, MF_ERROR, MF_RULE_DATA_GAP, from,
                      "%" PRIu64 " bytes at the end of the file belong to no "
                      "tensor",
                      size);
}

/* Where the next tensor may start after one that ends at end. */
static uint64_t next_start(const struct mf_part *part, enum mf_layout layout,
                           uint64_t end)
{
    uint64_t padded;

    if (layout == MF_LAYOUT_TILED ||
        !mf_align_up(end - part->data_offset, part->alignment, &padded) ||
        !mf_add(part->data_offset, padded, &padded))
        return end;
    return padded;
}

/* Tensors that end past the data's end, each beginning where the one before it
 * ends: what is left of a file that was cut off. */
struct cut {
    struct mf_record *first; /* NULL: there is none */
    uint64_t count, end;     /* end: where the next one may begin */
};

static void note_cut(struct mf_index *index, const struct cut *cut,
                     uint64_t data_end)
{
    const struct mf_record *first = cut->first;
    char more[64] = "";

    if (!first)
        return;
    if (cut->count > 1)
        snprintf(more, sizeof(more), ", and so do%s %" PRIu64 " more after it",
                 cut->count == 2 ? "es" : "", cut->count - 1);
    mf_index_note_of(
        index, first, MF_ERROR, MF_RULE_TENSOR_BOUNDS, first->offset,
        "tensor '%s' extends past the end of the data (offset %" PRIu64
        ", size %" PRIu64 ", data ends at %" PRIu64 ")%s",
        mf_record_name(first).text, first->offset, first->size, data_end, more);
}

/* One finding for a file that was cut off, however many tensors that damages;
 * tensors whose offsets or sizes are wrong get one each. */
static void check_bounds(struct mf_index *index, const struct mf_part *part,
                         enum mf_layout layout)
{
    struct cut cut = { NULL, 0, 0 };

    for (size_t i = part->first; i < part->first + part->count; i++) {
        struct mf_record *record = mf_record_by_offset(index, i);
        uint64_t end;

        if (record->flags & MF_TENSOR_DAMAGED ||
            in_bounds(record, part->data_end, layout))
            continue;
        mark_damaged(record);
        if (!cut.first || record->offset > cut.end) {
            note_cut(index, &cut, part->data_end);
            cut = (struct cut){ .first = record };
        }
        cut.count++;
        cut.end = mf_add(record->offset, record->size, &end)
                      ? next_start(part, layout, end)
                      : UINT64_MAX;
    }
    note_cut(index, &cut, part->data_end);
}

static bool any_damaged(const struct mf_index *index,
                        const struct mf_part *part)
{
    for (size_t i = part->first; i < part->first + part->count; i++)
        if (index->tensor[i].flags & MF_TENSOR_DAMAGED)
            return true;
    return false;
}

/* In a tiled layout an empty tensor may not be within another's data. */
static void check_empty(struct mf_index *index, struct mf_record *record,
                        uint64_t covered)
{
    if (record->offset >= covered || record->flags & MF_TENSOR_DAMAGED)
        return;
    mf_index_note_of(index, record, MF_ERROR, MF_RULE_TENSOR_OVERLAP,
                     record->offset,
                     "empty tensor '%s' is within the data of another tensor",
                     mf_record_name(record).text);
    mark_damaged(record);
}

/* Walks the tensors by offset.  `covered` is the end of all data seen so far,
 * `start` the same after padding: a tensor that begins before `covered`
 * overlaps `last`, the one that reaches that far; one that begins after `start`
 * leaves a gap. */
static void check_order(struct mf_index *index, struct mf_part *part,
                        enum mf_layout layout)
{
    uint64_t covered = part->data_offset, start = covered;
    bool report_gaps = !any_damaged(index, part);
    struct mf_record *last = NULL;

    for (size_t i = part->first; i < part->first + part->count; i++) {
        struct mf_record *record = mf_record_by_offset(index, i);
        uint64_t end = record->offset + record->size;

        if (record->size == 0 && layout == MF_LAYOUT_TILED)
            check_empty(index, record, covered);
        if (record->size == 0 || !in_bounds(record, part->data_end, layout))
            continue;
        if (last && record->offset < covered)
            note_overlap(index, last, covered, record);
        else if (record->offset > start && report_gaps)
            note_gap(index, layout, start, record);
        if (end > covered) {
            covered = end;
            last = record;
        }
        start = next_start(part, layout, covered);
    }
    if (start < part->data_end && report_gaps)
        check_end(index, part, layout, start);
}

static void check_shard(struct mf_index *index, struct mf_part *part,
                        enum mf_layout layout)
{
    infer_sizes(index, part);
    check_bounds(index, part, layout);
    if (layout != MF_LAYOUT_SHARED)
        check_order(index, part, layout);
}

/* Counts the tensors of each storage; if a storage cannot be read, neither can
 * its tensors. */
static void count_storages(struct mf_index *index)
{
    for (size_t i = 0; i < index->tensor_count; i++) {
        struct mf_record *record = &index->tensor[i];
        struct mf_stored *stored;

        if (record->storage == 0)
            continue;
        stored = &index->stored.stored[record->storage - 1];
        stored->tensors++;
        if (stored->unreadable)
            record->flags |= MF_TENSOR_DAMAGED;
    }
}

enum mf_status mf_index_check(struct mf_index *index, struct mf_part *parts,
                              size_t part_count, enum mf_layout layout)
{
    for (size_t p = 0; p < part_count; p++)
        for (size_t i = parts[p].first; i < parts[p].first + parts[p].count;
             i++) {
            check_size(index, &index->tensor[i], layout);
            make_absolute(index, &parts[p], &index->tensor[i], layout);
        }
    if (order_by_offset(index, parts, part_count) != MF_OK)
        return index->env->error.status;
    count_storages(index);
    for (size_t p = 0; p < part_count; p++)
        check_shard(index, &parts[p], layout);
    return index->status;
}
