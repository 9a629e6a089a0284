/* SPDX-License-Identifier: MIT
 *
 * compare.c - compares the bytes of tensors
 *
 * Both are read side by side, a piece of each at a time.
 */
#include "lib/compare/compare.h"

#include <assert.h>
#include <string.h>

#include "lib/base/parallel.h"
#include "lib/base/timings.h"

/* ---- tensors cut into slices, so that all threads have work ---- */

/* One task per tensor leaves threads idle at the end, when one of them has the
 * largest tensor; one task per buffer costs a hand-over for each.  Slices of 16
 * MiB and up are between: their number is bounded, and so is the memory for
 * them. */

/* Short enough that two threads finish together on a small model, long enough
 * that handing it out costs nothing.  Above 64 GiB slices grow, not their
 * number. */
#define SLICE_MIN ((uint64_t)16 * 1024 * 1024)
#define SLICES    4096

enum mf_status mf_slices_init(struct mf_slices *slices, struct mf_env *env,
                              size_t things, uint64_t total)
{
    uint64_t most = total / SLICES + 1;
    size_t room;

    most = most > SLICE_MIN ? most : SLICE_MIN;
    /* Each thing has one that is not full. */
    room = things + (size_t)(total / most) + 1;
    *slices = (struct mf_slices){
        .env = env, .room = room, .coming = things, .most = most
    };
    slices->at = mf_alloc(env, room * sizeof(*slices->at));
    return slices->at ? MF_OK : env->error.status;
}

void mf_slices_release(struct mf_slices *slices)
{
    if (slices->env)
        mf_release(slices->env, slices->at, slices->room * sizeof(*slices->at));
    *slices = (struct mf_slices){ 0 };
}

void mf_slices_add(struct mf_slices *slices, uint32_t thing, uint64_t size,
                   bool whole)
{
    uint64_t from = 0;

    assert(slices->coming > 0 &&
           slices->count + slices->coming <= slices->room);
    slices->coming--;
    do {
        uint64_t left = size - from;
        /* Sizes may add up to more than `total`, even to more than 64 bits; the
         * rest is one slice then. */
        bool last = whole || left <= slices->most ||
                    slices->count + slices->coming + 1 == slices->room;

        left = last ? left : slices->most;
        slices->at[slices->count++] =
            (struct mf_slice){ .from = from, .size = left, .thing = thing };
        from += left;
    } while (from < size);
}

/* ---- compares the bytes of tensors ---- */

struct compare {
    struct mf_model *const *model;
    struct mf_pair *pair;
    struct mf_crew crew;
    struct mf_slices slices;
};

/* Each side's part of a worker's buffer: whole pages, with one between. */
static size_t half(const struct mf_worker *worker)
{
    return (worker->buffer_size - MF_PAGE) / 2 / MF_PAGE * MF_PAGE;
}

enum mf_status mf_file_add_context(struct mf_env *env,
                                   const struct mf_file *file)
{
    struct mf_error error = env->error;

    mf_clear_error(env);
    mf_fail(env, error.status, error.offset, "'%s': %s",
            mf_quote((struct mf_str){ file->path, strlen(file->path) }).text,
            error.message);
    env->error.rule = error.rule;
    return error.status;
}

enum mf_status mf_compare_readable(struct mf_model *model, uint32_t tensor)
{
    if (mf_tensor_readable(model, tensor) == MF_OK)
        return MF_OK;
    return mf_file_add_context(model->env,
                               &model->file[model->index.tensor[tensor].shard]);
}

enum mf_status mf_compare_whole(struct mf_model *model)
{
    struct mf_file named = model->file[0];

    if (mf_missing_refuse(model) == MF_OK)
        return MF_OK;
    if (model->list)
        named.path = model->list;
    return mf_file_add_context(model->env, &named);
}

static const struct mf_record *record_of(const struct compare *compare,
                                         struct mf_of_model which)
{
    return &compare->model[which.model]->index.tensor[which.tensor];
}

/* What is compressed goes forward only: one thread does all of it. */
static bool is_packed(const struct compare *compare, struct mf_of_model which)
{
    return mf_record_is_packed(&compare->model[which.model]->index,
                               record_of(compare, which));
}

/* Reads bytes of the tensor into the worker's buffer from `at` on; NULL after
 * mf_fail. */
static const uint8_t *read_piece(struct mf_worker *worker,
                                 const struct compare *compare,
                                 struct mf_of_model which, struct mf_span part,
                                 size_t at)
{
    const struct mf_record *record = record_of(compare, which);
    const struct mf_file *file =
        &compare->model[which.model]->file[record->shard];
    uint64_t offset =
        mf_record_data(compare->model[which.model], record) + part.offset;
    uint8_t *bytes = mf_worker_room(worker, offset) + at;

    if (mf_source_read(&worker->env, &file->source, offset, bytes,
                       (size_t)part.size) == MF_OK)
        return bytes;
    mf_file_add_context(&worker->env, file);
    return NULL;
}

/* How many bytes are equal before the first difference. */
static size_t equal_bytes(const uint8_t *a, const uint8_t *b, size_t size)
{
    size_t i = 0;

    if (memcmp(a, b, size) == 0)
        return size;
    while (a[i] == b[i])
        i++;
    return i;
}

static enum mf_status compare_slice(struct mf_worker *worker, void *context,
                                    size_t task)
{
    struct compare *compare = context;
    struct mf_slice *slice = &compare->slices.at[task];
    const struct mf_pair *pair = &compare->pair[slice->thing];
    size_t most = half(worker);

    mf_worker_at(worker, record_of(compare, pair->a)->name);
    for (slice->found = 0; slice->found < slice->size;) {
        uint64_t left = slice->size - slice->found;
        struct mf_timed timed;
        size_t size = mf_next_part(&worker->env, left, most), equal;
        struct mf_span part = { slice->from + slice->found, size };
        const uint8_t *mine =
            size > 0 ? read_piece(worker, compare, pair->a, part, 0) : NULL;
        const uint8_t *other =
            mine ? read_piece(worker, compare, pair->b, part, most + MF_PAGE)
                 : NULL;

        if (!other)
            return worker->env.error.status;
        timed = mf_timed_begin(&worker->env, MF_PHASE_MEASURE);
        equal = equal_bytes(mine, other, size);
        mf_timed_end(&worker->env, timed);
        slice->found += equal;
        mf_worker_done(worker, 2 * (uint64_t)size);
        if (equal < size)
            break;
    }
    return MF_OK;
}

static void *found_of(void *context, size_t task)
{
    struct compare *compare = context;

    return &compare->slices.at[task].found;
}

static const struct mf_yields results = { found_of, sizeof(uint64_t) };

/* A pair's first difference is in its first slice with one: pair->first equals
 * slice->from only while all earlier slices were equal. */
static void join_slices(struct compare *compare)
{
    for (size_t i = 0; i < compare->slices.count; i++) {
        const struct mf_slice *slice = &compare->slices.at[i];
        struct mf_pair *pair = &compare->pair[slice->thing];

        if (slice->from == 0 || pair->first == slice->from)
            pair->first = slice->from + slice->found;
    }
}

/* Bytes in one order can be compared as they are. */
static enum mf_status check_orders(const struct mf_model *a, uint32_t in_a,
                                   const struct mf_model *b, uint32_t in_b)
{
    if (a->info.byte_order == b->info.byte_order)
        return MF_OK;
    return mf_tensor_turnable(a, in_a) == MF_OK ? mf_tensor_turnable(b, in_b)
                                                : a->env->error.status;
}

enum mf_status mf_compare(struct mf_model *const *model, struct mf_pair *pair,
                          size_t count)
{
    struct compare compare = { .model = model, .pair = pair };
    struct mf_env *env = model[0]->env;
    uint64_t work = 0, largest = 0;
    struct mf_timed timed;
    enum mf_status status;

    for (size_t i = 0; i < count; i++) {
        struct mf_of_model a = pair[i].a, b = pair[i].b;
        uint64_t size = record_of(&compare, a)->size;

        assert(size == record_of(&compare, b)->size);
        if (mf_compare_readable(model[a.model], a.tensor) != MF_OK ||
            mf_compare_readable(model[b.model], b.tensor) != MF_OK ||
            check_orders(model[a.model], a.tensor, model[b.model], b.tensor) !=
                MF_OK)
            return env->error.status;
        work = size > UINT64_MAX - work ? UINT64_MAX : work + size;
        largest = size > largest ? size : largest;
    }
    timed = mf_timed_begin(env, MF_PHASE_REST);
    /* Two halves, each with a page to spare; no piece needs more than a MiB. */
    largest = largest < 1 << 20 ? largest : 1 << 20;
    status = mf_crew_init(&compare.crew, env, work, 2 * largest + 4 * MF_PAGE,
                          3 * MF_PAGE);
    compare.crew.work = work > UINT64_MAX / 2 ? UINT64_MAX : 2 * work;
    if (status == MF_OK)
        status = mf_slices_init(&compare.slices, env, count, work);
    for (size_t i = 0; i < count && status == MF_OK; i++)
        mf_slices_add(
            &compare.slices, (uint32_t)i, record_of(&compare, pair[i].a)->size,
            is_packed(&compare, pair[i].a) || is_packed(&compare, pair[i].b));
    if (status == MF_OK)
        status = mf_crew_share(&compare.crew, compare_slice, NULL, &compare,
                               compare.slices.count, &results);
    if (status == MF_OK)
        join_slices(&compare);
    mf_slices_release(&compare.slices);
    mf_crew_release(&compare.crew);
    mf_timed_end(env, timed);
    return status;
}
