/* SPDX-License-Identifier: MIT
 *
 * lists.c - lists of a number for each block
 *
 * A loader that stops at such a list is what lib/arch knows; here the list
 * itself is the fault: without it the size of a cache is unknown.
 */
#include "lib/check/check.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/model/facts.h"

/* Blocks for speculative decoding need no number. */
static uint64_t drafts(const struct mf_model *model)
{
    struct mf_meta name, meta;
    uint64_t count;
    char key[256];
    int size;

    if (!mf_model_fact(model, MF_FACT_ARCHITECTURE, &name, NULL) ||
        name.text.size > sizeof(key) / 2)
        return 0;
    size = snprintf(key, sizeof(key), "%.*s.nextn_predict_layers",
                    (int)name.text.size, name.text.at);
    return mf_meta_find(model, key, (size_t)size, &meta, NULL) &&
                   mf_meta_unsigned(&meta, &count)
               ? count
               : 0;
}

/* Whether the list was reported as one that the loader refuses. */
static bool is_reported(const struct mf_index *index, uint64_t offset)
{
    for (size_t i = 0; i < index->finding_count; i++)
        if (index->finding[i].offset == offset &&
            mf_rule_of(index->finding[i].rule) == MF_RULE_MODEL_KEY)
            return true;
    return false;
}

void mf_lists_check(struct mf_model *model)
{
    static const enum mf_fact lists[] = { MF_FACT_HEAD_COUNT,
                                          MF_FACT_HEAD_COUNT_KV,
                                          MF_FACT_SLIDING_WINDOW_PATTERN };
    struct mf_index *index = &model->index;
    struct mf_meta meta;
    uint64_t blocks, less = drafts(model);

    if (!mf_model_fact(model, MF_FACT_BLOCK_COUNT, &meta, NULL) ||
        !mf_meta_unsigned(&meta, &blocks))
        return;
    blocks = less < blocks ? blocks - less : 0;
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
        if (mf_model_fact(model, lists[i], &meta, NULL) &&
            meta.type == MF_VALUE_ARRAY && meta.count < blocks &&
            !is_reported(index, meta.span.offset))
            mf_index_note(index, meta.shard, MF_WARNING, MF_RULE_MODEL_CACHE,
                          meta.span.offset,
                          "'%s' has %" PRIu64 " elements for %" PRIu64
                          " blocks: the size of the cache is not known",
                          mf_quote(meta.key).text, meta.count, blocks);
}
