/* SPDX-License-Identifier: MIT
 *
 * prune.c - a model without some of its blocks
 *
 * Blocks behind one that is left out move up.  So do the numbers that metadata
 * give for each block.
 */
#include <stdio.h>
#include <string.h>

#include "lib/quantize/mix.h"
#include "lib/write/convert.h"

struct prune {
    struct mf_env *env;
    uint64_t blocks; /* that there are */
    uint64_t *moved; /* where a block's number moves; GONE: it is left out */
    uint64_t left;
};

#define GONE UINT64_MAX

/* The digits behind a "blk.", where they are a number as one writes it and a
 * full stop follows. */
static struct mf_str block_digits(struct mf_str name)
{
    static const char prefix[] = "blk.";
    const size_t size = sizeof(prefix) - 1;

    for (size_t i = 0; i + size < name.size; i++) {
        size_t start = i + size, end = start;

        if (memcmp(name.at + i, prefix, size) != 0)
            continue;
        while (end < name.size && name.at[end] >= '0' && name.at[end] <= '9')
            end++;
        if (end > start && end < name.size && name.at[end] == '.' &&
            end - start < 10 && (name.at[start] != '0' || end - start == 1))
            return (struct mf_str){ name.at + start, end - start };
    }
    return (struct mf_str){ NULL, 0 };
}

static uint64_t number_of(struct mf_str digits)
{
    uint64_t number = 0;

    for (size_t i = 0; i < digits.size; i++)
        number = number * 10 + (uint64_t)(digits.at[i] - '0');
    return number;
}

/* ---- which ---- */

static enum mf_status take_blocks(struct prune *prune, const uint32_t *blocks,
                                  size_t count, uint64_t tensors)
{
    if (prune->blocks == 0 || prune->blocks > tensors)
        return mf_fail(prune->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "the model does not say how many blocks it has, so none "
                       "can be left out");
    prune->moved =
        mf_alloc(prune->env, (size_t)prune->blocks * sizeof(*prune->moved));
    if (!prune->moved)
        return prune->env->error.status;
    memset(prune->moved, 0, (size_t)prune->blocks * sizeof(*prune->moved));
    for (size_t i = 0; i < count; i++) {
        if (blocks[i] >= prune->blocks)
            return mf_fail(prune->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                           "there is no block %u: the model has %" PRIu64,
                           blocks[i], prune->blocks);
        prune->moved[blocks[i]] = GONE;
    }
    for (uint64_t i = 0; i < prune->blocks; i++)
        if (prune->moved[i] != GONE)
            prune->moved[i] = prune->left++;
    return prune->left > 0 ? MF_OK
                           : mf_fail(prune->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                                     "of %" PRIu64 " blocks none would be left",
                                     prune->blocks);
}

/* ---- tensors ---- */

static enum mf_status rename_block(struct mf_draft *draft, struct mf_str *name,
                                   struct mf_str digits, uint64_t number)
{
    size_t before = (size_t)(digits.at - name->at);
    size_t behind = name->size - before - digits.size;
    char text[24];
    size_t size = (size_t)snprintf(text, sizeof(text), "%" PRIu64, number);
    char *moved = mf_arena_text(&draft->arena, before + size + behind);

    if (!moved)
        return draft->env->error.status;
    memcpy(moved, name->at, before);
    memcpy(moved + before, text, size);
    memcpy(moved + before + size, digits.at + digits.size, behind);
    *name = (struct mf_str){ moved, before + size + behind };
    return MF_OK;
}

static enum mf_status prune_tensors(const struct prune *prune,
                                    struct mf_draft *draft)
{
    size_t kept = 0;

    for (size_t i = 0; i < draft->tensor_count; i++) {
        struct mf_draft_tensor *tensor = &draft->tensor[i];
        struct mf_str digits = block_digits(tensor->name);
        uint64_t old = number_of(digits);
        bool counts = digits.at && old < prune->blocks;

        if (counts && prune->moved[old] == GONE)
            continue;
        if (counts && prune->moved[old] != old &&
            rename_block(draft, &tensor->name, digits, prune->moved[old]) !=
                MF_OK)
            return draft->env->error.status;
        draft->tensor[kept++] = *tensor;
    }
    draft->tensor_count = kept;
    return MF_OK;
}

/* ---- metadata ---- */

struct list {
    const struct prune *prune;
    enum mf_value_type of;
    union mf_number *number; /* of the blocks that are left */
    uint64_t at;
};

static enum mf_status take_number(void *user, const struct mf_value *value)
{
    struct list *list = user;
    union mf_number number;
    uint64_t to;

    if (value->event != MF_EVENT_ITEM || list->at >= list->prune->blocks)
        return MF_OK;
    to = list->prune->moved[list->at++];
    if (!mf_value_as(value, list->of, &number))
        return mf_fail(list->prune->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "a list of something for each block is none of numbers");
    if (to != GONE)
        list->number[to] = number;
    return MF_OK;
}

/* A list of as many as there are blocks, under the architecture's keys. */
static enum mf_status prune_list(const struct prune *prune,
                                 struct mf_draft *draft, struct mf_entry *entry)
{
    struct list list = { .prune = prune, .of = entry->of };
    enum mf_status status;

    list.number = mf_arena_take(&draft->arena,
                                (size_t)prune->left * sizeof(*list.number));
    if (!list.number)
        return draft->env->error.status;
    status = mf_entry_read(draft->env, entry, take_number, &list);
    if (status != MF_OK)
        return status;
    entry->from = NULL;
    entry->elements = list.number;
    entry->count = prune->left;
    return MF_OK;
}

static enum mf_status prune_metadata(const struct prune *prune,
                                     struct mf_draft *draft, struct mf_str key)
{
    size_t prefix = key.size - strlen("block_count");

    for (size_t i = 0; i < draft->entry_count; i++) {
        struct mf_entry *entry = &draft->entry[i];

        if (entry->type == MF_VALUE_ARRAY && entry->count == prune->blocks &&
            entry->key.size > prefix &&
            memcmp(entry->key.at, key.at, prefix) == 0 &&
            prune_list(prune, draft, entry) != MF_OK)
            return draft->env->error.status;
    }
    key = mf_draft_text(draft, key);
    return key.at
               ? mf_draft_put_number(draft, key.at, MF_VALUE_U32, prune->left)
               : draft->env->error.status;
}

/* ---- all of it ---- */

enum mf_status mf_prune(struct mf_draft *const *drafts, size_t count,
                        const struct mf_draft *facts, const uint32_t *blocks,
                        size_t block_count)
{
    struct prune prune = { .env = drafts[0]->env };
    uint64_t tensors = 0;
    enum mf_status status;

    for (size_t i = 0; i < count; i++)
        tensors += drafts[i]->tensor_count;
    status = mf_draft_number(facts, "*.block_count", &prune.blocks);
    if (status == MF_OK)
        status = take_blocks(&prune, blocks, block_count, tensors);
    for (size_t i = 0; i < count && status == MF_OK; i++)
        status = prune_tensors(&prune, drafts[i]);
    if (status == MF_OK)
        status = prune_metadata(&prune, drafts[0],
                                mf_draft_find_of(facts, "*.block_count")->key);
    mf_release(prune.env, prune.moved,
               (size_t)prune.blocks * sizeof(*prune.moved));
    return status;
}
