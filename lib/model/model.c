/* SPDX-License-Identifier: MIT
 *
 * model.c - what a model has
 */
#include "lib/model/model.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/sort.h"

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

int mf_shard_fd(const struct mf_model *model, size_t index)
{
    return model && index < model->file_count ? model->file[index].source.fd
                                              : -1;
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
    if (mf_record_is_swapped(model, record))
        out->flags |= MF_TENSOR_SWAPPED;
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

/* How many of count there are from first on. */
static size_t some_of(size_t total, size_t first, size_t count)
{
    size_t left = first < total ? total - first : 0;

    return count < left ? count : left;
}

size_t mf_tensors_at(const struct mf_model *model, size_t first, size_t count,
                     struct mf_tensor *out)
{
    if (!model || !out)
        return 0;

    count = some_of(model->index.tensor_count, first, count);
    for (size_t i = 0; i < count; i++)
        describe(model, first + i, &out[i]);
    return count;
}

uint32_t mf_tensor_shape(const struct mf_model *model,
                         const struct mf_tensor *tensor,
                         uint64_t shape[MF_RANK_MAX])
{
    if (!model || !tensor || !shape)
        return 0;

    for (uint32_t i = 0; i < tensor->rank; i++)
        shape[i] =
            tensor->dim[model->info.fastest_first ? tensor->rank - 1 - i : i];
    return tensor->rank;
}

/* False where the journal of an edit has some of them. */
static bool file_has(const struct mf_source *source,
                     const struct mf_record *record)
{
    const struct mf_overlay *overlay = &source->overlay;

    for (size_t i = 0; i < overlay->count; i++)
        if (overlay->span[i].offset < record->offset + record->size &&
            record->offset < overlay->span[i].offset + overlay->span[i].size)
            return false;
    return source->fd >= 0;
}

bool mf_tensor_place(const struct mf_model *model, size_t index,
                     struct mf_file_span *out)
{
    const struct mf_record *record;

    if (!model || !out || index >= model->index.tensor_count)
        return false;

    record = &model->index.tensor[index];
    if (record->flags & MF_TENSOR_DAMAGED || record->offset >= MF_STORED_BASE ||
        mf_record_is_swapped(model, record) ||
        !file_has(&model->file[record->shard].source, record))
        return false;
    *out = (struct mf_file_span){ .shard = record->shard,
                                  .path = model->file[record->shard].path,
                                  .data = { record->offset, record->size } };
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

size_t mf_metas_at(const struct mf_model *model, size_t first, size_t count,
                   struct mf_meta *out)
{
    if (!model || !out)
        return 0;

    count = some_of(model->index.meta_count, first, count);
    for (size_t i = 0; i < count; i++)
        out[i] = model->index.meta[first + i];
    return count;
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
