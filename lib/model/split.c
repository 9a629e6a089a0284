/* SPDX-License-Identifier: MIT
 *
 * split.c - models whose files are numbered: PREFIX-00002-of-00005SUFFIX
 */

#include <stdio.h>
#include <string.h>

#include "lib/io/path.h"
#include "lib/model/model.h"
#include "lib/model/open_parts.h"

static bool five_digits(const char *at, unsigned *out)
{
    *out = 0;
    for (int i = 0; i < 5; i++) {
        if (at[i] < '0' || at[i] > '9')
            return false;
        *out = *out * 10 + (unsigned)(at[i] - '0');
    }
    return true;
}

bool mf_shard_name_match(const char *path, struct mf_shard_name *out)
{
    const char *name = mf_base_name(path), *dot = strrchr(name, '.');
    size_t tail = strlen("00001-of-00001");
    const char *numbers;

    if (!dot || (size_t)(dot - name) < tail + 1)
        return false;
    numbers = dot - tail;
    *out = (struct mf_shard_name){ .name = name,
                                   .prefix_size = (size_t)(numbers - name),
                                   .suffix = dot };
    return numbers[-1] == '-' && five_digits(numbers, &out->number) &&
           memcmp(numbers + 5, "-of-", 4) == 0 &&
           five_digits(numbers + 9, &out->count) && out->number >= 1 &&
           out->number <= out->count;
}

/* Closes all files and empties the index, to read the shards in order once one
 * of them has shown how many there are. */
static void start_over(struct mf_model *model)
{
    bool metadata_only = model->index.metadata_only;
    size_t findings_max = model->index.findings_max;

    while (model->file_count > 0)
        mf_source_close(&model->file[--model->file_count].source);
    mf_index_release(&model->index);
    model->index.metadata_only = metadata_only;
    model->index.findings_max = findings_max;
    model->format = NULL;
}

/* The path of shard `number`, from 1 on, in the folder of path. */
static const char *shard_path(struct mf_model *model, const char *path,
                              const struct mf_shard_name *pattern,
                              unsigned number)
{
    char numbers[32];
    size_t size = (size_t)snprintf(numbers, sizeof(numbers), "%05u-of-%05u",
                                   number, pattern->count);
    size_t suffix = strlen(pattern->suffix);
    char *name =
        mf_arena_text(&model->paths, pattern->prefix_size + size + suffix);

    if (!name)
        return NULL;
    memcpy(name, pattern->name, pattern->prefix_size);
    memcpy(name + pattern->prefix_size, numbers, size);
    memcpy(name + pattern->prefix_size + size, pattern->suffix, suffix);
    return mf_path_sibling(
        &model->paths, path,
        (struct mf_str){ name, pattern->prefix_size + size + suffix });
}

/* The header of shard i must say that it is number i of count. */
static enum mf_status check_number(struct mf_model *model, size_t i,
                                   unsigned count)
{
    const struct mf_part *part = &model->part[i];

    if (part->is_split && part->split_number == i && part->split_count == count)
        return MF_OK;
    if (!part->is_split)
        return mf_refuse(
            model->env, MF_RULE_SHARD_FOREIGN, MF_NO_OFFSET,
            "expected shard %zu of %u, but this file is not a shard", i + 1,
            count);
    return mf_refuse(model->env, MF_RULE_SHARD_FOREIGN, MF_NO_OFFSET,
                     "expected shard %zu of %u, but this file is shard "
                     "%" PRIu64 " of %" PRIu64,
                     i + 1, count, part->split_number + 1, part->split_count);
}

/* Opens every shard of the pattern in order; path, one of them, is open.
 * split: the header of each must have its number. */
static enum mf_status open_pattern(struct mf_model *model, const char *path,
                                   const struct mf_shard_name *pattern,
                                   bool split)
{
    /* Metadata is the first shard's. */
    unsigned count = model->index.metadata_only ? 1 : pattern->count;

    if (pattern->number > 1)
        start_over(model);
    for (unsigned i = (unsigned)model->file_count; i < count; i++) {
        const char *shard = shard_path(model, path, pattern, i + 1);

        if (!shard)
            return model->env->error.status;
        if (mf_model_add_file(model, shard) != MF_OK ||
            (split && check_number(model, i, pattern->count) != MF_OK))
            return mf_shard_add_context(model, shard);
    }
    return MF_OK;
}

static void check_split_total(struct mf_model *model)
{
    const struct mf_part *first = &model->part[0];

    if (model->index.metadata_only)
        return;
    for (size_t i = 1; i < model->file_count; i++) {
        if (model->part[i].split_tensors == first->split_tensors)
            continue;
        mf_index_note(&model->index, (uint32_t)i, MF_ERROR,
                      MF_RULE_SHARD_TENSORS, model->part[i].split_at,
                      "split.tensors.count is %" PRIu64 ", but %" PRIu64
                      " in the first shard",
                      model->part[i].split_tensors, first->split_tensors);
    }
    if (first->split_tensors == model->index.tensor_count)
        return;
    mf_index_note(&model->index, 0, MF_ERROR, MF_RULE_SHARD_TENSORS,
                  first->split_at,
                  "the shards have %zu tensors, but split.tensors.count is "
                  "%" PRIu64,
                  model->index.tensor_count, first->split_tensors);
}

enum mf_status mf_model_open_split(struct mf_model *model, const char *path)
{
    const struct mf_part *part = &model->part[0];
    struct mf_shard_name pattern;

    if (!mf_shard_name_match(path, &pattern) ||
        pattern.count != part->split_count ||
        pattern.number - 1 != part->split_number) {
        model->incomplete = true;
        mf_index_note(&model->index, 0, MF_ERROR_ELSEWHERE, MF_RULE_SHARD_NAME,
                      MF_NO_OFFSET,
                      "this is shard %" PRIu64 " of %" PRIu64
                      ", but its name does not end in -%05" PRIu64
                      "-of-%05" PRIu64 ": the other shards cannot be found",
                      part->split_number + 1, part->split_count,
                      part->split_number + 1, part->split_count);
        return MF_OK;
    }
    if (open_pattern(model, path, &pattern, true) == MF_OK)
        check_split_total(model);
    return model->env->error.status;
}

enum mf_status mf_model_require_complete(const struct mf_model *model)
{
    const struct mf_part *part = &model->part[0];
    uint64_t number = part->split_number + 1, count = part->split_count;

    if (!model->incomplete)
        return MF_OK;
    return mf_decline(model->env, MF_REASON_SHARD_STRAY, MF_NO_OFFSET,
                      "this is only shard %" PRIu64 " of %" PRIu64
                      ": the others cannot be found, because its name does not "
                      "end in -%05" PRIu64 "-of-%05" PRIu64,
                      number, count, number, count);
}

enum mf_status mf_model_open_numbered(struct mf_model *model, const char *path)
{
    struct mf_shard_name name;
    const char *index;

    if (mf_model_find_index(model, path, &index) != MF_OK)
        return model->env->error.status;
    if (index) {
        start_over(model);
        return mf_model_open_path(model, index, MF_SHARDS_AUTO);
    }
    return mf_shard_name_match(path, &name)
               ? open_pattern(model, path, &name, false)
               : MF_OK;
}
