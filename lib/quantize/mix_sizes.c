/* SPDX-License-Identifier: MIT
 *
 * mix_sizes.c - how large a model would be in each mix, to the byte
 *
 * A dry run of mf_model_quantize for each of some thirty mixes would list and
 * sort the same tensors and count the same header thirty times.  In a typed
 * format the header has the same size in all of them, since a type is a number
 * of fixed size.  So everything is done once: each tensor is looked at in
 * order, and is given its type in every mix before the next one.
 *
 * Tensors of a GGUF file are listed one at a time, from the model's table: a
 * list of all would take more memory than the table.  A header is additive, so
 * its size is the metadata's and, for each tensor, the size of a header with
 * nothing else less the size of an empty one.
 */
#include "lib/quantize/mix_sizes.h"

#include <assert.h>

#include "lib/base/timings.h"
#include "lib/hf/hf.h"
#include "lib/quantize/mix.h"
#include "lib/write/convert.h"

struct one_mix {
    struct mf_mix mix;
    struct mf_mix_size *out;
    uint64_t end; /* of the data so far, padding included */
};

struct sizing {
    struct mf_model *model;
    struct mf_env *env;
    struct mf_quantize_options options;
    struct mf_draft draft;
    struct mf_renaming renaming;
    size_t made;     /* tensors that the model lacks, first in the draft */
    bool listed;     /* the draft has all tensors, not one at a time */
    bool whole;      /* a folder's, which are listed with its metadata */
    uint32_t *order; /* of the tensors of the draft, or of the model */
    size_t count;
    uint64_t header, empty_header, metadata;
    bool measured; /* metadata and empty_header are known */
    mf_mix_place *place;
    void *user;
    size_t mix_count;
    struct one_mix mix[MF_MIX_MAX];
};

/* ---- the list of tensors ---- */

static bool record_before(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_record *record = table;

    return mf_mix_is_before(
        (struct mf_str){ record[a].name, record[a].name_size },
        (struct mf_str){ record[b].name, record[b].name_size });
}

static bool tensor_before(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_draft_tensor *tensor = table;

    return mf_mix_is_before(tensor[a].name, tensor[b].name);
}

static enum mf_status sort(struct sizing *work)
{
    const struct mf_index *index = &work->model->index;

    work->count = work->listed ? work->draft.tensor_count : index->tensor_count;
    if (work->count == 0)
        return MF_OK;
    work->order = mf_alloc(work->env, work->count * sizeof(*work->order));
    if (!work->order)
        return work->env->error.status;
    for (size_t i = 0; i < work->count; i++)
        work->order[i] = (uint32_t)i;
    if (work->listed)
        mf_sort(work->order, work->count, tensor_before, work->draft.tensor);
    else
        mf_sort(work->order, work->count, record_before, index->tensor);
    return MF_OK;
}

static struct mf_str name_at(const struct sizing *work, size_t i)
{
    const struct mf_record *record;

    if (work->listed)
        return work->draft.tensor[i].name;
    record = &work->model->index.tensor[i];
    return (struct mf_str){ record->name, record->name_size };
}

/* As the file will have it, but for its type; NULL after mf_fail. */
static struct mf_draft_tensor *tensor_at(struct sizing *work, size_t i)
{
    struct mf_draft *draft = &work->draft;

    if (work->listed)
        return &draft->tensor[i];
    draft->tensor_count = 0;
    if (mf_draft_list_tensors(draft, work->model, NULL, i, 1) != MF_OK)
        return NULL;
    return &draft->tensor[0];
}

/* ggml has no dimensions of 1 after the last one above 1. */
static void trim(const struct sizing *work, struct mf_draft_tensor *tensor)
{
    if (work->draft.out->implied_ones)
        while (tensor->rank > 1 && tensor->dim[tensor->rank - 1] == 1)
            tensor->rank--;
}

/* ---- the header ---- */

/* Bytes of the header, without padding, of a draft that lists count tensors. */
static enum mf_status measure(struct mf_draft *draft, uint64_t *out)
{
    struct mf_sink sink;

    mf_sink_init(&sink, draft->env);
    if (mf_draft_check(draft) != MF_OK ||
        draft->out->head(draft, &sink) != MF_OK)
        return draft->env->error.status;
    *out = sink.end;
    return MF_OK;
}

static enum mf_status measure_metadata(struct sizing *work)
{
    struct mf_draft empty = work->draft;
    enum mf_status status;

    if (work->measured)
        return MF_OK;
    empty.tensor_count = 0;
    status = measure(&empty, &work->metadata);
    work->draft.alignment = empty.alignment;
    empty.entry_count = 0;
    if (status == MF_OK)
        status = measure(&empty, &work->empty_header);
    work->measured = status == MF_OK;
    return status;
}

static enum mf_status measure_tensor(struct sizing *work,
                                     struct mf_draft_tensor *tensor)
{
    struct mf_draft one = work->draft;
    uint64_t size;

    one.entry_count = 0;
    one.tensor = tensor;
    one.tensor_count = 1;
    if (measure(&one, &size) != MF_OK)
        return work->env->error.status;
    work->header += size - work->empty_header;
    return MF_OK;
}

/* ---- a tensor ---- */

/* Whether the file can have the tensor with the type that it has. */
static bool can_keep(const struct sizing *work,
                     const struct mf_draft_tensor *tensor)
{
    const struct mf_format *format = work->draft.format;

    if (tensor->type == MF_TYPE_UNKNOWN)
        return format == work->model->format;
    return format->type_id((enum mf_type)tensor->type) != MF_NO_TYPE_ID;
}

/* Bytes of the tensor in the mix; false where it cannot be quantized so.  kind
 * NULL: it keeps its type. */
static bool size_of(const struct sizing *work, struct one_mix *one,
                    const struct mf_draft_tensor *tensor,
                    const struct mf_mix_kind *kind, uint64_t *out)
{
    enum mf_type type = MF_TYPE_UNKNOWN;
    uint64_t elements;

    *out = tensor->size;
    if (kind && !one->mix.copy &&
        mf_mix_type(&one->mix, tensor->name, kind, &type) != MF_OK)
        return false;
    if (!kind || one->mix.copy || (uint32_t)type == tensor->type)
        return can_keep(work, tensor);
    return mf_mix_check_source(&one->mix, tensor) == MF_OK &&
           mf_elements(tensor->dim, tensor->rank, &elements) &&
           mf_type_size(type, elements, out);
}

static void add_tensor(struct one_mix *one, const struct sizing *work,
                       const struct mf_draft_tensor *tensor,
                       const struct mf_mix_kind *kind, uint32_t places)
{
    struct mf_mix_size *out = one->out;
    uint64_t size;

    if (!out->known)
        return;
    if (!size_of(work, one, tensor, kind, &size) ||
        !mf_align_up(one->end, work->draft.alignment, &one->end) ||
        !mf_add(one->end, size, &one->end)) {
        mf_clear_error(work->env);
        out->known = false;
        return;
    }
    out->data_size += size; /* less than end: no sum can be too large */
    for (unsigned i = 0; i < MF_MIX_PLACES && places >> i; i++)
        if (places >> i & 1)
            out->place[i] += size;
    if (places >> MF_MIX_LOAN & 1 && size > out->loan)
        out->loan = size;
}

static enum mf_status add_to_all(struct sizing *work,
                                 struct mf_draft_tensor *tensor,
                                 uint64_t *elements)
{
    bool fastest_first = work->draft.format->fastest_first;
    const struct mf_mix *mix = &work->mix[0].mix;
    struct mf_mix_kind kind = { 0 };
    uint64_t count = 0;
    bool selected;
    uint32_t places = work->place ? work->place(work->user, tensor->name) : 1;

    trim(work, tensor);
    if (!mf_elements(tensor->dim, tensor->rank, &count) ||
        !mf_add(*elements, count, elements))
        *elements = UINT64_MAX;
    if (measure_tensor(work, tensor) != MF_OK)
        return work->env->error.status;
    selected = mf_mix_selects(mix, tensor, fastest_first);
    if (selected)
        kind = mf_mix_kind_of(mix, tensor, fastest_first);
    for (size_t i = 0; i < work->mix_count; i++)
        add_tensor(&work->mix[i], work, tensor, selected ? &kind : NULL,
                   places);
    return MF_OK;
}

/* ---- the model ---- */

/* What the first mix needs to know of the model is what all need. */
static enum mf_status read_facts(struct sizing *work)
{
    struct mf_mix *first = &work->mix[0].mix;

    if ((!work->measured && mf_mix_metadata(&work->draft, &work->options, NULL,
                                            first->file_type) != MF_OK) ||
        mf_mix_read_facts(first, &work->draft, false) != MF_OK)
        return work->env->error.status;
    for (size_t i = 0; i < work->count; i++)
        mf_mix_count(first, name_at(work, i));
    for (size_t i = work->mix_count; i-- > 0;)
        mf_mix_share_facts(&work->mix[i].mix, first,
                           work->mix[i].out->needs_imatrix);
    return MF_OK;
}

/* What a folder of Hugging Face becomes, with its tensors. */
static enum mf_status list_folder(struct sizing *work)
{
    const struct mf_hf_options options = { .own_type = true };

    if (mf_hf_convert(&work->draft, work->model, &options) != MF_OK)
        return work->env->error.status;
    work->listed = work->whole = true;
    work->measured = false;
    work->made = work->draft.tensor_count;
    return MF_OK;
}

/* The file as mf_model_quantize makes it, without its tensors. */
static enum mf_status start(struct sizing *work, enum mf_naming names)
{
    struct mf_draft *draft = &work->draft;
    size_t unused = 0;

    mf_draft_init(draft, work->env, mf_format_with_values(MF_VALUES_TYPED));
    draft->version = draft->out->version;
    draft->alignment = draft->out->alignment;
    draft->lossy = true;
    draft->any_type = true;
    draft->f32_vectors = names == MF_NAMING_GGUF && draft->out->f32_vectors;
    work->listed =
        draft->format != work->model->format || names != MF_NAMING_KEEP;
    work->measured = false;
    if (mf_draft_check_source(work->model) != MF_OK)
        return work->env->error.status;
    if (names == MF_NAMING_GGUF && mf_hf_applies(work->model, draft->format))
        return list_folder(work);
    if (mf_carry_metadata(draft, work->model, &unused) != MF_OK ||
        mf_renaming_init(&work->renaming, work->model, names,
                         (struct mf_renaming_options){ .lossy = true }) !=
            MF_OK)
        return work->env->error.status;
    work->made = draft->tensor_count;
    return MF_OK;
}

static void forget_order(struct sizing *work)
{
    mf_release(work->env, work->order, work->count * sizeof(*work->order));
    work->order = NULL;
}

/* Its tensors.  copy: for the mix that changes no type. */
static enum mf_status list(struct sizing *work, bool copy)
{
    struct mf_draft *draft = &work->draft;

    forget_order(work);
    draft->tensor_count = work->made;
    draft->floats = draft->f32_vectors && !copy ? MF_TYPE_F32 : MF_TYPE_UNKNOWN;
    if (work->listed && !work->whole &&
        mf_draft_list_tensors(
            draft, work->model, &work->renaming, 0,
            mf_draft_source_count(work->model, &work->renaming)) != MF_OK)
        return work->env->error.status;
    return sort(work);
}

static void finish(struct sizing *work, uint64_t elements,
                   struct mf_mix_sizes *out)
{
    uint64_t alignment = work->draft.alignment, data_offset;

    out->elements = elements;
    if (!mf_align_up(work->header, alignment, &data_offset))
        data_offset = UINT64_MAX;
    for (size_t i = 0; i < work->mix_count; i++) {
        struct mf_mix_size *size = work->mix[i].out;

        size->known =
            size->known &&
            mf_align_up(work->mix[i].end, alignment, &size->file_size) &&
            mf_add(size->file_size, data_offset, &size->file_size) &&
            size->file_size <= INT64_MAX;
    }
}

/* Adds a row for each mix, or for that one which changes no type. */
static enum mf_status list_mixes(struct sizing *work, bool copies, bool others,
                                 struct mf_mix_sizes *out)
{
    struct mf_mix_info info;

    work->mix_count = 0;
    for (size_t i = 0; mf_mix_at(i, &info); i++) {
        bool copy = mf_mix_is_copy(info.name);
        struct one_mix *one = &work->mix[work->mix_count];

        if (!info.available || (copy ? !copies : !others))
            continue;
        assert(out->count < MF_MIX_MAX);
        work->options.type = info.name;
        one->out = &out->mix[out->count++];
        one->end = 0;
        *one->out = (struct mf_mix_size){ .name = info.name,
                                          .needs_imatrix = info.needs_imatrix,
                                          .known = true };
        if (mf_mix_init(&one->mix, &work->draft.arena, &work->options) != MF_OK)
            return work->env->error.status;
        work->mix_count++;
    }
    return MF_OK;
}

static enum mf_status size_all(struct sizing *work, struct mf_mix_sizes *out)
{
    uint64_t elements = 0;

    if (measure_metadata(work) != MF_OK)
        return work->env->error.status;
    work->header = work->metadata;
    for (size_t i = 0; i < work->count; i++) {
        struct mf_draft_tensor *tensor = tensor_at(work, work->order[i]);

        if (!tensor || add_to_all(work, tensor, &elements) != MF_OK)
            return work->env->error.status;
    }
    finish(work, elements, out);
    return MF_OK;
}

static enum mf_status size_mixes(struct sizing *work, bool copies, bool others,
                                 struct mf_mix_sizes *out)
{
    enum mf_status status = list(work, !others);

    if (status == MF_OK)
        status = list_mixes(work, copies, others, out);
    if (status == MF_OK)
        status = read_facts(work);
    return status == MF_OK ? size_all(work, out) : status;
}

/* Whether what failed says something about the model. */
static bool is_refusal(enum mf_status status)
{
    return status != MF_OK && status != MF_ERR_MEMORY &&
           status != MF_ERR_LIMIT && status != MF_ERR_STOPPED;
}

/* With new names, the mix that changes no type has other norms than the rest,
 * and so another list. */
static enum mf_status size_named(struct sizing *work, enum mf_naming names,
                                 struct mf_mix_sizes *out)
{
    bool alone = names != MF_NAMING_KEEP;
    enum mf_status status;

    mf_clear_error(work->env); /* of the attempt before */
    *out = (struct mf_mix_sizes){ 0 };
    status = start(work, names);
    if (status == MF_OK)
        status = size_mixes(work, !alone, true, out);
    if (status == MF_OK && alone)
        status = size_mixes(work, true, false, out);
    forget_order(work);
    mf_draft_release(&work->draft);
    mf_renaming_release(&work->renaming);
    return status;
}

/* No size is known. */
static enum mf_status list_names(struct mf_mix_sizes *out)
{
    struct mf_mix_info info;

    *out = (struct mf_mix_sizes){ 0 };
    for (size_t i = 0; mf_mix_at(i, &info); i++)
        if (info.available)
            out->mix[out->count++] =
                (struct mf_mix_size){ .name = info.name,
                                      .needs_imatrix = info.needs_imatrix };
    return MF_OK;
}

enum mf_status mf_mix_sizes(struct mf_model *model, mf_mix_place *place,
                            void *user, struct mf_mix_sizes *out)
{
    struct sizing work = { .model = model,
                           .env = model->env,
                           .options = { .size = sizeof(work.options),
                                        .allow_requantize = true },
                           .place = place,
                           .user = user };
    struct mf_timed timed;
    enum mf_status status = MF_ERR_UNSUPPORTED;

    if (model->incomplete || mf_model_is_imatrix(model))
        return list_names(out);
    timed = mf_timed_begin(model->env, MF_PHASE_PLAN);
    if (model->format->naming == MF_NAMING_HF)
        status = size_named(&work, MF_NAMING_GGUF, out);
    if (is_refusal(status))
        status = size_named(&work, MF_NAMING_KEEP, out);
    mf_timed_end(model->env, timed);
    if (is_refusal(status)) {
        mf_clear_error(model->env);
        status = list_names(out);
    }
    return status;
}
