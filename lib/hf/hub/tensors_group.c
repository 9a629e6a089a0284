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

static struct mf_tensor_group *
open_group(struct mf_tensor_work *work, size_t row, int64_t block, size_t total)
{
    struct mf_tensor_group **bucket = &work->group[bucket_of(row, block)];
    struct mf_tensor_group *group = work->spare;
    size_t size = sizeof(*group) + total * sizeof(group->node[0]);

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
