/* SPDX-License-Identifier: MIT
 *
 * duplicates.c - tensors of a model whose bytes are equal
 */
#include <string.h>

#include "lib/base/sort.h"
#include "lib/compare/compare.h"

/* Among 2^24 tensors no two digests of 128 bits collide by chance; an attacker
 * could make them collide, so bytes are compared as well. */
#define KIND MF_XXH3_128
#define SIZE 16

struct search {
    struct mf_model *model;
    uint32_t *tensor; /* those that may be equal to others, sorted */
    size_t count;
    uint8_t *digests;
    struct mf_pair *pair; /* room for as many as there are tensors */
};

/* ---- by size ---- */

static bool larger(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_record *tensor = table;

    return tensor[a].size > tensor[b].size;
}

/* Tensors that share their size, largest first. */
static void choose(struct search *search)
{
    const struct mf_record *record = search->model->index.tensor;
    size_t all = search->model->index.tensor_count;
    uint32_t *tensor = search->tensor;

    for (size_t i = 0; i < all; i++)
        tensor[i] = (uint32_t)i;
    mf_sort(tensor, all, larger, record);
    for (size_t i = 0, end; i < all; i = end) {
        uint64_t size = record[tensor[i]].size;

        end = i + 1;
        while (end < all && record[tensor[end]].size == size)
            end++;
        if (end == i + 1 || size == 0)
            continue;
        memmove(tensor + search->count, tensor + i,
                (end - i) * sizeof(*tensor));
        search->count += end - i;
    }
}

/* ---- by digest, then by bytes ---- */

static int order_of(const struct search *search, uint32_t a, uint32_t b)
{
    const struct mf_record *record = search->model->index.tensor;

    if (record[a].size != record[b].size)
        return record[a].size > record[b].size ? -1 : 1;
    return memcmp(search->digests + (size_t)a * SIZE,
                  search->digests + (size_t)b * SIZE, SIZE);
}

static bool before(const void *table, uint32_t a, uint32_t b)
{
    int order = order_of(table, a, b);

    return order != 0 ? order < 0 : a < b;
}

/* Pairs to compare: each tensor with the first of equal size and digest. */
static size_t pair_up(struct search *search)
{
    const uint32_t *tensor = search->tensor;
    size_t pairs = 0, first = 0;

    for (size_t i = 1; i < search->count; i++)
        if (order_of(search, tensor[first], tensor[i]) == 0)
            search->pair[pairs++] =
                (struct mf_pair){ .a = tensor[first], .b = tensor[i] };
        else
            first = i;
    return pairs;
}

static enum mf_status find(struct search *search, uint32_t *same)
{
    struct mf_model *model = search->model;
    size_t pairs;

    choose(search);
    if (mf_hash_some(model, KIND, search->tensor, search->count,
                     search->digests) != MF_OK)
        return model->env->error.status;
    mf_sort(search->tensor, search->count, before, search);
    pairs = pair_up(search);
    if (mf_compare(model, model, search->pair, pairs) != MF_OK)
        return model->env->error.status;
    for (size_t i = 0; i < model->index.tensor_count; i++)
        same[i] = (uint32_t)i;
    for (size_t i = 0; i < pairs; i++)
        if (search->pair[i].first ==
            model->index.tensor[search->pair[i].a].size)
            same[search->pair[i].b] = search->pair[i].a;
    return MF_OK;
}

enum mf_status mf_model_duplicates(struct mf_model *model, uint32_t *same)
{
    MF_NEED(NULL, model);
    MF_NEED(model->env, same);

    struct mf_env *env = model->env;
    size_t room = model->index.tensor_count + 1;
    struct search search = { .model = model };
    enum mf_status status = MF_OK;

    mf_clear_error(env);
    for (size_t i = 0; i < model->index.tensor_count && status == MF_OK; i++)
        status = mf_tensor_readable(model, i);
    if (status != MF_OK)
        return status;
    search.tensor = mf_alloc(env, room * sizeof(*search.tensor));
    if (search.tensor)
        search.digests = mf_alloc(env, room * SIZE);
    if (search.digests)
        search.pair = mf_alloc(env, room * sizeof(*search.pair));
    status = search.pair ? find(&search, same) : env->error.status;
    mf_release(env, search.pair, room * sizeof(*search.pair));
    mf_release(env, search.digests, room * SIZE);
    mf_release(env, search.tensor, room * sizeof(*search.tensor));
    return status;
}
