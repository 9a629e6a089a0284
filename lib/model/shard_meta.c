/* SPDX-License-Identifier: MIT
 *
 * shard_meta.c - metadata of later shards, compared with the first one's
 *
 * Readers use the metadata of the first shard.  A later one may repeat a key of
 * it, but with the same value.
 */
#include <string.h>

#include "lib/base/str.h"
#include "lib/model/model.h"
#include "lib/model/shard_meta.h"

/* Keys that differ from shard to shard; opening has checked them. */
static bool is_per_shard(struct mf_str key)
{
    static const char head[] = "split.";

    return key.size >= strlen(head) && memcmp(key.at, head, strlen(head)) == 0;
}

/* By shard and key, and then in the order of the file. */
static bool earlier(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_meta *left = (const struct mf_meta *)table + a;
    const struct mf_meta *right = (const struct mf_meta *)table + b;
    bool shorter = left->key.size < right->key.size;
    int order;

    if (left->shard != right->shard)
        return left->shard < right->shard;
    order = memcmp(left->key.at, right->key.at,
                   shorter ? left->key.size : right->key.size);
    if (order != 0)
        return order < 0;
    return left->key.size != right->key.size ? shorter : a < b;
}

static bool same_key(const struct mf_meta *a, const struct mf_meta *b)
{
    return a->shard == b->shard && mf_str_same(a->key, b->key);
}

static enum mf_status check_duplicates(struct mf_index *index)
{
    size_t count = index->later_meta_count;
    uint32_t *row = mf_alloc(index->env, count * sizeof(*row));

    if (!row)
        return index->env->error.status;
    for (size_t i = 0; i < count; i++)
        row[i] = (uint32_t)i;
    mf_sort(row, count, earlier, index->later_meta);
    for (size_t i = 1; i < count; i++)
        if (same_key(&index->later_meta[row[i - 1]],
                     &index->later_meta[row[i]]))
            mf_index_note_duplicate(index, &index->later_meta[row[i - 1]],
                                    &index->later_meta[row[i]]);
    mf_release(index->env, row, count * sizeof(*row));
    return MF_OK;
}

/* Values that are still in the file count as equal if type and length are. */
static bool contradicts(const struct mf_meta *first,
                        const struct mf_meta *later)
{
    bool in_file = later->type == MF_VALUE_ARRAY ||
                   later->type == MF_VALUE_OBJECT ||
                   (later->type == MF_VALUE_STRING && !later->text.at);

    if (in_file)
        return first->type != later->type || first->of != later->of ||
               first->count != later->count;
    return !mf_meta_same(first, later);
}

enum mf_status mf_shards_check_metadata(struct mf_model *model)
{
    struct mf_index *index = &model->index;
    enum mf_status status = MF_OK;

    if (index->later_meta_count > 1)
        status = check_duplicates(index);
    for (size_t i = 0; i < index->later_meta_count && status == MF_OK; i++) {
        const struct mf_meta *later = &index->later_meta[i];
        size_t first = mf_names_find(&index->meta_names, later->key);

        if (is_per_shard(later->key) || first == MF_NOT_FOUND ||
            !contradicts(&index->meta[first], later))
            continue;
        mf_index_note(index, later->shard, MF_WARNING, MF_RULE_SHARD_METADATA,
                      later->span.offset,
                      "the value of '%s' differs from the first shard's",
                      mf_quote(later->key).text);
    }
    return status;
}
