/* SPDX-License-Identifier: MIT
 *
 * tensor_shapes.c - the tensors of a model, compared with its family's table
 *
 * A tensor is found in the table by its name with "*" for each number:
 * "blk.7.attn_q.weight" becomes "blk.*.attn_q.weight", and 7 is its block.  The
 * row says which lengths its dimensions are and which parts of a block it
 * provides: attn_qkv alone provides QUERY, KEY and VALUE.
 *
 * Shapes are compared tensor by tensor.  The lengths of a block may differ from
 * those of the next, so they are computed again when the block number changes;
 * tensors come nearly always block by block.  Which parts are missing is known
 * only after all tensors: each block has one bit per part, and one finding
 * reports a missing part for all blocks that lack it.
 *
 * A block count is a claim, too: bits are kept for no more blocks than there
 * are tensors.
 */
#include "lib/check/tensor_shapes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/names.h"
#include "lib/model/name_pattern.h"

/* ---- names ---- */

/* Entries 2n and 2n + 1 are the names of row n. */
static struct mf_str entry_name(const void *rows, size_t entry)
{
    const struct mf_tensor_row *row = rows;
    const char *name = entry % 2 == 0 ? row[entry / 2].gguf : row[entry / 2].hf;

    return (struct mf_str){ name, strlen(name) };
}

/* Adds the rows that apply to the family; of rows with one name the first. */
static enum mf_status add_rows(struct mf_names *names, struct mf_arena *arena,
                               const struct mf_family *family)
{
    const struct mf_tensor_row *row = mf_tensor_rows;

    *names =
        (struct mf_names){ .name_at = entry_name, .table = mf_tensor_rows };
    if (mf_names_init(names, arena, 2 * mf_tensor_row_count) != MF_OK)
        return arena->env->error.status;
    for (size_t i = 0; i < mf_tensor_row_count; i++, row++) {
        if (!(row->trait & family->traits))
            continue;
        if (row->gguf)
            mf_names_add(names, 2 * i);
        if (row->hf)
            mf_names_add(names, 2 * i + 1);
    }
    return MF_OK;
}

/* ---- shapes ---- */

/* Dimension i, counted from the contiguous one; 1 past the tensor's rank. */
static uint64_t dimension(const struct mf_record *record, bool fastest_first,
                          unsigned i)
{
    if (i >= record->rank)
        return 1;
    return record->dim[fastest_first ? i : record->rank - 1u - i];
}

/* "32 x 64", in the order of the file: "?" for an unknown length, without the
 * dimensions of 1 at the end. */
struct shape_text {
    char text[112];
};

static struct shape_text shape_text(const uint64_t *dim, unsigned rank,
                                    bool fastest_first)
{
    struct shape_text out = { "" };
    size_t used = 0;

    while (rank > 1 && dim[rank - 1] == 1)
        rank--;
    /* 4 dimensions of 20 digits and " x " between them take 89 bytes. */
    for (unsigned i = 0; i < rank; i++) {
        uint64_t length = dim[fastest_first ? i : rank - 1 - i];
        const char *cross = i > 0 ? " x " : "";
        int written = length == 0
                          ? snprintf(out.text + used, sizeof(out.text) - used,
                                     "%s?", cross)
                          : snprintf(out.text + used, sizeof(out.text) - used,
                                     "%s%" PRIu64, cross, length);

        used += (size_t)written;
    }
    return out;
}

static void check_shape(struct mf_model *model, const struct mf_record *record,
                        const struct mf_tensor_row *row,
                        const struct mf_lengths *lengths)
{
    const bool fastest_first = model->info.fastest_first;
    uint64_t has[MF_SHAPE_RANK + 1], expected[MF_SHAPE_RANK];
    bool same = true;

    has[MF_SHAPE_RANK] = 1;
    for (unsigned i = 0; i < MF_SHAPE_RANK; i++) {
        has[i] = dimension(record, fastest_first, i);
        expected[i] = lengths->of[row->shape[i]];
        same = same && (expected[i] == 0 || expected[i] == has[i]);
    }
    /* Dimensions beyond the table's are multiplied into one. */
    for (unsigned i = MF_SHAPE_RANK; i < record->rank; i++)
        if (!mf_mul(has[MF_SHAPE_RANK], dimension(record, fastest_first, i),
                    &has[MF_SHAPE_RANK]))
            has[MF_SHAPE_RANK] = UINT64_MAX;
    if (same && has[MF_SHAPE_RANK] == 1)
        return;
    mf_index_note_of(&model->index, record, MF_WARNING, MF_RULE_MODEL_SHAPE,
                     record->entry,
                     "tensor '%s' is %s, but the metadata implies %s",
                     mf_record_name(record).text,
                     shape_text(has, MF_SHAPE_RANK + 1, fastest_first).text,
                     shape_text(expected, MF_SHAPE_RANK, fastest_first).text);
}

static void check_tensor(struct mf_model *model, const struct mf_record *record,
                         const struct mf_names *names,
                         struct mf_lengths *lengths, struct mf_shapes *out)
{
    const struct mf_tensor_row *row;
    struct mf_name_pattern pattern;
    size_t entry;

    if (!mf_name_pattern_make(
            (struct mf_str){ record->name, record->name_size }, &pattern))
        return;
    entry = mf_names_find(names, pattern.name);
    if (entry == MF_NOT_FOUND)
        return;
    row = &mf_tensor_rows[entry / 2];
    out->any = true;
    out->once |= row->fills & mf_parts_once;
    if (pattern.has_block) {
        if (pattern.block >= out->blocks_seen)
            out->blocks_seen = pattern.block + 1;
        if (out->filled && pattern.block < lengths->blocks)
            out->filled[pattern.block] |= row->fills;
        if (pattern.block != lengths->block)
            mf_lengths_set_block(lengths, pattern.block);
    }
    check_shape(model, record, row, lengths);
}

enum mf_status mf_shapes_check(struct mf_model *model,
                               const struct mf_family *family,
                               struct mf_lengths *lengths,
                               struct mf_shapes *out)
{
    struct mf_index *index = &model->index;
    struct mf_names names;

    *out = (struct mf_shapes){ .any = false };
    if (add_rows(&names, &index->arena, family) != MF_OK)
        return index->env->error.status;
    /* Every block has a tensor: a count alone must not reserve memory. */
    if (lengths->blocks > 0 && lengths->blocks <= MF_BLOCKS_MAX &&
        lengths->blocks <= index->tensor_count) {
        size_t size = (size_t)lengths->blocks * sizeof(*out->filled);

        out->filled = mf_arena_take(&index->arena, size);
        if (!out->filled)
            return index->env->error.status;
        memset(out->filled, 0, size);
    }
    for (size_t i = 0; i < index->tensor_count; i++)
        check_tensor(model, &index->tensor[i], &names, lengths, out);
    return MF_OK;
}

/* ---- what is missing ---- */

/* The row's name with number for its first "*" and 0 for a second one. */
struct row_name {
    char text[MF_NAME_PATTERN_MAX + 24];
};

static struct row_name row_name(const char *name, uint64_t number)
{
    struct row_name out;
    size_t used = 0;

    for (; *name; name++) {
        if (*name != '*') {
            out.text[used++] = *name;
            continue;
        }
        used += (size_t)snprintf(out.text + used, sizeof(out.text) - used,
                                 "%" PRIu64, number);
        number = 0;
    }
    out.text[used] = '\0';
    return out;
}

/* The first row that would provide one of the missing parts: its name goes into
 * the report. */
static const struct mf_tensor_row *row_for(const struct mf_family *family,
                                           uint32_t missing)
{
    for (size_t i = 0; i < mf_tensor_row_count; i++)
        if ((mf_tensor_rows[i].trait & family->traits) &&
            mf_tensor_rows[i].gguf && (mf_tensor_rows[i].fills & missing))
            return &mf_tensor_rows[i];
    return NULL;
}

static void note_missing(struct mf_index *index,
                         const struct mf_tensor_row *row, uint64_t block,
                         uint64_t count)
{
    char more[48] = "";

    if (count > 1)
        snprintf(more, sizeof(more), ", also in %" PRIu64 " other block%s",
                 count - 1, count == 2 ? "" : "s");
    if (row->hf)
        mf_index_note(index, 0, MF_WARNING, MF_RULE_MODEL_TENSOR, MF_NO_OFFSET,
                      "missing tensor '%s' (or '%s')%s",
                      row_name(row->gguf, block).text,
                      row_name(row->hf, block).text, more);
    else
        mf_index_note(index, 0, MF_WARNING, MF_RULE_MODEL_TENSOR, MF_NO_OFFSET,
                      "missing tensor '%s'%s", row_name(row->gguf, block).text,
                      more);
}

/* One finding per row, however many blocks lack it. */
static void check_row(struct mf_index *index, const struct mf_tensor_row *row,
                      uint32_t missing, const uint32_t *filled, uint64_t blocks)
{
    uint64_t first = 0, count = 0;

    for (uint64_t i = 0; i < blocks; i++)
        if (row->fills & missing & ~filled[i]) {
            if (count == 0)
                first = i;
            count++;
        }
    note_missing(index, row, first, count);
}

void mf_shapes_check_parts(struct mf_model *model,
                           const struct mf_family *family,
                           const struct mf_lengths *lengths,
                           const struct mf_shapes *shapes)
{
    struct mf_index *index = &model->index;
    uint32_t missing = family->parts & mf_parts_once & ~shapes->once;
    uint64_t blocks = lengths->blocks;
    const struct mf_tensor_row *row;

    for (; (row = row_for(family, missing)) != NULL; missing &= ~row->fills)
        note_missing(index, row, 0, 1);
    /* Blocks for speculative decoding may be missing or have other tensors.
     * Blocks missing at the end are reported by MODEL-BLOCKS. */
    blocks -= lengths->predicted < blocks ? lengths->predicted : blocks;
    if (blocks > shapes->blocks_seen)
        blocks = shapes->blocks_seen;
    missing = 0;
    if (shapes->filled)
        for (uint64_t i = 0; i < blocks; i++)
            missing |= family->parts & ~mf_parts_once & ~shapes->filled[i];
    for (; (row = row_for(family, missing)) != NULL; missing &= ~row->fills)
        check_row(index, row, missing, shapes->filled, blocks);
}
