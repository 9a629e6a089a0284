/* SPDX-License-Identifier: MIT
 *
 * prune.c - a model without some of its blocks
 *
 * llama-quantize's --prune-layers.  Blocks after one that is left out move up:
 * with block 1 of 4 removed,
 *
 *     blk.0  blk.1  blk.2  blk.3
 *     blk.0    -    blk.1  blk.2
 *
 * The same happens to metadata with a value for each block, and block_count
 * becomes smaller.  No file says which arrays these are: an array counts if its
 * key has the architecture's prefix and its length is the number of blocks.  An
 * array that has that length by accident is shortened, too.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "lib/quantize/mix.h"
#include "lib/write/convert.h"

struct prune {
    struct mf_env *env;
    uint64_t blocks;      /* before */
    uint64_t *new_number; /* of each block; REMOVED: it is left out */
    uint64_t left;        /* blocks after */
};

#define REMOVED UINT64_MAX

/* The block number's digits: after "blk.", before a full stop, without leading
 * zeros, which would not come back. */
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

/* ---- blocks ---- */

static enum mf_status choose_blocks(struct prune *prune, const uint32_t *blocks,
                                    size_t count, uint64_t tensors)
{
    if (prune->blocks == 0 || prune->blocks > tensors)
        return mf_fail(prune->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "cannot leave out blocks: block_count is missing or "
                       "out of range");
    prune->new_number = mf_alloc(prune->env, (size_t)prune->blocks *
                                                 sizeof(*prune->new_number));
    if (!prune->new_number)
        return prune->env->error.status;
    memset(prune->new_number, 0,
           (size_t)prune->blocks * sizeof(*prune->new_number));
    for (size_t i = 0; i < count; i++) {
        if (blocks[i] >= prune->blocks)
            return mf_fail(prune->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                           "block %u is out of range: the model has %" PRIu64
                           " blocks",
                           blocks[i], prune->blocks);
        prune->new_number[blocks[i]] = REMOVED;
    }
    for (uint64_t i = 0; i < prune->blocks; i++)
        if (prune->new_number[i] != REMOVED)
            prune->new_number[i] = prune->left++;
    return prune->left > 0 ? MF_OK
                           : mf_fail(prune->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                                     "cannot leave out all %" PRIu64 " blocks",
                                     prune->blocks);
}

/* ---- tensors ---- */

static enum mf_status rename_block(struct mf_draft *draft, struct mf_str *name,
                                   struct mf_str digits, uint64_t number)
{
    size_t before = (size_t)(digits.at - name->at);
    size_t after = name->size - before - digits.size;
    char text[24];
    size_t size = (size_t)snprintf(text, sizeof(text), "%" PRIu64, number);
    char *moved = mf_arena_text(&draft->arena, before + size + after);

    if (!moved)
        return draft->env->error.status;
    memcpy(moved, name->at, before);
    memcpy(moved + before, text, size);
    memcpy(moved + before + size, digits.at + digits.size, after);
    *name = (struct mf_str){ moved, before + size + after };
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
        bool numbered = digits.at && old < prune->blocks;

        if (numbered && prune->new_number[old] == REMOVED)
            continue;
        if (numbered && prune->new_number[old] != old &&
            rename_block(draft, &tensor->name, digits,
                         prune->new_number[old]) != MF_OK)
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

static enum mf_status move_number(void *user, const struct mf_value *value)
{
    struct list *list = user;
    union mf_number number;
    uint64_t to;

    if (value->event != MF_EVENT_ITEM || list->at >= list->prune->blocks)
        return MF_OK;
    to = list->prune->new_number[list->at++];
    if (!mf_value_as(value, list->of, &number))
        return mf_fail(list->prune->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "a per-block metadata array does not hold numbers");
    if (to != REMOVED)
        list->number[to] = number;
    return MF_OK;
}

/* The entry is an array with a value for each block. */
static enum mf_status prune_list(const struct prune *prune,
                                 struct mf_draft *draft, struct mf_entry *entry)
{
    struct list list = { .prune = prune, .of = entry->of };
    enum mf_status status;

    list.number = mf_arena_take(&draft->arena,
                                (size_t)prune->left * sizeof(*list.number));
    if (!list.number)
        return draft->env->error.status;
    status = mf_entry_read(draft->env, entry, move_number, &list);
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

/* ---- the model ---- */

enum mf_status mf_prune(struct mf_draft *const *drafts, size_t count,
                        const struct mf_draft *facts, const uint32_t *blocks,
                        size_t block_count)
{
    struct prune prune = { .env = drafts[0]->env };
    uint64_t tensors = 0;
    enum mf_status status;

    assert(count > 0 && block_count > 0);
    for (size_t i = 0; i < count; i++)
        tensors += drafts[i]->tensor_count;
    status = mf_draft_number(facts, "*.block_count", &prune.blocks);
    if (status == MF_OK)
        status = choose_blocks(&prune, blocks, block_count, tensors);
    for (size_t i = 0; i < count && status == MF_OK; i++)
        status = prune_tensors(&prune, drafts[i]);
    if (status == MF_OK)
        status = prune_metadata(&prune, drafts[0],
                                mf_draft_find_of(facts, "*.block_count")->key);
    mf_release(prune.env, prune.new_number,
               (size_t)prune.blocks * sizeof(*prune.new_number));
    return status;
}
