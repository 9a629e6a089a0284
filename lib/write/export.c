/* SPDX-License-Identifier: MIT
 *
 * export.c - one tensor as a file of its own: a NumPy array, or its bytes
 *
 * Both are formats of one tensor that are written and never read: their rows
 * are here and not in the table of formats, and the rest of the room treats
 * them like any other.
 */
#include <assert.h>
#include <stdio.h>

#include "lib/base/options.h"
#include "lib/write/convert.h"

#define NPY_ALIGNMENT 64

static uint32_t any_type(enum mf_type type)
{
    (void)type;
    return 0;
}

static enum mf_status check(struct mf_draft *draft)
{
    (void)draft;
    return MF_OK;
}

static enum mf_status no_head(const struct mf_draft *draft,
                              struct mf_sink *sink)
{
    (void)draft, (void)sink;
    return MF_OK;
}

/* What NumPy calls a type; NULL where it has none. */
static const char *npy_descr(enum mf_type type)
{
    switch (type) {
    case MF_TYPE_F64:
        return "<f8";
    case MF_TYPE_F32:
        return "<f4";
    case MF_TYPE_F16:
        return "<f2";
    case MF_TYPE_I8:
        return "|i1";
    case MF_TYPE_I16:
        return "<i2";
    case MF_TYPE_I32:
        return "<i4";
    case MF_TYPE_I64:
        return "<i8";
    case MF_TYPE_U8:
        return "|u1";
    case MF_TYPE_U16:
        return "<u2";
    case MF_TYPE_U32:
        return "<u4";
    case MF_TYPE_U64:
        return "<u8";
    case MF_TYPE_BOOL:
        return "|b1";
    case MF_TYPE_C64:
        return "<c8";
    default:
        return NULL;
    }
}

/* Version 1.0 of the NPY format: magic, length of the rest of the header, and
 * a Python dictionary literal, padded with spaces and ended by a newline. */
static enum mf_status npy_head(const struct mf_draft *draft,
                               struct mf_sink *sink)
{
    const struct mf_draft_tensor *tensor = &draft->tensor[0];
    const char *descr = npy_descr((enum mf_type)tensor->type);
    char text[64 + 24 * MF_RANK_MAX];
    size_t size, head = 10, padded;

    assert(descr);
    size = (size_t)snprintf(text, sizeof(text),
                            "{'descr': '%s', 'fortran_order': False, "
                            "'shape': (",
                            descr);
    for (uint32_t i = 0; i < tensor->rank; i++)
        size += (size_t)snprintf(text + size, sizeof(text) - size,
                                 "%" PRIu64 ", ", tensor->dim[i]);
    size += (size_t)snprintf(text + size, sizeof(text) - size, ")}");
    padded =
        (head + size + 1 + NPY_ALIGNMENT - 1) / NPY_ALIGNMENT * NPY_ALIGNMENT;
    mf_put(sink, "\x93NUMPY\1\0", 8);
    mf_put_u16(sink, (uint16_t)(padded - head));
    mf_put(sink, text, size);
    mf_put_filler(sink, ' ', padded - head - size - 1);
    mf_put(sink, "\n", 1);
    return MF_OK;
}

static const struct mf_format_out npy_out = { .alignment = 1,
                                              .check = check,
                                              .head = npy_head };
static const struct mf_format_out raw_out = { .alignment = 1,
                                              .check = check,
                                              .head = no_head };
static const struct mf_format npy = { .name = "npy",
                                      .variant = "",
                                      .type_id = any_type };
static const struct mf_format raw = { .name = "raw",
                                      .variant = "",
                                      .type_id = any_type };

static enum mf_status list_tensor(struct mf_draft *draft,
                                  const struct mf_model *model, size_t index)
{
    struct mf_draft_tensor *tensor;
    uint64_t elements;

    if (mf_draft_list_tensors(draft, model, NULL, index, 1) != MF_OK)
        return draft->env->error.status;
    tensor = &draft->tensor[0];
    if (draft->format == &raw || tensor->type == MF_TYPE_UNKNOWN ||
        npy_descr((enum mf_type)tensor->type))
        return MF_OK;
    tensor->type = MF_TYPE_F32;
    if (!mf_elements(tensor->dim, tensor->rank, &elements) ||
        !mf_type_size(MF_TYPE_F32, elements, &tensor->size))
        tensor->size = UINT64_MAX;
    return MF_OK;
}

static enum mf_status check_tensor(struct mf_model *model, size_t index,
                                   bool as_bytes)
{
    const struct mf_record *record = &model->index.tensor[index];

    if (record->flags & MF_TENSOR_DAMAGED)
        return mf_fail(model->env, MF_ERR_CORRUPT, record->entry,
                       "tensor '%s' is damaged", mf_record_name(record).text);
    if (!as_bytes && record->type == MF_TYPE_UNKNOWN)
        return mf_decline(
            model->env, MF_REASON_TYPE_NOT_DECODED, record->entry,
            "tensor '%s' has an unknown type: only its bytes can be "
            "exported",
            mf_record_name(record).text);
    return MF_OK;
}

enum mf_status mf_tensor_export(struct mf_model *model, size_t index,
                                const char *path,
                                const struct mf_export_options *options)
{
    MF_NEED(NULL, model);
    MF_NEED(model->env, path);

    struct mf_export_options known;

    if (mf_options_take(model->env, &known, sizeof(known), options) != MF_OK)
        return MF_ERR_ARGUMENT;

    struct mf_env *env = model->env;
    struct mf_output output = { .target = MF_TARGET_NONE };
    struct mf_outputs outputs = { .env = env,
                                  .model = model,
                                  .output = &output,
                                  .count = 1,
                                  .index = MF_TARGET_NONE };
    enum mf_status status;

    mf_clear_error(env);
    options = &known;
    if (index >= model->index.tensor_count)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "tensor index %zu is out of range", index);
    if (check_tensor(model, index, options->raw) != MF_OK)
        return env->error.status;
    mf_draft_init(&output.draft, env, options->raw ? &raw : &npy);
    output.draft.out = options->raw ? &raw_out : &npy_out;
    output.path = path;
    status = list_tensor(&output.draft, model, index);
    if (status == MF_OK)
        status = mf_draft_plan(&output.draft);
    if (status == MF_OK)
        status = mf_outputs_write(&outputs, options->replace, false);
    mf_target_abort(&output.target);
    mf_draft_release(&output.draft);
    return status;
}
