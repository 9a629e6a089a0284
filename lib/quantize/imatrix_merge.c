/* SPDX-License-Identifier: MIT
 *
 * imatrix_merge.c - several importance matrices become one file
 *
 * The files are opened and their entries sorted by name; entries of one name
 * must have equal sizes.  Then the counts are read once, because the header
 * says how many chunks of text they make, and the values while they are
 * written.
 */
#include "lib/quantize/imatrix_merge.h"

#include <assert.h>
#include <string.h>

#include "lib/base/options.h"
#include "lib/base/sort.h"
#include "lib/base/str.h"
#include "lib/io/system.h"

/* What llama-imatrix takes where it is not told. */
#define CHUNK_SIZE 512

/* ---- the files ---- */

static enum mf_status open_inputs(struct mf_sums *sums,
                                  const char *const *paths, size_t count)
{
    static const struct mf_imatrix_choice all;

    sums->input = mf_arena_take(&sums->arena, count * sizeof(*sums->input));
    if (!sums->input)
        return sums->env->error.status;
    for (; sums->input_count < count; sums->input_count++) {
        sums->at = sums->input_count;
        if (mf_imatrix_open(sums->env, paths[sums->at], &all,
                            &sums->input[sums->at]) != MF_OK)
            return sums->env->error.status;
        sums->part_count += sums->input[sums->at]->count;
    }
    return MF_OK;
}

static enum mf_status guard_inputs(struct mf_sums *sums, const char *path)
{
    for (size_t i = 0; i < sums->input_count; i++)
        if (mf_path_is_source(path, mf_imatrix_source(sums->input[i])))
            return mf_decline(
                sums->env, MF_REASON_OUTPUT_IS_INPUT, MF_NO_OFFSET,
                "'%s' is one of the importance matrices: choose another name",
                mf_quote((struct mf_str){ path, strlen(path) }).text);
    return MF_OK;
}

static void release(struct mf_sums *sums)
{
    for (size_t i = 0; i < sums->input_count; i++)
        mf_imatrix_close(sums->input[i]);
    mf_release(sums->env, sums->more, MF_SUM_PIECE * sizeof(*sums->more));
    mf_arena_release(&sums->arena);
}

/* ---- entries ---- */

static bool earlier_part(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_sum_part *part = table;
    struct mf_str left = part[a].entry->name, right = part[b].entry->name;
    size_t size = left.size < right.size ? left.size : right.size;
    int order = memcmp(left.at, right.at, size);

    if (order == 0 && left.size == right.size)
        return part[a].input < part[b].input;
    return order != 0 ? order < 0 : left.size < right.size;
}

static enum mf_status sort_parts(struct mf_sums *sums)
{
    size_t count = sums->part_count, next = 0;
    struct mf_sum_part *parts =
        mf_arena_take(&sums->arena, count * sizeof(*parts));
    uint32_t *order = mf_arena_take(&sums->arena, count * sizeof(*order));

    sums->part = mf_arena_take(&sums->arena, count * sizeof(*parts));
    if (!parts || !order || !sums->part)
        return sums->env->error.status;
    for (size_t i = 0; i < sums->input_count; i++)
        for (size_t e = 0; e < sums->input[i]->count; e++)
            parts[next++] =
                (struct mf_sum_part){ &sums->input[i]->entry[e], i };
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    mf_sort(order, count, earlier_part, parts);
    for (size_t i = 0; i < count; i++)
        sums->part[i] = parts[order[i]];
    return MF_OK;
}

static enum mf_status mismatch(struct mf_sums *sums,
                               const struct mf_imatrix_entry *entry,
                               const char *what, uint64_t has, uint64_t needs)
{
    return mf_decline(sums->env, MF_REASON_IMATRIX_MISMATCH, entry->offset,
                      "tensor '%s' has %" PRIu64 " %s, but %" PRIu64
                      " in a matrix before: they belong to different models",
                      mf_quote(entry->name).text, has, what, needs);
}

/* Adds a part to the entry.  One count, as an old file has, may become several,
 * but several never become others. */
static enum mf_status join(struct mf_sums *sums, struct mf_sum *sum,
                           const struct mf_sum_part *part)
{
    const struct mf_imatrix_entry *entry = part->entry;
    uint64_t matrices = mf_imatrix_matrices(entry);

    sums->at = part->input;
    if (sum->count++ == 0) {
        sum->name = entry->name;
        sum->values = entry->count;
        sum->matrices = matrices;
        return MF_OK;
    }
    if (entry->count != sum->values)
        return mismatch(sums, entry, "values", entry->count, sum->values);
    if (sum->matrices == 1)
        sum->matrices = matrices;
    else if (matrices != sum->matrices && !sums->input[part->input]->old)
        return mismatch(sums, entry, "counts", matrices, sum->matrices);
    return MF_OK;
}

static enum mf_status join_parts(struct mf_sums *sums)
{
    struct mf_sum *sum = NULL;

    sums->sum =
        mf_arena_take(&sums->arena, sums->part_count * sizeof(*sums->sum));
    if (!sums->sum)
        return sums->env->error.status;
    for (size_t i = 0; i < sums->part_count; i++) {
        if (!sum || !mf_str_same(sum->name, sums->part[i].entry->name)) {
            sum = &sums->sum[sums->sum_count++];
            *sum = (struct mf_sum){ .first = i };
        }
        if (join(sums, sum, &sums->part[i]) != MF_OK)
            return sums->env->error.status;
    }
    return MF_OK;
}

/* ---- counts ---- */

static enum mf_status look_at_counts(struct mf_sums *sums, struct mf_sum *sum)
{
    int64_t counts[64];
    size_t some = sizeof(counts) / sizeof(*counts);

    for (uint64_t at = 0; at < sum->matrices; at += some) {
        uint64_t left = sum->matrices - at;
        size_t count = left < some ? (size_t)left : some;

        if (mf_sums_counts(sums, sum, at, counts, count) != MF_OK)
            return sums->env->error.status;
        for (size_t i = 0; i < count; i++) {
            sum->most = counts[i] > sum->most ? counts[i] : sum->most;
            sum->unused += counts[i] == 0;
        }
    }
    return MF_OK;
}

static enum mf_status count_chunks(struct mf_sums *sums)
{
    int64_t most = 0;

    for (size_t i = 0; i < sums->sum_count; i++) {
        if (look_at_counts(sums, &sums->sum[i]) != MF_OK)
            return sums->env->error.status;
        most = sums->sum[i].most > most ? sums->sum[i].most : most;
    }
    most /= sums->chunk_size;
    if (most > INT32_MAX)
        return mf_fail(sums->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "the matrices are of %" PRId64
                       " chunks of text together, which is more than 2^31",
                       most);
    sums->chunks = (uint32_t)most;
    return MF_OK;
}

/* ---- texts ---- */

static enum mf_status read_texts(struct mf_sums *sums, struct mf_values *values,
                                 char *text, size_t room)
{
    struct mf_str *out = NULL;
    struct mf_value value;
    enum mf_status status;

    while ((status = mf_values_next(values, &value)) == MF_OK &&
           value.event != MF_EVENT_DONE) {
        if (value.event != MF_EVENT_ITEM)
            continue;
        if (!out) {
            out = &sums->dataset[sums->dataset_count++];
            *out = (struct mf_str){ text, 0 };
        }
        assert(value.text.size <= room);
        memcpy(text, value.text.at, value.text.size);
        text += value.text.size;
        room -= value.text.size;
        (void)room; /* without asserts */
        out->size += value.text.size;
        if (!value.more)
            out = NULL;
    }
    return status;
}

/* Room for all rows was taken; their bytes are no more than the value has in
 * the file. */
static enum mf_status add_texts(struct mf_sums *sums, struct mf_model *model,
                                const struct mf_meta *meta, size_t at)
{
    char *text = mf_arena_text(&sums->arena, (size_t)meta->span.size);
    struct mf_values *values;
    enum mf_status status;

    if (!text || mf_values_open(model, at, &values) != MF_OK)
        return sums->env->error.status;
    status = read_texts(sums, values, text, (size_t)meta->span.size);
    mf_values_close(values);
    return status;
}

static bool find_texts(const struct mf_imatrix *imatrix, struct mf_meta *meta,
                       size_t *at)
{
    static const char key[] = "imatrix.datasets";

    return mf_meta_find(imatrix->model, key, sizeof(key) - 1, meta, at) &&
           meta->type == MF_VALUE_ARRAY && meta->of == MF_VALUE_STRING;
}

static enum mf_status list_texts(struct mf_sums *sums)
{
    struct mf_meta meta;
    size_t count = 0, at;

    for (size_t i = 0; i < sums->input_count; i++)
        if (find_texts(sums->input[i], &meta, &at))
            count += (size_t)meta.count;
    sums->dataset =
        mf_arena_take(&sums->arena, (count + 1) * sizeof(*sums->dataset));
    if (!sums->dataset)
        return sums->env->error.status;
    for (size_t i = 0; i < sums->input_count; i++) {
        sums->at = i;
        if (find_texts(sums->input[i], &meta, &at) &&
            add_texts(sums, sums->input[i]->model, &meta, at) != MF_OK)
            return sums->env->error.status;
    }
    return MF_OK;
}

/* ---- all of it ---- */

static enum mf_status plan(struct mf_sums *sums, const char *const *paths,
                           size_t count, const char *out)
{
    sums->more = mf_alloc(sums->env, MF_SUM_PIECE * sizeof(*sums->more));
    if (!sums->more || open_inputs(sums, paths, count) != MF_OK ||
        guard_inputs(sums, out) != MF_OK || sort_parts(sums) != MF_OK ||
        join_parts(sums) != MF_OK || count_chunks(sums) != MF_OK)
        return sums->env->error.status;
    return list_texts(sums);
}

static void fill_result(const struct mf_sums *sums, bool old, uint64_t size,
                        struct mf_imatrix_merge_result *out)
{
    *out = (struct mf_imatrix_merge_result){
        .format = old ? "imatrix" : "gguf",
        .file_size = size,
        .entries = sums->sum_count,
        .chunks = sums->chunks,
        .chunk_size = sums->chunk_size,
        .datasets = sums->dataset_count,
    };
    for (size_t i = 0; i < sums->sum_count; i++) {
        const struct mf_sum *sum = &sums->sum[i];

        out->partial += sum->unused > 0 && sum->unused < sum->matrices;
        out->empty += sum->unused == sum->matrices;
    }
}

static enum mf_status check(struct mf_env *env, const char *const *paths,
                            size_t count, const char *path)
{
    MF_NEED(env, paths);
    MF_NEED(env, path);
    if (count == 0)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "there is no importance matrix to be merged");
    for (size_t i = 0; i < count; i++)
        MF_NEED(env, paths[i]);
    return MF_OK;
}

enum mf_status mf_imatrix_merge(struct mf_env *env, const char *const *paths,
                                size_t count, const char *path,
                                const struct mf_imatrix_merge_options *options,
                                struct mf_imatrix_merge_result *out)
{
    MF_NEED(NULL, env);

    struct mf_imatrix_merge_options known;

    if (check(env, paths, count, path) != MF_OK ||
        mf_options_take(env, &known, sizeof(known), options) != MF_OK)
        return MF_ERR_ARGUMENT;

    struct mf_sums sums = { .env = env,
                            .chunk_size = known.chunk_size > 0
                                              ? known.chunk_size
                                              : CHUNK_SIZE };
    uint64_t size = 0;
    enum mf_status status;

    mf_clear_error(env);
    mf_arena_init(&sums.arena, env);
    status = plan(&sums, paths, count, path);
    if (status == MF_OK)
        status = known.old ? mf_sums_write_old(&sums, path, known.replace,
                                               known.dry_run, &size)
                           : mf_sums_write_gguf(&sums, path, known.replace,
                                                known.dry_run, &size);
    if (status == MF_OK && out)
        fill_result(&sums, known.old, size, out);
    else if (out)
        *out = (struct mf_imatrix_merge_result){ .input = sums.at };
    release(&sums);
    return status;
}
