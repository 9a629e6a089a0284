/* SPDX-License-Identifier: MIT
 *
 * draft_tensors.c - a model's tensors, with the names and types that the new
 * file will have
 */
#include "lib/base/str.h"
#include "lib/write/convert.h"

enum mf_status mf_draft_check_source(struct mf_model *model)
{
    if (mf_missing_refuse(model) != MF_OK)
        return model->env->error.status;
    if (model->format->written || model->format->is_source)
        return MF_OK;
    if (mf_table_refuse(model) != MF_OK)
        return model->env->error.status;
    return mf_fail(model->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "reading the tensors of %s %s is not supported",
                   model->format->name, model->format->variant);
}

/* APR has tensors with more or fewer bytes than their shape implies: rows that
 * are padded to whole blocks, scalars without bytes. */
static enum mf_status check_size(const struct mf_draft *draft,
                                 const struct mf_record *record)
{
    uint64_t elements, size;

    if (mf_elements(record->dim, record->rank, &elements) &&
        mf_type_size((enum mf_type)record->type, elements, &size) &&
        size == record->size)
        return MF_OK;
    return mf_fail(draft->env, MF_ERR_UNSUPPORTED, record->entry,
                   "%s cannot carry tensor '%s': its %" PRIu64
                   " bytes do not match its shape",
                   draft->format->name, mf_record_name(record).text,
                   record->size);
}

/* Dimensions in the draft's order; a copy in the arena where that differs. */
static const uint64_t *dims_of(struct mf_draft *draft, bool fastest_first,
                               const uint64_t *from, uint32_t rank)
{
    uint64_t *dim;

    if (draft->format->fastest_first == fastest_first || rank < 2)
        return from;
    dim = mf_arena_take(&draft->arena, rank * sizeof(*dim));
    for (uint32_t i = 0; dim && i < rank; i++)
        dim[i] = from[rank - 1 - i];
    return dim;
}

/* For a float type, one that most formats have and that represents all of its
 * values; MF_TYPE_UNKNOWN for others. */
static enum mf_type wider_type(enum mf_type type)
{
    switch (type) {
    case MF_TYPE_F32:
    case MF_TYPE_F16:
    case MF_TYPE_BF16:
    case MF_TYPE_F64:
        return type;
    case MF_TYPE_F8_E4M3:
    case MF_TYPE_F8_E5M2:
    case MF_TYPE_F8_E4M3FNUZ:
    case MF_TYPE_F8_E5M2FNUZ:
        return MF_TYPE_F16;
    case MF_TYPE_F8_E8M0:
        return MF_TYPE_F32;
    default:
        return MF_TYPE_UNKNOWN;
    }
}

/* Only what stands for floats can become floats. */
enum mf_reason mf_draft_type_reason(enum mf_type type)
{
    return mf_type_is_quantized(type) || wider_type(type) != MF_TYPE_UNKNOWN
               ? MF_REASON_TYPE_NOT_CARRIED
               : MF_REASON_TYPE_MISSING;
}

static enum mf_status refuse_type(const struct mf_draft *draft,
                                  const struct mf_model *model,
                                  const struct mf_draft_tensor *tensor,
                                  const char *name)
{
    enum mf_type type = (enum mf_type)tensor->from;

    return mf_decline(draft->env, mf_draft_type_reason(type),
                      tensor->made ? MF_NO_OFFSET
                                   : model->index.tensor[tensor->record].entry,
                      "%s cannot carry tensor '%s', which is %s",
                      draft->format->name, mf_quote(tensor->name).text, name);
}

/* As llama.cpp's converter has it: a norm counts as a vector even when it has
 * a row for each head. */
static bool is_vector(const struct mf_draft_tensor *tensor)
{
    return tensor->rank < 2 || mf_str_ends(tensor->name, "_norm.weight");
}

/* The type that a tensor of floats gets.  Narrow types are for matrices.  Norms
 * and biases keep theirs, or become f32 in GGUF: ggml adds and multiplies by
 * nothing else. */
static enum mf_type new_type(const struct mf_draft *draft,
                             const struct mf_draft_tensor *tensor)
{
    enum mf_type type = (enum mf_type)tensor->type, wider = wider_type(type);
    bool chosen = draft->floats != MF_TYPE_UNKNOWN;

    if (draft->dequantize && mf_type_is_quantized(type))
        return draft->floats;
    if (wider == MF_TYPE_UNKNOWN)
        return type;
    if (chosen && (draft->floats == MF_TYPE_F32 || !is_vector(tensor)))
        return draft->floats;
    if ((draft->f32_vectors || (chosen && draft->out->f32_vectors)) &&
        is_vector(tensor) && type != MF_TYPE_F64)
        return MF_TYPE_F32;
    return draft->lossy && draft->format->type_id(type) == MF_NO_TYPE_ID ? wider
                                                                         : type;
}

static void set_type(const struct mf_draft *draft,
                     struct mf_draft_tensor *tensor)
{
    enum mf_type type = new_type(draft, tensor);
    uint64_t elements;

    tensor->type = type;
    tensor->type_id = draft->format->type_id(type);
    if (type != (enum mf_type)tensor->from &&
        (!mf_elements(tensor->dim, tensor->rank, &elements) ||
         !mf_type_size(type, elements, &tensor->size)))
        tensor->size = UINT64_MAX; /* the plan refuses it */
}

/* A scalar has no dimensions elsewhere and one of 1 in GGUF. */
static const uint64_t one = 1;

static enum mf_status add_tensor(struct mf_draft *draft,
                                 const struct mf_model *model, size_t number)
{
    const struct mf_record *record = &model->index.tensor[number];
    struct mf_draft_tensor *tensor = mf_draft_add_tensor(draft);

    if (!tensor)
        return draft->env->error.status;
    tensor->name = (struct mf_str){ record->name, record->name_size };
    tensor->rank = record->rank;
    tensor->dim =
        dims_of(draft, model->info.fastest_first, record->dim, record->rank);
    tensor->size = record->size;
    tensor->from = record->type;
    tensor->type = record->type;
    tensor->type_id = record->type_id;
    tensor->record = number;
    if (!tensor->dim)
        return draft->env->error.status;
    if (tensor->rank == 0 && draft->out->implied_ones) {
        tensor->rank = 1;
        tensor->dim = &one;
    }
    return MF_OK;
}

/* One of those under new names. */
static enum mf_status add_renamed(struct mf_draft *draft,
                                  const struct mf_draft *named, size_t number)
{
    struct mf_draft_tensor *tensor = mf_draft_add_tensor(draft);

    if (!tensor)
        return draft->env->error.status;
    *tensor = named->tensor[number];
    tensor->type_id = draft->format->type_id((enum mf_type)tensor->type);
    tensor->dim =
        dims_of(draft, named->format->fastest_first, tensor->dim, tensor->rank);
    return tensor->dim ? MF_OK : draft->env->error.status;
}

/* The type of the tensor that was listed last, which may depend on its new
 * name. */
static enum mf_status choose_type(struct mf_draft *draft,
                                  const struct mf_model *model)
{
    struct mf_draft_tensor *tensor = &draft->tensor[draft->tensor_count - 1];
    enum mf_type from = (enum mf_type)tensor->from;
    const char *fork;

    if (draft->any_type &&
        (draft->floats != MF_TYPE_UNKNOWN || draft->f32_vectors) &&
        from != MF_TYPE_UNKNOWN)
        set_type(draft, tensor);
    if (from == MF_TYPE_UNKNOWN && draft->format == model->format &&
        draft->big_endian != (model->info.byte_order == MF_BIG_ENDIAN))
        return mf_decline(draft->env, MF_REASON_TYPE_NOT_CARRIED,
                          model->index.tensor[tensor->record].entry,
                          "tensor '%s' is of an unknown type, so the order of "
                          "its bytes cannot be changed",
                          mf_quote(tensor->name).text);
    if (draft->any_type ||
        (draft->format == model->format && from == MF_TYPE_UNKNOWN))
        return MF_OK; /* kept, for now */
    if (from == MF_TYPE_UNKNOWN) {
        fork = model->format->type_name
                   ? model->format->type_name(tensor->type_id)
                   : NULL;
        return refuse_type(draft, model, tensor,
                           fork ? fork : "of an unknown type");
    }
    set_type(draft, tensor);
    if (tensor->type_id == MF_NO_TYPE_ID)
        return refuse_type(draft, model, tensor, mf_types[from].name);
    return tensor->made ||
                   (draft->format == model->format && tensor->type == from)
               ? MF_OK
               : check_size(draft, &model->index.tensor[tensor->record]);
}

/* Memory for all tensors at once: the number of allocations does not depend on
 * theirs. */
static enum mf_status reserve(struct mf_draft *draft,
                              const struct mf_model *model, size_t first,
                              size_t count)
{
    enum mf_status status = mf_draft_reserve(draft, count);
    size_t dims = 0;

    if (draft->format->fastest_first == model->info.fastest_first)
        return status;
    for (size_t i = first; i < first + count; i++)
        if (model->index.tensor[i].rank > 1)
            dims += model->index.tensor[i].rank;
    if (status == MF_OK && dims > 0)
        status = mf_arena_reserve(&draft->arena, dims * sizeof(uint64_t));
    return status;
}

size_t mf_draft_source_count(const struct mf_model *model,
                             const struct mf_renaming *renaming)
{
    return renaming && renaming->made ? renaming->draft.tensor_count
                                      : model->index.tensor_count;
}

enum mf_status mf_draft_list_tensors(struct mf_draft *draft,
                                     const struct mf_model *model,
                                     const struct mf_renaming *renaming,
                                     size_t first, size_t count)
{
    bool renamed = renaming && renaming->made;
    enum mf_status status = renamed ? mf_draft_reserve(draft, count)
                                    : reserve(draft, model, first, count);

    for (size_t i = first; i < first + count && status == MF_OK; i++) {
        status = renamed ? add_renamed(draft, &renaming->draft, i)
                         : add_tensor(draft, model, i);
        if (status == MF_OK)
            status = choose_type(draft, model);
    }
    return status;
}
