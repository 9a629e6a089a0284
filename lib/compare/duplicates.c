/* SPDX-License-Identifier: MIT
 *
 * duplicates.c - tensors whose bytes are equal, of one model or of several
 *
 * Tensors are numbered on from one model to the next.  What can be equal has
 * the same size, then the same digest, then the same bytes; each step looks
 * only at what the one before has left.  Names do not matter.
 */
#include <string.h>

#include "lib/base/sort.h"
#include "lib/compare/compare.h"

/* Among 2^32 tensors no two digests of 128 bits collide by chance; an attacker
 * could make them collide, so bytes are compared as well. */
#define KIND MF_XXH3_128
#define SIZE 16

/* That are compared at once: enough for all threads. */
#define PAIRS ((size_t)4096)

struct search {
    struct mf_env *env;
    struct mf_model *const *model;
    size_t model_count;
    size_t all;              /* tensors of all models */
    size_t *first;           /* number of the first tensor of each model */
    struct mf_source_id *id; /* of each file, model by model */
    size_t *first_file;      /* row of id of each model's first file */
    size_t files;
    uint32_t *tensor; /* those that may be equal to others, sorted */
    size_t count;
    uint8_t *digests;
    struct mf_pair *pair; /* PAIRS, of which `pairs` wait to be compared */
    size_t pairs;
    uint32_t *same;
};

static size_t model_of(const struct search *search, uint32_t number)
{
    size_t low = 0, high = search->model_count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (search->first[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static struct mf_of_model find(const struct search *search, uint32_t number)
{
    size_t model = model_of(search, number);

    return (struct mf_of_model){ (uint32_t)model,
                                 number - (uint32_t)search->first[model] };
}

static const struct mf_record *record_of(const struct search *search,
                                         uint32_t number)
{
    struct mf_of_model of = find(search, number);

    return &search->model[of.model]->index.tensor[of.tensor];
}

/* ---- by size ---- */

static bool larger(const void *table, uint32_t a, uint32_t b)
{
    return record_of(table, a)->size > record_of(table, b)->size;
}

/* Tensors that share their size, largest first. */
static void choose(struct search *search)
{
    uint32_t *tensor = search->tensor;

    for (size_t i = 0; i < search->all; i++)
        tensor[i] = (uint32_t)i;
    mf_sort(tensor, search->all, larger, search);
    for (size_t i = 0, end; i < search->all; i = end) {
        uint64_t size = record_of(search, tensor[i])->size;

        end = i + 1;
        while (end < search->all &&
               record_of(search, tensor[end])->size == size)
            end++;
        if (end == i + 1 || size == 0)
            continue;
        memmove(tensor + search->count, tensor + i,
                (end - i) * sizeof(*tensor));
        search->count += end - i;
    }
}

/* ---- by digest ---- */

/* There are two files or more that an error may be about. */
static enum mf_status add_context(const struct search *search,
                                  const struct mf_model *model)
{
    struct mf_file named = model->file[0];

    if (search->model_count < 2)
        return search->env->error.status;
    if (model->list)
        named.path = model->list;
    return mf_file_add_context(search->env, &named);
}

/* The digests of such tensors of each model, with `same` as room for its
 * list. */
static enum mf_status hash_models(struct search *search)
{
    for (size_t m = 0; m < search->model_count; m++) {
        size_t count = 0;

        for (size_t i = 0; i < search->count; i++) {
            struct mf_of_model of = find(search, search->tensor[i]);

            if (of.model == m)
                search->same[count++] = of.tensor;
        }
        if (count > 0 &&
            mf_hash_some(search->model[m], KIND, search->same, count,
                         search->digests + search->first[m] * SIZE) != MF_OK)
            return add_context(search, search->model[m]);
    }
    return MF_OK;
}

static int order_of(const struct search *search, uint32_t a, uint32_t b)
{
    uint64_t size_a = record_of(search, a)->size;
    uint64_t size_b = record_of(search, b)->size;

    if (size_a != size_b)
        return size_a > size_b ? -1 : 1;
    return memcmp(search->digests + (size_t)a * SIZE,
                  search->digests + (size_t)b * SIZE, SIZE);
}

static bool before(const void *table, uint32_t a, uint32_t b)
{
    int order = order_of(table, a, b);

    return order != 0 ? order < 0 : a < b;
}

/* Whether row i of the sorted list has the digest of the row above. */
static bool goes_on(const struct search *search, size_t i)
{
    const uint32_t *tensor = search->tensor;

    return i > 0 && order_of(search, tensor[i - 1], tensor[i]) == 0;
}

/* ---- by bytes ---- */

static uint32_t number_of(const struct search *search, struct mf_of_model of)
{
    return (uint32_t)search->first[of.model] + of.tensor;
}

static enum mf_status compare_pairs(struct search *search)
{
    if (mf_compare(search->model, search->pair, search->pairs) != MF_OK)
        return search->env->error.status;
    for (size_t i = 0; i < search->pairs; i++) {
        const struct mf_pair *pair = &search->pair[i];
        uint32_t a = number_of(search, pair->a);

        if (pair->first == record_of(search, a)->size)
            search->same[number_of(search, pair->b)] = a;
    }
    search->pairs = 0;
    return MF_OK;
}

/* Each tensor with the first of equal size and digest. */
static enum mf_status compare_all(struct search *search)
{
    const uint32_t *tensor = search->tensor;
    size_t first = 0;

    for (size_t i = 0; i < search->count; i++) {
        if (!goes_on(search, i)) {
            first = i;
            continue;
        }
        search->pair[search->pairs++] =
            (struct mf_pair){ .a = find(search, tensor[first]),
                              .b = find(search, tensor[i]) };
        if (search->pairs == PAIRS && compare_pairs(search) != MF_OK)
            return search->env->error.status;
    }
    return compare_pairs(search);
}

static enum mf_status find_same(struct search *search)
{
    choose(search);
    if (hash_models(search) != MF_OK)
        return search->env->error.status;
    for (size_t i = 0; i < search->all; i++)
        search->same[i] = (uint32_t)i;
    mf_sort(search->tensor, search->count, before, search);
    return compare_all(search);
}

/* ---- by place ---- */

/* Where the first byte is: file, then offset. */
static int order_of_place(const struct search *search, uint32_t a, uint32_t b)
{
    struct mf_of_model of_a = find(search, a), of_b = find(search, b);
    const struct mf_record *record_a = record_of(search, a);
    const struct mf_record *record_b = record_of(search, b);
    const struct mf_source_id *id_a =
        &search->id[search->first_file[of_a.model] + record_a->shard];
    const struct mf_source_id *id_b =
        &search->id[search->first_file[of_b.model] + record_b->shard];

    if (id_a->device != id_b->device)
        return id_a->device < id_b->device ? -1 : 1;
    if (id_a->file != id_b->file)
        return id_a->file < id_b->file ? -1 : 1;
    if (record_a->offset != record_b->offset)
        return record_a->offset < record_b->offset ? -1 : 1;
    return 0;
}

static bool placed_before(const void *table, uint32_t a, uint32_t b)
{
    const struct search *search = table;
    int order;

    if (search->same[a] != search->same[b])
        return search->same[a] < search->same[b];
    order = order_of_place(search, a, b);
    return order != 0 ? order < 0 : a < b;
}

static void find_places(struct search *search, uint32_t *place)
{
    const uint32_t *tensor = search->tensor;

    for (size_t i = 0; i < search->all; i++)
        place[i] = (uint32_t)i;
    mf_sort(search->tensor, search->count, placed_before, search);
    for (size_t i = 1; i < search->count; i++)
        if (search->same[tensor[i - 1]] == search->same[tensor[i]] &&
            order_of_place(search, tensor[i - 1], tensor[i]) == 0)
            place[tensor[i]] = place[tensor[i - 1]];
}

/* ---- all ---- */

static void number_models(struct search *search)
{
    size_t tensors = 0, files = 0;

    for (size_t m = 0; m < search->model_count; m++) {
        const struct mf_model *model = search->model[m];

        search->first[m] = tensors;
        search->first_file[m] = files;
        tensors += model->index.tensor_count;
        for (size_t i = 0; i < model->file_count; i++)
            search->id[files++] = mf_source_identify(&model->file[i].source);
    }
}

static enum mf_status allocate(struct search *search)
{
    struct mf_env *env = search->env;
    size_t count = search->model_count, all = search->all + 1;

    search->first = mf_alloc(env, count * sizeof(*search->first));
    if (search->first)
        search->first_file = mf_alloc(env, count * sizeof(*search->first_file));
    if (search->first_file)
        search->id = mf_alloc(env, search->files * sizeof(*search->id));
    if (search->id)
        search->tensor = mf_alloc(env, all * sizeof(*search->tensor));
    if (search->tensor)
        search->digests = mf_alloc(env, all * SIZE);
    if (search->digests)
        search->pair = mf_alloc(env, PAIRS * sizeof(*search->pair));
    return search->pair ? MF_OK : env->error.status;
}

static void release(struct search *search)
{
    struct mf_env *env = search->env;
    size_t count = search->model_count, all = search->all + 1;

    mf_release(env, search->pair, PAIRS * sizeof(*search->pair));
    mf_release(env, search->digests, all * SIZE);
    mf_release(env, search->tensor, all * sizeof(*search->tensor));
    mf_release(env, search->id, search->files * sizeof(*search->id));
    mf_release(env, search->first_file, count * sizeof(*search->first_file));
    mf_release(env, search->first, count * sizeof(*search->first));
}

/* Counts tensors and files, all of which can be read. */
static enum mf_status count_all(struct search *search)
{
    struct mf_env *env = search->env;

    for (size_t m = 0; m < search->model_count; m++) {
        struct mf_model *model = search->model[m];
        size_t tensors = model->index.tensor_count;

        for (uint32_t i = 0; i < tensors; i++)
            if (mf_tensor_readable(model, i) != MF_OK)
                return add_context(search, model);
        if (tensors > UINT32_MAX - 1 - search->all)
            return mf_fail(env, MF_ERR_LIMIT, MF_NO_OFFSET,
                           "the models have more than %" PRIu32 " tensors",
                           UINT32_MAX - 1);
        search->all += tensors;
        search->files += model->file_count;
    }
    return MF_OK;
}

static enum mf_status check_models(struct mf_model *const *models, size_t count)
{
    for (size_t m = 0; m < count; m++) {
        if (!models[m])
            return mf_missing(m > 0 ? models[0]->env : NULL, "models");
        if (models[m]->env != models[0]->env)
            return mf_fail(models[0]->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                           "all models must belong to one env");
        if (mf_table_refuse(models[m]) != MF_OK ||
            (count > 1 ? mf_compare_whole(models[m])
                       : mf_missing_refuse(models[m])) != MF_OK)
            return models[m]->env->error.status;
    }
    return MF_OK;
}

enum mf_status mf_models_duplicates(struct mf_model *const *models,
                                    size_t count, uint32_t *same,
                                    uint32_t *place)
{
    MF_NEED(NULL, models);

    struct search search = { .model = models,
                             .model_count = count,
                             .same = same };
    enum mf_status status = check_models(models, count);

    if (status != MF_OK || count == 0)
        return status;
    search.env = models[0]->env;
    MF_NEED(search.env, same);
    mf_clear_error(search.env);
    status = count_all(&search);
    if (status != MF_OK)
        return status;
    status = allocate(&search);
    if (status == MF_OK) {
        number_models(&search);
        status = find_same(&search);
    }
    if (status == MF_OK && place)
        find_places(&search, place);
    release(&search);
    return status;
}

enum mf_status mf_model_duplicates(struct mf_model *model, uint32_t *same)
{
    MF_NEED(NULL, model);

    return mf_models_duplicates(&model, 1, same, NULL);
}
