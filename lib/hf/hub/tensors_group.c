/* SPDX-License-Identifier: MIT
 *
 * tensors_group.c - tensors that wait for others
 *
 * A group is found by its row and its block, both small numbers, in a table of
 * lists.  A model of 90,000 tensors has one or two groups open at a time; what
 * a complete one had is used again.
 */
#include "lib/hf/hub/tensors_work.h"

static size_t bucket_of(size_t row, int64_t block)
{
    return ((size_t)(block + 1) * 31 + row) % MF_GROUP_BUCKETS;
}

/* Each place of a group is for a part of a tensor, of which MF_TENSOR_LIST are
 * made of one at most.  More places than there can be parts stay empty, and
 * would only take memory: a number of experts is a claim of config.json. */
static bool may_open(struct mf_tensor_work *work, size_t total)
{
    const struct mf_lora *adapter = work->hub->adapter;
    const struct mf_model *model =
        adapter ? adapter->model : work->hub->recipe->model;
    size_t tensors = model->index.tensor_count;

    if (work->places + total <= (uint64_t)tensors * MF_TENSOR_LIST)
        return true;
    mf_fail(work->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
            "'%s': %zu tensors like '%s' become one in each block, the folder "
            "has %zu tensors",
            mf_recipe_file(work->hub->recipe), total,
            mf_quote(mf_tensor_name_text(&work->name)).text, tensors);
    return false;
}

static struct mf_tensor_group *
open_group(struct mf_tensor_work *work, size_t row, int64_t block, size_t total)
{
    struct mf_tensor_group **bucket = &work->group[bucket_of(row, block)];
    struct mf_tensor_group *group = work->spare;
    size_t size = sizeof(*group) + total * sizeof(group->node[0]);

    if (!may_open(work, total))
        return NULL;
    if (group && group->total == total)
        work->spare = group->next;
    else
        group = mf_arena_take(work->derive.arena, size);
    if (!group)
        return NULL;
    memset(group, 0, size);
    group->row = row;
    group->block = block;
    group->total = total;
    group->next = *bucket;
    *bucket = group;
    work->waiting++;
    work->places += total;
    return group;
}

static void unlink_group(struct mf_tensor_work *work,
                         struct mf_tensor_group *group)
{
    struct mf_tensor_group **at =
        &work->group[bucket_of(group->row, group->block)];

    while (*at != group)
        at = &(*at)->next;
    *at = group->next;
    work->waiting--;
    work->places -= group->total;
}

enum mf_status mf_group_put(struct mf_tensor_work *work, size_t row,
                            int64_t block, size_t total, size_t place,
                            const struct mf_derived *node,
                            struct mf_tensor_group **out)
{
    struct mf_tensor_group *group = work->group[bucket_of(row, block)];

    *out = NULL;
    while (group && (group->row != row || group->block != block))
        group = group->next;
    if (!group)
        group = open_group(work, row, block, total);
    if (!group)
        return mf_work_failed(work);
    if (group->node[place])
        return mf_fail(work->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "tensor '%s' is there twice, under two names",
                       mf_quote(mf_tensor_name_text(&work->name)).text);
    group->node[place] = node;
    if (++group->filled < group->total)
        return MF_OK;
    unlink_group(work, group);
    *out = group;
    return MF_OK;
}

void mf_group_give_back(struct mf_tensor_work *work,
                        struct mf_tensor_group *group)
{
    group->next = work->spare;
    work->spare = group;
}

enum mf_status mf_group_check(struct mf_tensor_work *work)
{
    for (size_t i = 0; work->waiting > 0 && i < MF_GROUP_BUCKETS; i++) {
        const struct mf_tensor_group *group = work->group[i];

        if (group)
            return mf_fail(work->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                           "the folder has %zu of %zu tensors of block "
                           "%" PRId64 " that become one",
                           group->filled, group->total, group->block);
    }
    return MF_OK;
}
