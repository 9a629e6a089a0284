/* SPDX-License-Identifier: MIT
 *
 * imatrix_coverage.c - the tensors of a model that an importance matrix has
 * values for
 *
 * Looked at are the tensors that are quantized (mix_type.c).  An expert that
 * the text never chose has no values of its own: a GGUF matrix says so by a
 * count of 0; an old one has the same number in all columns, which is its count
 * of calls, and llama-imatrix writes nothing else like it.
 */
#include <string.h>

#include "lib/program.h"
#include "lib/quantize/mix.h"

/* Values of an old matrix that are compared at once. */
#define PIECE 1024

const char *mf_cover_name(enum mf_imatrix_cover cover)
{
    static const char *const names[MF_COVER_COUNT] = {
        [MF_COVER_NONE] = "none",         [MF_COVER_ALL] = "all",
        [MF_COVER_PART] = "part",         [MF_COVER_UNUSED] = "unused",
        [MF_COVER_MISMATCH] = "mismatch", [MF_COVER_NO_TENSOR] = "no_tensor",
    };

    return names[cover];
}

struct covering {
    struct mf_env *env;
    const struct mf_model *model;
    struct mf_imatrix *imatrix;
    mf_imatrix_each *each;
    void *user;
    float *uses; /* of each expert of the tensor that is looked at */
    size_t room;
    uint8_t *matched; /* of each entry: there is a tensor for it */
    struct mf_imatrix_coverage sum;
};

static const struct mf_record *record_at(const struct covering *work, size_t at)
{
    return &work->model->index.tensor[at];
}

/* The shape as quantizing sees it: columns, and matrices of such rows; false
 * for a shape that no file can have. */
static bool measure(const struct covering *work, const struct mf_record *record,
                    struct mf_imatrix_tensor *out)
{
    bool fastest_first = work->model->info.fastest_first;
    uint32_t rank = record->rank;

    out->columns = record->dim[fastest_first ? 0 : rank - 1];
    out->experts = 1;
    for (uint32_t i = 2; i < rank; i++)
        if (!mf_mul(out->experts, record->dim[fastest_first ? i : rank - 1 - i],
                    &out->experts))
            return false;
    return true;
}

static enum mf_status make_room(struct covering *work, uint64_t count)
{
    float *moved;

    if (count <= work->room)
        return MF_OK;
    moved =
        mf_env_resize(work->env, work->uses, work->room * sizeof(*work->uses),
                      (size_t)count * sizeof(*work->uses));
    if (!moved)
        return work->env->error.status;
    work->uses = moved;
    work->room = (size_t)count;
    return MF_OK;
}

/* Whether an expert of an old matrix was used. */
static enum mf_status was_used(struct covering *work,
                               const struct mf_imatrix_entry *entry,
                               uint64_t first, uint64_t columns, bool *out)
{
    float values[PIECE];

    *out = false;
    for (uint64_t at = 0; at < columns && !*out; at += PIECE) {
        uint64_t left = columns - at;
        size_t count = left < PIECE ? (size_t)left : PIECE;

        if (mf_imatrix_sums(work->imatrix, entry, first + at, values, count) !=
            MF_OK)
            return work->env->error.status;
        for (size_t i = 0; i < count && !*out; i++)
            *out = values[i] != (float)entry->calls;
    }
    return MF_OK;
}

static enum mf_status read_uses(struct covering *work,
                                const struct mf_imatrix_entry *entry,
                                const struct mf_imatrix_tensor *tensor)
{
    uint64_t matrices = mf_imatrix_matrices(entry);
    bool used;

    /* Refused by what the file has, so that its memory is bounded by that. */
    if (make_room(work, tensor->experts) != MF_OK)
        return work->env->error.status;
    if (matrices == tensor->experts)
        return mf_imatrix_counts(work->imatrix, entry, 0, work->uses,
                                 (size_t)matrices);
    for (uint64_t i = 0; i < tensor->experts; i++)
        if (mf_imatrix_counts(work->imatrix, entry, 0, &work->uses[i], 1) !=
            MF_OK)
            return work->env->error.status;
    for (uint64_t i = 0; work->imatrix->old && i < tensor->experts; i++) {
        if (was_used(work, entry, i * tensor->columns, tensor->columns,
                     &used) != MF_OK)
            return work->env->error.status;
        if (!used)
            work->uses[i] = 0;
    }
    return MF_OK;
}

static void add_uses(const struct covering *work, struct mf_imatrix_tensor *out)
{
    out->uses = work->uses;
    out->least = out->most = work->uses[0];
    for (uint64_t i = 0; i < out->experts; i++) {
        float uses = work->uses[i];

        out->used += uses > 0;
        out->least = uses < out->least ? uses : out->least;
        out->most = uses > out->most ? uses : out->most;
    }
    /* In an old file the values are means then. */
    if (work->imatrix->old && out->experts == 1)
        out->used = 1;
    out->cover = out->used == out->experts ? MF_COVER_ALL
                 : out->used > 0           ? MF_COVER_PART
                                           : MF_COVER_UNUSED;
}

static enum mf_status look_at(struct covering *work,
                              struct mf_imatrix_tensor *tensor)
{
    const struct mf_imatrix_entry *entry =
        mf_imatrix_find(work->imatrix, tensor->name);
    uint64_t count;

    if (!entry)
        return MF_OK;
    work->matched[entry - work->imatrix->entry] = 1;
    if (!mf_mul(tensor->columns, tensor->experts, &count) ||
        count != entry->count || count == 0 ||
        (mf_imatrix_matrices(entry) != 1 &&
         mf_imatrix_matrices(entry) != tensor->experts)) {
        tensor->cover = MF_COVER_MISMATCH;
        return MF_OK;
    }
    if (read_uses(work, entry, tensor) != MF_OK)
        return work->env->error.status;
    add_uses(work, tensor);
    return MF_OK;
}

static void tell(struct covering *work, const struct mf_imatrix_tensor *tensor)
{
    struct mf_imatrix_coverage *sum = &work->sum;

    sum->of[tensor->cover]++;
    if (tensor->cover != MF_COVER_NO_TENSOR) {
        sum->tensors++;
        sum->experts += tensor->experts;
        sum->experts_used += tensor->used;
    }
    if (work->each)
        work->each(work->user, tensor);
}

static bool is_looked_at(const struct covering *work,
                         const struct mf_record *record)
{
    static const struct mf_quantize_options options = { .type = "" };
    const struct mf_mix mix = { .options = &options };
    const struct mf_draft_tensor tensor = {
        .name = { record->name, record->name_size },
        .dim = record->dim,
        .rank = record->rank,
    };

    return record->rank > 0 && !(record->flags & MF_TENSOR_DAMAGED) &&
           mf_mix_selects(&mix, &tensor, work->model->info.fastest_first);
}

static enum mf_status look_at_all(struct covering *work)
{
    for (size_t i = 0; i < work->model->index.tensor_count; i++) {
        const struct mf_record *record = record_at(work, i);
        struct mf_imatrix_tensor tensor = {
            .name = { record->name, record->name_size }, .tensor = i
        };

        if (!is_looked_at(work, record) || !measure(work, record, &tensor))
            continue;
        if (look_at(work, &tensor) != MF_OK)
            return work->env->error.status;
        tell(work, &tensor);
    }
    for (size_t i = 0; i < work->imatrix->count; i++) {
        struct mf_imatrix_tensor tensor = { .name =
                                                work->imatrix->entry[i].name,
                                            .tensor = SIZE_MAX,
                                            .cover = MF_COVER_NO_TENSOR };

        if (!work->matched[i])
            tell(work, &tensor);
    }
    return MF_OK;
}

enum mf_status mf_model_imatrix_coverage(struct mf_model *model,
                                         const char *path,
                                         mf_imatrix_each *each, void *user,
                                         struct mf_imatrix_coverage *out)
{
    MF_NEED(NULL, model);
    MF_NEED(model->env, path);

    static const struct mf_imatrix_choice all;
    struct covering work = {
        .env = model->env, .model = model, .each = each, .user = user
    };
    enum mf_status status = mf_table_refuse(model);
    size_t count = 0;

    if (status == MF_OK)
        status = mf_imatrix_open(model->env, path, &all, &work.imatrix);
    if (status == MF_OK) {
        count = work.imatrix->count;
        work.matched = mf_alloc(model->env, count);
        status = work.matched ? MF_OK : model->env->error.status;
    }
    if (status == MF_OK) {
        memset(work.matched, 0, count);
        work.sum.chunks = work.imatrix->chunks;
        status = look_at_all(&work);
    }
    if (status == MF_OK && out)
        *out = work.sum;
    mf_release(model->env, work.matched, count);
    mf_release(model->env, work.uses, work.room * sizeof(*work.uses));
    mf_imatrix_close(work.imatrix);
    return status;
}
