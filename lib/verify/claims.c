/* SPDX-License-Identifier: MIT
 *
 * claims.c - which tensor of the source each tensor of the model comes from
 *
 * The source is listed as if it were to be converted into the model's format,
 * under the names that the model has.  If the model has no tensor under a name
 * of the source's, the source is renamed as `quantize --names` does.
 */
#include <stdio.h>

#include "lib/base/str.h"
#include "lib/compare/compare.h"
#include "lib/hf/hf.h"
#include "lib/model/open_parts.h"
#include "lib/quantize/mix.h"
#include "lib/verify/verify.h"

/* ---- the models ---- */

static enum mf_status check_model(struct mf_model *model, const char *which)
{
    struct mf_env *env = model->env;
    size_t errors = model->index.damage_count;

    if (mf_model_require_complete(model) != MF_OK)
        return env->error.status;
    if (mf_compare_whole(model) != MF_OK)
        return env->error.status;
    if (errors > 0)
        return mf_decline(env, MF_REASON_INPUT_INVALID, MF_NO_OFFSET,
                          "the %s has %zu error%s and is not compared", which,
                          errors, errors == 1 ? "" : "s");
    if (!model->info.has_tensors)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "the %s was opened without its tensors", which);
    return MF_OK;
}

/* ---- names ---- */

static struct mf_str name_of(const struct mf_record *record)
{
    return (struct mf_str){ record->name, record->name_size };
}

static bool is_named_for_hf(const struct mf_index *index)
{
    for (size_t i = 0; i < index->tensor_count; i++)
        if (mf_str_begins(name_of(&index->tensor[i]), "model.") ||
            mf_str_is(name_of(&index->tensor[i]), "lm_head.weight"))
            return true;
    return false;
}

static enum mf_naming naming_of(const struct mf_verification *work)
{
    const struct mf_index *model = &work->model->index;
    const struct mf_index *source = &work->source->index;

    for (size_t i = 0; i < model->tensor_count; i++)
        if (mf_names_find(&source->tensor_names, name_of(&model->tensor[i])) !=
            MF_NOT_FOUND)
            return MF_NAMING_KEEP;
    if (mf_is_named_for_gguf(model) && is_named_for_hf(source))
        return MF_NAMING_GGUF;
    return is_named_for_hf(model) && mf_is_named_for_gguf(source)
               ? MF_NAMING_HF
               : MF_NAMING_KEEP;
}

/* What a folder of Hugging Face becomes. */
static enum mf_status list_folder(struct mf_verification *work)
{
    const struct mf_hf_options options = { .own_type = true };

    return mf_hf_convert(&work->draft, work->source, &options) == MF_OK
               ? MF_OK
               : mf_file_add_context(work->env, work->source->file);
}

static enum mf_status list_source(struct mf_verification *work)
{
    struct mf_model *source = work->source;
    struct mf_draft *draft = &work->draft;
    size_t left_out = 0;

    mf_draft_init(draft, work->env,
                  mf_format_to_write(work->model->format->name));
    if (!draft->format)
        return mf_fail(work->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "verifying files in the format '%s' is not supported",
                       work->model->format->name);
    draft->lossy = true;
    draft->any_type = true;
    if (mf_is_named_for_gguf(&work->model->index) &&
        !mf_is_named_for_gguf(&source->index) &&
        mf_hf_applies(source, draft->format))
        return list_folder(work);
    if (mf_carry_metadata(draft, source, &left_out) != MF_OK ||
        mf_renaming_init(&work->renaming, source, naming_of(work),
                         (struct mf_renaming_options){ .lossy = true }) !=
            MF_OK ||
        mf_draft_list_tensors(draft, source, &work->renaming, 0,
                              mf_draft_source_count(source, &work->renaming)) !=
            MF_OK)
        return mf_file_add_context(work->env, source->file);
    return MF_OK;
}

/* ---- a claim ---- */

/* An error without the tensor's name at its start, which is known here. */
static const char *without_name(const struct mf_claim *claim,
                                const char *message)
{
    struct mf_quoted name = mf_quote(claim->from->name);
    char start[sizeof(name) + sizeof("tensor '': ")];
    size_t size;

    snprintf(start, sizeof(start), "tensor '%s': ", name.text);
    size = strlen(start);
    return strncmp(message, start, size) == 0 ? message + size : message;
}

enum mf_status mf_claim_explain(struct mf_verification *work,
                                struct mf_claim *claim)
{
    const struct mf_error *error = &work->env->error;
    const char *message = without_name(claim, error->message);
    size_t size = strlen(message);
    char *text;

    if (error->status != MF_ERR_UNSUPPORTED &&
        error->status != MF_ERR_ARGUMENT && error->status != MF_ERR_CORRUPT)
        return error->status;
    text = mf_arena_text(&work->arena, size);
    if (!text)
        return work->env->error.status;
    memcpy(text, message, size);
    mf_clear_error(work->env);
    claim->reason = text;
    return MF_OK;
}

/* A dimension, the contiguous one first; 1 after the last. */
static uint64_t dim_at(const uint64_t *dim, uint32_t rank, bool fastest_first,
                       uint32_t i)
{
    return i < rank ? dim[fastest_first ? i : rank - 1 - i] : 1;
}

/* Dimensions of 1 at the end of a shape mean nothing in GGUF. */
static bool same_shape(const struct mf_verification *work,
                       const struct mf_record *record,
                       const struct mf_draft_tensor *tensor)
{
    uint32_t rank = record->rank > tensor->rank ? record->rank : tensor->rank;

    for (uint32_t i = 0; i < rank; i++)
        if (dim_at(record->dim, record->rank, work->model->info.fastest_first,
                   i) != dim_at(tensor->dim, tensor->rank,
                                work->draft.format->fastest_first, i))
            return false;
    return true;
}

/* Bytes of the source's tensor. */
static uint64_t size_of(const struct mf_verification *work,
                        const struct mf_draft_tensor *tensor)
{
    return tensor->made ? tensor->made->size
                        : work->source->index.tensor[tensor->record].size;
}

/* Of a type that neither knows, only the number can be compared. */
static bool same_type(const struct mf_verification *work,
                      const struct mf_record *record,
                      const struct mf_draft_tensor *tensor)
{
    if (record->type != MF_TYPE_UNKNOWN || tensor->from != MF_TYPE_UNKNOWN)
        return record->type == tensor->from;
    return record->type_id == tensor->type_id &&
           work->model->format == work->source->format;
}

/* Why bytes of one type cannot become the other's; NULL: they can. */
static const char *check_sizes(const struct mf_verification *work,
                               const struct mf_record *record,
                               const struct mf_draft_tensor *tensor)
{
    uint64_t elements, in, out;

    if (same_type(work, record, tensor))
        return record->size == size_of(work, tensor)
                   ? NULL
                   : "it has another size in the source";
    if (record->type == MF_TYPE_UNKNOWN || tensor->from == MF_TYPE_UNKNOWN)
        return "its type is unknown";
    if (!mf_elements(tensor->dim, tensor->rank, &elements) ||
        !mf_type_size((enum mf_type)tensor->from, elements, &in) ||
        !mf_type_size((enum mf_type)record->type, elements, &out) ||
        in != size_of(work, tensor) || out != record->size)
        return "its bytes do not match its shape";
    return NULL;
}

/* ---- how far the encoders searched */

static uint32_t number_32(uint64_t number)
{
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

/* What the model says; of no search there is no version. */
static enum mf_status read_effort(struct mf_verification *work)
{
    struct mf_verify_result *result = &work->result;
    uint64_t effort = 0, version = 0;
    struct mf_draft facts;
    enum mf_status status = mf_carry_as_gguf(&facts, work->model);
    bool said = status == MF_OK && mf_draft_find(&facts, MF_EFFORT_KEY);

    if (said)
        status = mf_draft_number(&facts, MF_EFFORT_KEY, &effort);
    if (said && status == MF_OK)
        status = mf_draft_number(&facts, MF_EFFORT_VERSION_KEY, &version);
    mf_draft_release(&facts);
    result->effort = number_32(effort);
    result->effort_version = number_32(version);
    work->effort = MF_EFFORT_LEAST;
    if (said && effort != MF_EFFORT_LEAST)
        work->effort = effort > MF_EFFORT_LEAST && effort <= MF_EFFORT_MOST &&
                               version == MF_EFFORT_VERSION
                           ? (int)effort
                           : 0;
    return status;
}

/* Says that blocks cannot be made as the model's were. */
static enum mf_status explain_effort(struct mf_verification *work,
                                     struct mf_claim *claim)
{
    mf_fail(work->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
            "it was encoded with effort %" PRIu32 " of version %" PRIu32
            ", which is not known here: efforts %d to %d of version %d are",
            work->result.effort, work->result.effort_version, MF_EFFORT_LEAST,
            MF_EFFORT_MOST, MF_EFFORT_VERSION);
    return mf_claim_explain(work, claim);
}

/* Gives the tensor the model's type, and its weights. */
static enum mf_status set_type(struct mf_verification *work,
                               const struct mf_record *record,
                               struct mf_claim *claim)
{
    struct mf_draft_tensor *tensor = claim->from;
    struct mf_recoding recoding;

    tensor->size = record->size;
    if (same_type(work, record, tensor)) {
        tensor->type = tensor->from;
        return MF_OK;
    }
    tensor->type = record->type;
    if (!mf_recoding_init(work->env, work->isa, tensor,
                          work->draft.format->fastest_first, &recoding))
        return mf_claim_explain(work, claim);
    if (work->effort == 0 && recoding.encode->further)
        return explain_effort(work, claim);
    if (!work->imatrix || !mf_imatrix_find(work->imatrix, tensor->name))
        return MF_OK;
    tensor->weights = tensor->name;
    return mf_mix_check_weights(&work->draft, tensor, work->imatrix) == MF_OK
               ? MF_OK
               : mf_claim_explain(work, claim);
}

static enum mf_status make_claim(struct mf_verification *work,
                                 struct mf_claim *claim)
{
    const struct mf_record *record = mf_claim_record(work, claim);

    if (!claim->from)
        claim->reason = "the source has no such tensor";
    else if (!same_shape(work, record, claim->from))
        claim->reason = "it has another shape in the source";
    else
        claim->reason = check_sizes(work, record, claim->from);
    return claim->reason ? MF_OK : set_type(work, record, claim);
}

/* ---- all claims ---- */

static struct mf_claim *claim_named(const struct mf_verification *work,
                                    struct mf_str name)
{
    size_t found = mf_names_find(&work->model->index.tensor_names, name);

    return found == MF_NOT_FOUND ? NULL : &work->claim[found];
}

const struct mf_draft_tensor *
mf_verify_missing(const struct mf_verification *work, size_t *at)
{
    while (*at < work->draft.tensor_count) {
        const struct mf_draft_tensor *tensor = &work->draft.tensor[(*at)++];

        if (!claim_named(work, tensor->name))
            return tensor;
    }
    return NULL;
}

struct mf_piece mf_claim_piece(const struct mf_verification *work,
                               const struct mf_claim *claim)
{
    const struct mf_draft_tensor *tensor = claim->from;
    const struct mf_record *record =
        &work->source->index.tensor[tensor->record];

    if (tensor->made)
        return (struct mf_piece){ .source = tensor->made,
                                  .tensor = tensor,
                                  .span = { 0, tensor->made->size } };
    return (struct mf_piece){
        .model = work->source,
        .source = &work->source->file[record->shard].source,
        .tensor = tensor,
        .span = { mf_record_data(work->source, record), record->size },
    };
}

/* An unused matrix was given by mistake. */
static enum mf_status check_imatrix(struct mf_verification *work)
{
    size_t encoded = 0, weighted = 0;

    for (size_t i = 0; i < work->count; i++) {
        const struct mf_claim *claim = &work->claim[i];

        encoded += claim->from && claim->from->type != claim->from->from;
        weighted += claim->from && claim->from->weights.at;
    }
    if (!work->imatrix || weighted > 0 || encoded == 0)
        return MF_OK;
    mf_decline(work->env, MF_REASON_IMATRIX_MISMATCH, MF_NO_OFFSET,
               "none of the %zu entries of the importance matrix is for a "
               "quantized tensor; it may belong to another model",
               work->imatrix->count);
    work->env->error.file = MF_ERROR_IN_IMATRIX;
    return work->env->error.status;
}

enum mf_status mf_verify_claims(struct mf_verification *work)
{
    enum mf_status status = check_model(work->model, "model");

    if (status == MF_OK)
        status = check_model(work->source, "source");
    if (status == MF_OK) {
        work->isa = mf_isa_choose(work->env);
        status = work->env->error.status;
    }
    if (status == MF_OK)
        status = list_source(work);
    if (status == MF_OK)
        status = read_effort(work);
    for (size_t i = 0; i < work->draft.tensor_count && status == MF_OK; i++) {
        struct mf_claim *claim = claim_named(work, work->draft.tensor[i].name);

        if (claim && !claim->from)
            claim->from = &work->draft.tensor[i];
    }
    for (size_t i = 0; i < work->count && status == MF_OK; i++)
        status = make_claim(work, &work->claim[i]);
    return status == MF_OK ? check_imatrix(work) : status;
}
