/* SPDX-License-Identifier: MIT
 *
 * storages.c - what the tensors of an archive lie in
 */
#include "cli/commands/tensors/tensors.h"
#include "cli/json.h"

/* Not the whole file, which an array alone lies in. */
static bool is_member(const struct mf_storage *storage)
{
    return storage->data.offset > 0;
}

/* The next storage from *at on that tensors lie in; false after the last one.
 */
static bool next(const struct mf_model *model, size_t *at,
                 struct mf_storage *out)
{
    while (mf_storage_at(model, (*at)++, out))
        if (out->tensor_count > 0 && is_member(out))
            return true;
    return false;
}

void storage_json(struct run *run, const struct mf_model *model,
                  const struct mf_tensor *tensor)
{
    struct mf_storage storage;

    if (mf_storage_at(model, tensor->storage, &storage) && is_member(&storage))
        json_str(run, "storage", storage.name);
    if (tensor->stride) {
        mf_json_key(&run->json, "strides");
        mf_json_begin(&run->json, '[');
        for (uint32_t i = 0; i < tensor->rank; i++)
            mf_json_u64(&run->json, tensor->stride[i]);
        mf_json_end(&run->json, ']');
    }
    if (tensor->flags & MF_TENSOR_PACKED)
        json_bool(run, "packed", true);
    if (tensor->flags & MF_TENSOR_SWAPPED)
        json_bool(run, "big_endian", true);
}

static void list_json(struct run *run, const struct mf_model *model)
{
    struct mf_storage storage;

    mf_json_key(&run->json, "storages");
    mf_json_begin(&run->json, '[');
    for (size_t at = 0; next(model, &at, &storage);) {
        mf_json_begin(&run->json, '{');
        json_str(run, "name", storage.name);
        json_text(run, "method", storage.method);
        json_number(run, "offset", storage.data.offset);
        json_number(run, "file_bytes", storage.data.size);
        json_number(run, "bytes", storage.size);
        json_number(run, "tensors", storage.tensor_count);
        json_number(run, "shard", storage.shard);
        mf_json_end(&run->json, '}');
    }
    mf_json_end(&run->json, ']');
}

static void line_text(struct run *run, const struct mf_model *model)
{
    struct mf_storage storage, all = { .size = 0 };
    uint64_t count = 0, shared = 0;

    for (size_t at = 0; next(model, &at, &storage);) {
        count++;
        shared += storage.tensor_count > 1;
        all.size += storage.size;
        all.data.size += storage.data.size;
    }
    out_text(&run->out, "\nstorages: ");
    out_number(&run->out, count, 0);
    out_text(&run->out, " of ");
    out_number(&run->out, all.size, 0);
    out_text(&run->out, " bytes in all");
    if (all.data.size != all.size) {
        out_text(&run->out, ", ");
        out_number(&run->out, all.data.size, 0);
        out_text(&run->out, " as they are packed");
    }
    if (shared > 0) {
        out_text(&run->out, "; ");
        out_number(&run->out, shared, 0);
        out_text(&run->out, " with several tensors");
    }
    out_text(&run->out, "\n");
}

void storages_show(struct run *run, const struct mf_model *model)
{
    struct mf_storage storage;
    size_t at = 0;

    if (!next(model, &at, &storage))
        return;
    if (run->options->json)
        list_json(run, model);
    else
        line_text(run, model);
}
