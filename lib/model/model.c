/* SPDX-License-Identifier: MIT
 *
 * model.c - opening, querying and closing a model
 */
#include "lib/model/model.h"
#include "lib/base/options.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/sort.h"
#include "lib/base/timings.h"
#include "lib/model/open_path.h"
#include "lib/model/shards.h"
#include "lib/model/steady.h"

/* ---- opening ---- */

/* Copies path: messages and mf_shard_at need it later. */
static const char *keep_path(struct mf_model *model, const char *path)
{
    size_t size = strlen(path);
    char *copy = mf_arena_reserve(&model->paths, size + 1) == MF_OK
                     ? mf_arena_text(&model->paths, size)
                     : NULL;

    if (copy)
        memcpy(copy, path, size);
    return copy;
}

static struct mf_model *model_new(struct mf_env *env,
                                  const struct mf_open_options *options)
{
    struct mf_model *model = mf_alloc(env, sizeof(*model));

    if (!model)
        return NULL;
    mf_env_hold(env);
    *model = (struct mf_model){ .env = env };
    mf_index_init(&model->index, env);
    mf_arena_init(&model->paths, env);
    model->index.metadata_only = options && options->metadata_only;
    model->index.tensors_only = options && options->tensors_only;
    model->index.missing.allowed = options && options->allow_missing;
    model->may_be_bare = options && options->bare;
    if (options && options->findings_max > 0)
        model->index.findings_max = options->findings_max;
    return model;
}

static void count_findings(struct mf_model *model)
{
    for (size_t i = 0; i < MF_RULE_COUNT; i++) {
        const uint32_t *found = model->index.tally[i];

        model->info.error_count += found[MF_ERROR];
        model->info.warning_count += found[MF_WARNING];
        model->info.note_count += found[MF_NOTE];
    }
}

/* Damaged tensors may claim any size: the sum stops at UINT64_MAX. */
static void add_saturated(uint64_t *sum, uint64_t more)
{
    if (!mf_add(*sum, more, sum))
        *sum = UINT64_MAX;
}

void mf_model_count(struct mf_model *model)
{
    const struct mf_index *index = &model->index;
    struct mf_model_info *info = &model->info;

    info->tensor_count = index->tensor_count;
    info->missing_count = index->missing.count;
    info->parameters = info->data_size = 0;
    for (size_t i = 0; i < index->tensor_count; i++) {
        const struct mf_record *record = &index->tensor[i];
        uint64_t elements = 0;

        mf_elements(record->dim, record->rank, &elements);
        add_saturated(&info->parameters, elements);
        add_saturated(&info->data_size, record->size);
    }
}

static void fill_info(struct mf_model *model)
{
    const struct mf_index *index = &model->index;
    struct mf_model_info *info = &model->info;

    *info = (struct mf_model_info){
        .format = model->format->name,
        .variant = index->kind.variant,
        .version = index->kind.version,
        .version_minor = index->kind.version_minor,
        .byte_order = index->kind.byte_order,
        .fastest_first = model->format->fastest_first != index->reversed,
        .has_tensors = !index->metadata_only,
        .metadata_count = index->meta_count,
        .shard_count = model->file_count,
        .data_offset = model->part[0].data_offset,
        .alignment = model->part[0].alignment,
    };
    count_findings(model);
    for (size_t i = 0; i < model->file_count; i++) {
        info->file_size += model->file[i].source.size;
        info->pending_edit |= model->file[i].source.overlay.count > 0;
    }
    mf_model_count(model);
}

/* What all formats share, once all headers have been parsed. */
static enum mf_status finish(struct mf_model *model)
{
    struct mf_index *index = &model->index;

    if (mf_index_check(index, model->part, model->file_count,
                       model->format->layout) != MF_OK ||
        (!index->tensor_names.slot && mf_index_build_names(index) != MF_OK))
        return model->env->error.status;
    fill_info(model);
    index->opened = true;
    return index->status;
}

/* Ends opening: *out becomes the model, or it is closed. */
static enum mf_status complete(struct mf_model *model, enum mf_status status,
                               struct mf_model **out)
{
    struct mf_timed timed = mf_timed_begin(model->env, MF_PHASE_INDEX);

    if (status == MF_OK)
        status = finish(model);
    mf_timed_end(model->env, timed);
    if (status == MF_OK)
        *out = model;
    else
        mf_model_close(model);
    return status;
}

enum mf_status mf_model_open(struct mf_env *env, const char *path,
                             const struct mf_open_options *options,
                             struct mf_model **out)
{
    MF_NEED(NULL, env);
    MF_NEED(env, path);
    MF_NEED(env, out);

    struct mf_open_options known;
    struct mf_model *model;
    struct mf_timed timed;
    enum mf_status status;
    const char *kept;

    if (mf_options_take(env, &known, sizeof(known), options) != MF_OK)
        return MF_ERR_ARGUMENT;
    model = model_new(env, &known);
    if (!model)
        return env->error.status;
    timed = mf_timed_begin(env, MF_PHASE_OPEN);
    kept = keep_path(model, path);
    status = complete(model,
                      kept ? mf_model_open_path(model, kept, known.shards)
                           : env->error.status,
                      out);
    mf_error_about(env, path);
    mf_timed_end(env, timed);
    return status;
}

enum mf_status mf_model_open_source(struct mf_env *env, const char *name,
                                    const struct mf_source *source,
                                    const struct mf_open_options *options,
                                    struct mf_model **out)
{
    struct mf_model *model = model_new(env, options);
    struct mf_source kept = *source;
    enum mf_status status;

    if (model)
        kept.name = keep_path(model, name);
    if (!model || !kept.name)
        mf_source_close(&kept);
    if (!model)
        return env->error.status;
    status = kept.name ? mf_model_add_source(model, &kept, kept.name)
                       : env->error.status;
    if (status == MF_OK && !model->format->parse)
        status =
            mf_decline(env, MF_REASON_SHARD_LIST_ALONE, MF_NO_OFFSET,
                       "this is only a list of shards, which need a folder");
    return complete(model, status, out);
}

enum mf_status mf_model_open_memory(struct mf_env *env, const char *name,
                                    const void *bytes, size_t size,
                                    const struct mf_open_options *options,
                                    struct mf_model **out)
{
    MF_NEED(NULL, env);
    MF_NEED(env, name);
    MF_NEED(env, bytes || size == 0);
    MF_NEED(env, out);

    struct mf_open_options known;
    struct mf_source source;

    if (mf_options_take(env, &known, sizeof(known), options) != MF_OK)
        return MF_ERR_ARGUMENT;
    mf_source_open_memory(name, bytes, size, &source);
    return mf_model_open_source(env, name, &source, &known, out);
}

static void release(struct mf_model *model)
{
    struct mf_env *env = model->env;

    for (size_t i = 0; i < model->file_count; i++)
        mf_source_close(&model->file[i].source);
    mf_release(env, model->file, model->file_room * sizeof(*model->file));
    mf_release(env, model->part, model->part_room * sizeof(*model->part));
    mf_seen_forget(model);
    mf_index_release(&model->index);
    mf_arena_release(&model->paths);
    mf_release(env, model, sizeof(*model));
    mf_env_leave(env);
}

static void release_unused(struct mf_model *model)
{
    if (model->closed && model->values == 0)
        release(model);
}

void mf_model_close(struct mf_model *model)
{
    if (!model)
        return;
    model->closed = true;
    release_unused(model);
}

void mf_model_hold(struct mf_model *model)
{
    model->values++;
}

void mf_model_leave(struct mf_model *model)
{
    model->values--;
    release_unused(model);
}

/* ---- queries ---- */

const struct mf_model_info *mf_model_info(const struct mf_model *model)
{
    static const struct mf_model_info none = { .format = "", .variant = "" };

    return model ? &model->info : &none;
}

bool mf_shard_at(const struct mf_model *model, size_t index,
                 struct mf_shard *out)
{
    if (!model || !out)
        return false;

    if (index >= model->file_count)
        return false;
    *out = (struct mf_shard){ .path = model->file[index].path,
                              .size = model->file[index].source.size,
                              .data_offset = model->part[index].data_offset,
                              .tensor_count = model->part[index].count };
    return true;
}

static void type_name(const struct mf_model *model,
                      const struct mf_record *record, char *out, size_t size)
{
    const char *name = NULL;

    if (record->type != MF_TYPE_UNKNOWN)
        name = mf_types[record->type].name;
    else if (model->format->type_name)
        name = model->format->type_name(record->type_id);
    if (name)
        memcpy(out, name, strlen(name) < size ? strlen(name) + 1 : size - 1);
    else
        snprintf(out, size, "type_%" PRIu32, record->type_id);
}

static void describe(const struct mf_model *model, size_t index,
                     struct mf_tensor *out)
{
    const struct mf_record *record = &model->index.tensor[index];

    *out = (struct mf_tensor){
        .name = { record->name, record->name_size },
        .type_id = record->type_id,
        .rank = record->rank,
        .dim = record->dim,
        .data = { record->offset, record->size },
        .shard = record->shard,
        .flags = record->flags & (MF_TENSOR_DAMAGED | MF_TENSOR_SIZE_INFERRED),
        .storage = record->storage > 0 ? record->storage - 1 : MF_NO_STORAGE,
    };
    mf_stored_describe(&model->index, record, out);
    mf_elements(record->dim, record->rank, &out->parameters);
    type_name(model, record, out->type, sizeof(out->type));
}

bool mf_tensor_at(const struct mf_model *model, size_t index,
                  struct mf_tensor *out)
{
    if (!model || !out)
        return false;

    if (index >= model->index.tensor_count)
        return false;
    describe(model, index, out);
    return true;
}

bool mf_storage_at(const struct mf_model *model, size_t index,
                   struct mf_storage *out)
{
    if (!model || !out)
        return false;

    const struct mf_stored *row;

    if (index >= model->index.stored.stored_count)
        return false;
    row = &model->index.stored.stored[index];
    *out = (struct mf_storage){ .name = row->name,
                                .data = row->file,
                                .size = row->size,
                                .method = row->method == MF_METHOD_PLAIN
                                              ? "stored"
                                              : "deflated",
                                .shard = row->shard,
                                .tensor_count = row->tensors };
    return true;
}

bool mf_tensor_by_offset(const struct mf_model *model, size_t index,
                         struct mf_tensor *out)
{
    if (!model || !out)
        return false;

    if (index >= model->index.tensor_count)
        return false;
    describe(model,
             model->index.by_offset ? model->index.by_offset[index] : index,
             out);
    return true;
}

static bool larger(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_record *tensor = ((const struct mf_index *)table)->tensor;

    return tensor[a].size != tensor[b].size ? tensor[a].size > tensor[b].size
                                            : a < b;
}

static bool earlier_name(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_record *tensor = ((const struct mf_index *)table)->tensor;
    const struct mf_record *left = &tensor[a], *right = &tensor[b];
    bool shorter = left->name_size < right->name_size;
    int order = memcmp(left->name, right->name,
                       shorter ? left->name_size : right->name_size);

    if (order != 0)
        return order < 0;
    return left->name_size != right->name_size ? shorter : a < b;
}

static bool earlier_place(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_index *index = table;
    const struct mf_record *left = &index->tensor[a];
    const struct mf_record *right = &index->tensor[b];
    uint64_t left_at = mf_stored_place(index, left->offset);
    uint64_t right_at = mf_stored_place(index, right->offset);

    if (left->shard != right->shard)
        return left->shard < right->shard;
    return left_at != right_at ? left_at < right_at : a < b;
}

void mf_tensor_sort(const struct mf_model *model, enum mf_order order,
                    uint32_t *index, size_t count)
{
    static mf_before *const before[] = { [MF_ORDER_SIZE] = larger,
                                         [MF_ORDER_NAME] = earlier_name,
                                         [MF_ORDER_OFFSET] = earlier_place };

    if (!model || !index || (size_t)order >= sizeof(before) / sizeof(*before))
        return;

    mf_sort(index, count, before[order], &model->index);
}

bool mf_tensor_find(const struct mf_model *model, const char *name,
                    size_t name_size, struct mf_tensor *out, size_t *at)
{
    if (!model || !name || !out)
        return false;

    size_t index = mf_names_find(&model->index.tensor_names,
                                 (struct mf_str){ name, name_size });

    if (index == MF_NOT_FOUND)
        return false;
    describe(model, index, out);
    if (at)
        *at = index;
    return true;
}

bool mf_meta_at(const struct mf_model *model, size_t index, struct mf_meta *out)
{
    if (!model || !out)
        return false;

    if (index >= model->index.meta_count)
        return false;
    *out = model->index.meta[index];
    return true;
}

bool mf_meta_find(const struct mf_model *model, const char *key,
                  size_t key_size, struct mf_meta *out, size_t *at)
{
    if (!model || !key || !out)
        return false;

    size_t index = mf_names_find(&model->index.meta_names,
                                 (struct mf_str){ key, key_size });

    if (index == MF_NOT_FOUND)
        return false;
    *out = model->index.meta[index];
    if (at)
        *at = index;
    return true;
}

bool mf_finding_at(const struct mf_model *model, size_t index,
                   struct mf_finding *out)
{
    if (!model || !out)
        return false;

    if (index >= model->index.finding_count)
        return false;
    *out = model->index.finding[index];
    return true;
}
