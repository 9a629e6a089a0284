/* SPDX-License-Identifier: MIT
 *
 * tensors.c - rows that look a tensor up
 *
 *     tensor NAME DIMENSION, DIMENSION [optional EXPRESSION]
 *     tensor? NAME DIMENSION, ...
 *
 * "*" in NAME is the number of the current block.  The first dimension is the
 * contiguous one; those that a row does not give are 1.  "reshape" after the
 * dimensions: any shape with as many elements will do.
 */
#include "lib/arch/run.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX 128 /* no name of a row is longer */
#define DIMS_MAX 4   /* no row has more */

struct tensor_name {
    char text[NAME_MAX];
    size_t size;
};

static struct tensor_name name_of(struct mf_str pattern, uint64_t block)
{
    struct tensor_name out = { "", 0 };

    for (size_t i = 0; i < pattern.size; i++)
        if (pattern.at[i] != '*')
            out.text[out.size++] = pattern.at[i];
        else
            out.size += (size_t)snprintf(out.text + out.size,
                                         sizeof(out.text) - out.size,
                                         "%" PRIu64, block);
    assert(out.size < sizeof(out.text));
    out.text[out.size] = '\0';
    return out;
}

/* ---- names ---- */

static const struct {
    const char *gguf, *other;
} names[] = {
#define NAME(gguf, other) { gguf, other },
#include "lib/arch/names.def"
};

#define NAME_COUNT (sizeof(names) / sizeof(*names))

/* The next name that the tensor has in other models, from *at on; its size is 0
 * after the last one. */
static struct mf_str next_name(struct mf_str pattern, size_t *at)
{
    while (*at < NAME_COUNT)
        if (mf_str_is(pattern, names[(*at)++].gguf)) {
            const char *other = names[*at - 1].other;

            return (struct mf_str){ other, strlen(other) };
        }
    return (struct mf_str){ NULL, 0 };
}

static size_t find_name(const struct mf_arch_run *run, struct mf_str pattern)
{
    struct tensor_name name = name_of(pattern, run->block);

    return mf_names_find(&run->index->tensor_names,
                         (struct mf_str){ name.text, name.size });
}

/* The row of a tensor in the index, or MF_NOT_FOUND. */
static size_t find(const struct mf_arch_run *run, struct mf_str pattern)
{
    size_t found = find_name(run, pattern), at = 0;
    struct mf_str other;

    while (found == MF_NOT_FOUND && run->foreign &&
           (other = next_name(pattern, &at)).size > 0)
        found = find_name(run, other);
    return found;
}

/* Whether the tensor is known by a name that models of this kind have. */
static bool has_name(const struct mf_arch_run *run, struct mf_str pattern)
{
    size_t at = 0;

    return !run->foreign || next_name(pattern, &at).size > 0;
}

const struct mf_record *mf_arch_tensor(const struct mf_arch_run *run,
                                       struct mf_str pattern)
{
    size_t row = find(run, pattern);

    return row == MF_NOT_FOUND ? NULL : &run->index->tensor[row];
}

/* ---- shapes ---- */

struct shape {
    struct mf_arch_number dim[DIMS_MAX];
    unsigned rank;
};

/* "32 x 64" in the order of the file, "?" for an unknown length. */
struct shape_text {
    char text[DIMS_MAX * 23 + 4];
};

static struct shape_text shape_text(const struct mf_arch_run *run,
                                    const struct shape *shape)
{
    bool first = run->model->info.fastest_first;
    struct shape_text out = { "" };
    size_t used = 0;

    for (unsigned i = 0; i < shape->rank; i++) {
        struct mf_arch_number length =
            shape->dim[first ? i : shape->rank - 1 - i];
        const char *cross = i > 0 ? " x " : "";
        int written = length.known
                          ? snprintf(out.text + used, sizeof(out.text) - used,
                                     "%s%" PRId64, cross, length.value)
                          : snprintf(out.text + used, sizeof(out.text) - used,
                                     "%s?", cross);

        used += (size_t)written;
    }
    return out;
}

/* Dimension i, counted from the contiguous one. */
static uint64_t dimension(const struct mf_arch_run *run,
                          const struct mf_record *record, unsigned i)
{
    bool first = run->model->info.fastest_first;

    return record->dim[first ? i : record->rank - 1u - i];
}

/* The shape of a tensor in the file, without the dimensions of 1 at its end;
 * further ones than the table knows are multiplied into the last. */
static struct shape shape_of(const struct mf_arch_run *run,
                             const struct mf_record *record)
{
    struct shape out = { .rank = record->rank < DIMS_MAX ? record->rank
                                                         : DIMS_MAX };

    for (unsigned i = 0; i < record->rank; i++) {
        uint64_t length = dimension(run, record, i);

        if (i >= DIMS_MAX &&
            !mf_mul(length, (uint64_t)out.dim[DIMS_MAX - 1].value, &length))
            length = INT64_MAX;
        if (length > INT64_MAX)
            length = INT64_MAX;
        out.dim[i < DIMS_MAX ? i : DIMS_MAX - 1] =
            (struct mf_arch_number){ true, (int64_t)length };
    }
    while (out.rank > 1 && out.dim[out.rank - 1].value == 1)
        out.rank--;
    return out;
}

static struct mf_arch_number dim_of(const struct shape *shape, unsigned i)
{
    return i < shape->rank ? shape->dim[i] : (struct mf_arch_number){ true, 1 };
}

static bool same_shape(const struct shape *has, const struct shape *expected)
{
    for (unsigned i = 0; i < DIMS_MAX; i++) {
        struct mf_arch_number a = dim_of(has, i), b = dim_of(expected, i);

        if (b.known && a.value != b.value)
            return false;
    }
    return true;
}

static bool same_elements(const struct shape *has, const struct shape *expected)
{
    uint64_t a = 1, b = 1;

    for (unsigned i = 0; i < DIMS_MAX; i++) {
        struct mf_arch_number length = dim_of(expected, i);

        if (!length.known || length.value < 0)
            return true;
        if (!mf_mul(a, (uint64_t)dim_of(has, i).value, &a) ||
            !mf_mul(b, (uint64_t)length.value, &b))
            return true; /* geometry.c has reported it */
    }
    return a == b;
}

/* ---- one row ---- */

struct row {
    struct mf_str pattern;
    struct shape shape;
    bool optional, reshape;
};

static struct row take_row(struct mf_arch_run *run, struct mf_code code,
                           bool optional)
{
    unsigned flags = mf_code_byte(&code);
    struct row row = { .pattern = mf_code_text(&code) };
    struct mf_arch_number may = { true, 0 };

    row.shape.rank = mf_code_byte(&code);
    assert(row.shape.rank <= DIMS_MAX); /* in a row, not in a file */
    for (unsigned i = 0; i < row.shape.rank; i++)
        row.shape.dim[i] = mf_arch_take_number(run, &code);
    row.reshape = flags & MF_TENSOR_RESHAPE;
    if (flags & MF_TENSOR_CONDITION)
        may = mf_arch_take_number(run, &code);
    row.optional =
        optional || flags & MF_TENSOR_OPTIONAL || !may.known || may.value != 0;
    return row;
}

static void add_missing(struct mf_arch_run *run, struct mf_str pattern)
{
    struct mf_arch_missing *missing = run->missing;

    for (size_t i = 0; i < run->missing_count; i++, missing++)
        if (mf_str_same(missing->pattern, pattern)) {
            missing->count += memchr(pattern.at, '*', pattern.size) != NULL;
            return;
        }
    if (run->missing_count == MF_ARCH_MISSING_MAX)
        return; /* as many are reported already */
    run->missing[run->missing_count++] =
        (struct mf_arch_missing){ pattern, run->block, 1 };
}

static void note_shape(struct mf_arch_run *run, const struct mf_record *record,
                       const struct shape *has, const struct shape *expected)
{
    mf_index_note_of(run->index, record, run->severity, MF_RULE_MODEL_SHAPE,
                     record->entry,
                     "tensor '%s' is %s, but the metadata implies %s",
                     mf_record_name(record).text, shape_text(run, has).text,
                     shape_text(run, expected).text);
}

static void give_row(struct mf_arch_run *run, const struct row *row)
{
    struct tensor_name name = name_of(row->pattern, run->block);
    struct mf_arch_tensor_row out = { .name = { name.text, name.size },
                                      .pattern = row->pattern,
                                      .rank = row->shape.rank,
                                      .known = true,
                                      .optional = row->optional };

    for (unsigned i = 0; i < row->shape.rank; i++) {
        struct mf_arch_number length = row->shape.dim[i];

        out.known = out.known && length.known && length.value > 0;
        out.dim[i] = out.known ? (uint64_t)length.value : 0;
    }
    while (out.rank > 1 && out.known && out.dim[out.rank - 1] == 1)
        out.rank--;
    run->status = run->take(run->take_user, &out);
}

void mf_arch_check_tensor(struct mf_arch_run *run, struct mf_code code,
                          bool optional)
{
    struct row row = take_row(run, code, optional);
    size_t at = find(run, row.pattern);
    struct shape has;

    if (run->take) {
        give_row(run, &row);
        return;
    }
    if (at == MF_NOT_FOUND) {
        if (!row.optional && run->whole && has_name(run, row.pattern))
            add_missing(run, row.pattern);
        return;
    }
    has = shape_of(run, &run->index->tensor[at]);
    if (!run->used[at] && !(row.reshape ? same_elements(&has, &row.shape)
                                        : same_shape(&has, &row.shape)))
        note_shape(run, &run->index->tensor[at], &has, &row.shape);
    run->used[at] = 1;
}

/* ---- the whole model ---- */

/* The number of the block in a name, "blk.7." or "model.layers.7."; false for
 * tensors outside blocks. */
static bool block_of(const struct mf_record *record, uint64_t *block)
{
    static const char *const heads[] = { "blk.", "model.layers." };
    struct mf_str name = { record->name, record->name_size };

    for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
        size_t at = strlen(heads[i]), begin = at;

        if (!mf_str_begins(name, heads[i]))
            continue;
        *block = 0;
        while (at < name.size && at - begin < 9 && name.at[at] >= '0' &&
               name.at[at] <= '9')
            *block = *block * 10 + (uint64_t)(name.at[at++] - '0');
        return at > begin && at < name.size && name.at[at] == '.';
    }
    return false;
}

/* The blocks that the names imply: the highest number and one. */
static uint64_t blocks_in_names(const struct mf_arch_run *run)
{
    uint64_t seen = 0, block;

    for (size_t i = 0; i < run->used_count; i++)
        if (block_of(&run->index->tensor[i], &block) && block >= seen)
            seen = block + 1;
    return seen;
}

static void note_blocks(struct mf_arch_run *run, uint64_t blocks, uint64_t seen)
{
    const struct mf_arch_key *key =
        mf_arch_key_of(run, (struct mf_str){ "block_count", 11 });

    mf_index_note(run->index, 0, run->severity, MF_RULE_MODEL_BLOCKS,
                  key ? key->offset : MF_NO_OFFSET,
                  "the metadata has block count %" PRIu64
                  ", but tensor names imply %" PRIu64,
                  blocks, seen);
}

static void note_missing(struct mf_arch_run *run,
                         const struct mf_arch_missing *missing)
{
    struct tensor_name name = name_of(missing->pattern, missing->first);
    char more[48] = "";
    struct mf_str other;
    size_t at = 0;

    if (missing->count > 1)
        snprintf(more, sizeof(more), ", also in %" PRIu64 " other block%s",
                 missing->count - 1, missing->count == 2 ? "" : "s");
    other = next_name(missing->pattern, &at);
    if (run->foreign && other.size > 0)
        mf_index_note(run->index, 0, run->severity, MF_RULE_MODEL_TENSOR,
                      MF_NO_OFFSET, "missing tensor '%s' (or '%s')%s",
                      name.text, name_of(other, missing->first).text, more);
    else
        mf_index_note(run->index, 0, run->severity, MF_RULE_MODEL_TENSOR,
                      MF_NO_OFFSET, "missing tensor '%s'%s", name.text, more);
}

static void note_unused(struct mf_arch_run *run, const struct mf_record *record)
{
    mf_index_note_of(run->index, record, run->severity, MF_RULE_MODEL_UNUSED,
                     record->entry,
                     "architecture '%s' has no tensor '%s' there, and its "
                     "loader refuses a file with tensors that it does not use",
                     mf_quote(run->name).text, mf_record_name(record).text);
}

/* Whether the names imply another block count than the metadata has; then one
 * finding says so for all tensors of the blocks that are missing or too many.
 */
static bool check_blocks(struct mf_arch_run *run, uint64_t blocks,
                         uint64_t seen)
{
    bool wrong = seen > blocks;
    uint64_t block;

    for (size_t i = 0; i < run->missing_count && !wrong; i++)
        wrong = run->missing[i].first >= seen &&
                memchr(run->missing[i].pattern.at, '*',
                       run->missing[i].pattern.size);
    for (size_t i = 0; i < run->used_count && wrong && seen > blocks; i++)
        if (block_of(&run->index->tensor[i], &block) && block >= blocks &&
            run->used[i])
            return false; /* rows count blocks in another way */
    if (wrong)
        note_blocks(run, blocks, seen);
    return wrong;
}

bool mf_arch_is_other(struct mf_arch_run *run)
{
    uint64_t block;

    if (!run->foreign ||
        find(run, (struct mf_str){ "token_embd.weight", 17 }) != MF_NOT_FOUND)
        return false;
    for (size_t i = 0; i < run->used_count; i++)
        if (block_of(&run->index->tensor[i], &block))
            return false;
    mf_index_note(run->index, 0, MF_NOTE, MF_RULE_MODEL_UNKNOWN, MF_NO_OFFSET,
                  "no tensor of architecture '%s' found: generic checks only",
                  mf_quote(run->name).text);
    return true;
}

void mf_arch_report_tensors(struct mf_arch_run *run)
{
    struct mf_arch_number count =
        mf_arch_name_value(run, (struct mf_str){ "blocks", 6 });
    uint64_t blocks = count.known ? (uint64_t)count.value : UINT64_MAX;
    uint64_t seen = blocks_in_names(run), block;
    bool wrong;

    wrong = count.known && run->whole && !run->stopped &&
            check_blocks(run, blocks, seen);
    for (size_t i = 0; i < run->missing_count; i++)
        if (!wrong || run->missing[i].first < seen ||
            !memchr(run->missing[i].pattern.at, '*',
                    run->missing[i].pattern.size))
            note_missing(run, &run->missing[i]);
    if (run->unsure || run->stopped || run->foreign)
        return;
    for (size_t i = 0; i < run->used_count; i++) {
        const struct mf_record *record = &run->index->tensor[i];

        if (!run->used[i] &&
            !(wrong && block_of(record, &block) && block >= blocks))
            note_unused(run, record);
    }
}
