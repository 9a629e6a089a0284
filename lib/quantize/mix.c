/* SPDX-License-Identifier: MIT
 *
 * mix.c - the plan of a quantized model: order, types, sizes
 */
#include "lib/quantize/mix.h"

#include <assert.h>
#include <string.h>

#include "lib/draft/carry.h"

/* ---- the order ---- */

bool mf_block_number(struct mf_str name, uint64_t *out)
{
    size_t at = strlen("blk."), digits = 0;
    uint64_t number = 0;

    if (!mf_str_begins(name, "blk."))
        return false;
    for (; at < name.size && name.at[at] >= '0' && name.at[at] <= '9'; at++) {
        number = number * 10 + (uint64_t)(name.at[at] - '0');
        if (++digits > 9)
            return false;
    }
    *out = number;
    return digits > 0;
}

bool mf_mix_is_before(struct mf_str first, struct mf_str second)
{
    uint64_t block_a = 0, block_b = 0;
    bool in_a = mf_block_number(first, &block_a);
    bool in_b = mf_block_number(second, &block_b);
    size_t common = first.size < second.size ? first.size : second.size;
    int order;

    if (in_a != in_b)
        return in_b;
    if (block_a != block_b)
        return block_a < block_b;
    order = common > 0 ? memcmp(first.at, second.at, common) : 0;
    return order != 0 ? order < 0 : first.size < second.size;
}

static bool by_name(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_draft_tensor *tensor = table;

    return mf_mix_is_before(tensor[a].name, tensor[b].name);
}

/* A shard keeps the order of its data.  Until the plan is made, offset is that
 * in the model's file. */
static bool by_offset(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_draft_tensor *tensor = table;

    return tensor[a].offset < tensor[b].offset;
}

static enum mf_status sort_tensors(struct mf_draft *draft,
                                   const struct mf_model *model, bool by_data)
{
    size_t count = draft->tensor_count;
    struct mf_draft_tensor *sorted;
    uint32_t *order;

    if (count == 0)
        return MF_OK;
    order = mf_arena_take(&draft->arena, count * sizeof(*order));
    sorted = mf_alloc(draft->env, draft->tensor_room * sizeof(*sorted));
    if (!order || !sorted) {
        mf_release(draft->env, sorted, draft->tensor_room * sizeof(*sorted));
        return draft->env->error.status;
    }
    for (size_t i = 0; i < count; i++) {
        const struct mf_draft_tensor *tensor = &draft->tensor[i];

        order[i] = (uint32_t)i;
        draft->tensor[i].offset = model->index.tensor[tensor->record].offset;
    }
    mf_sort(order, count, by_data ? by_offset : by_name, draft->tensor);
    for (size_t i = 0; i < count; i++)
        sorted[i] = draft->tensor[order[i]];
    mf_release(draft->env, draft->tensor,
               draft->tensor_room * sizeof(*draft->tensor));
    draft->tensor = sorted;
    return MF_OK;
}

/* ---- the file type of COPY ---- */

/* A model without general.file_type gets the type of most of its tensors,
 * marked as a guess: LLAMA_FTYPE_GUESSED. */
#define GUESSED 1024

static enum mf_status copied_file_type(struct mf_mix *mix,
                                       struct mf_draft *const *drafts,
                                       size_t count,
                                       const struct mf_draft *facts)
{
    size_t of[MF_TYPE_COUNT] = { 0 }, most = 0;
    enum mf_type type = MF_TYPE_F32;
    uint64_t given;

    if (mf_draft_number(facts, "general.file_type", &given) != MF_OK)
        return facts->env->error.status;
    mix->file_type = (uint32_t)given;
    if (mf_draft_find(facts, "general.file_type"))
        return MF_OK;
    for (size_t i = 0; i < count; i++)
        for (size_t t = 0; t < drafts[i]->tensor_count; t++) {
            uint32_t from = drafts[i]->tensor[t].from;

            if (from < MF_TYPE_COUNT && ++of[from] > most) {
                most = of[from];
                type = (enum mf_type)from;
            }
        }
    if (type == MF_TYPE_MXFP4) /* the one that llama-quantize does not know */
        type = MF_TYPE_F32;
    mix->file_type = mf_mix_file_type(type) | GUESSED;
    return MF_OK;
}

/* ---- a tensor ---- */

static bool is_float(enum mf_type type)
{
    return type == MF_TYPE_F32 || type == MF_TYPE_F16 || type == MF_TYPE_BF16 ||
           type == MF_TYPE_F64 ||
           (type >= MF_TYPE_F8_E4M3 && type <= MF_TYPE_F8_E5M2FNUZ);
}

enum mf_status mf_mix_check_source(const struct mf_mix *mix,
                                   const struct mf_draft_tensor *tensor)
{
    bool known = tensor->from < MF_TYPE_COUNT;
    enum mf_type from = known ? (enum mf_type)tensor->from : MF_TYPE_F32;
    const char *name = known ? mf_types[from].name : "of an unknown type";

    if (known && is_float(from))
        return MF_OK;
    if (!known || !mf_type_is_quantized(from))
        return mf_fail(mix->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "tensor '%s' is %s and cannot be quantized",
                       mf_quote(tensor->name).text, name);
    if (mix->options->allow_requantize)
        return MF_OK;
    return mf_decline(
        mix->env, MF_REASON_ALREADY_QUANTIZED, MF_NO_OFFSET,
        "tensor '%s' is %s already: quantizing it again loses more "
        "than quantizing the original",
        mf_quote(tensor->name).text, name);
}

enum mf_status mf_mix_check_weights(const struct mf_draft *draft,
                                    struct mf_draft_tensor *tensor,
                                    const struct mf_imatrix *imatrix)
{
    const struct mf_imatrix_entry *entry =
        tensor->weights.at ? mf_imatrix_find(imatrix, tensor->weights) : NULL;
    bool fastest_first = draft->format->fastest_first;
    uint32_t rank = tensor->rank;
    uint64_t count = tensor->dim[fastest_first ? 0 : rank - 1];

    if (!entry)
        return MF_OK;
    for (uint32_t i = 2; i < rank; i++)
        if (!mf_mul(count, tensor->dim[fastest_first ? i : rank - 1 - i],
                    &count))
            count = UINT64_MAX;
    if (entry->count == count)
        return MF_OK;
    tensor->weights.at = NULL;
    if (mf_mix_is_embedding(tensor->name))
        return MF_OK;
    return mf_decline(draft->env, MF_REASON_IMATRIX_MISMATCH, MF_NO_OFFSET,
                      "the importance matrix has %" PRIu64
                      " numbers for tensor '%s', which has %" PRIu64 " columns",
                      entry->count, mf_quote(tensor->name).text, count);
}

/* Without a matrix every tensor whose type requires one is refused, even one
 * that has the type already; with a matrix, one that it has no entry for. */
static enum mf_status require_weights(const struct mf_mix *mix,
                                      struct mf_draft_tensor *tensor,
                                      enum mf_type type, bool has_weights)
{
    tensor->needs_weights =
        !has_weights && mf_mix_needs_weights(mix, tensor->name, type);
    if (!tensor->needs_weights || mix->dry_run)
        return MF_OK;
    return mf_decline(mix->env, MF_REASON_IMATRIX_REQUIRED, MF_NO_OFFSET,
                      "tensor '%s' would be %s, which is useless without an "
                      "importance matrix for it",
                      mf_quote(tensor->name).text, mf_types[type].name);
}

static enum mf_status set_type(const struct mf_mix *mix,
                               const struct mf_draft *draft,
                               struct mf_draft_tensor *tensor,
                               enum mf_type type,
                               const struct mf_imatrix *imatrix)
{
    uint64_t elements;

    if (mf_mix_check_source(mix, tensor) != MF_OK ||
        mf_mix_check_weights(draft, tensor, imatrix) != MF_OK ||
        require_weights(mix, tensor, type, tensor->weights.at != NULL) != MF_OK)
        return mix->env->error.status;
    tensor->type = type;
    tensor->type_id = draft->format->type_id(type);
    if (mf_elements(tensor->dim, tensor->rank, &elements) &&
        mf_type_size(type, elements, &tensor->size))
        return MF_OK;
    return mf_fail(mix->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                   "tensor '%s' is too large as %s",
                   mf_quote(tensor->name).text, mf_types[type].name);
}

static enum mf_status choose_type(struct mf_mix *mix,
                                  const struct mf_draft *draft,
                                  struct mf_draft_tensor *tensor,
                                  const struct mf_imatrix *imatrix,
                                  struct mf_mix_result *result)
{
    bool fastest_first = draft->format->fastest_first;
    struct mf_mix_kind kind;
    enum mf_type type;

    if (!mf_mix_selects(mix, tensor, fastest_first)) {
        tensor->weights.at = NULL;
        return MF_OK;
    }
    kind = mf_mix_kind_of(mix, tensor, fastest_first);
    mix->intended = MF_TYPE_F32;
    if (mf_mix_type(mix, tensor->name, &kind, &type) != MF_OK ||
        require_weights(mix, tensor, type, imatrix != NULL) != MF_OK)
        return mix->env->error.status;
    tensor->intended = mix->intended;
    if ((uint32_t)type == tensor->type) {
        tensor->weights.at = NULL;
        return MF_OK;
    }
    result->changed += (uint32_t)type != tensor->from;
    if (set_type(mix, draft, tensor, type, imatrix) != MF_OK)
        return mix->env->error.status;
    result->weighted +=
        tensor->weights.at != NULL && (uint32_t)type != tensor->from;
    return MF_OK;
}

/* Tensors of any type that the matrix has an entry for. */
static size_t count_weighted(struct mf_draft *const *drafts, size_t count)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t t = 0; t < drafts[i]->tensor_count; t++)
            found += drafts[i]->tensor[t].weights.at != NULL;
    return found;
}

/* A matrix that applies to nothing was given by mistake. */
static enum mf_status check_use(struct mf_env *env,
                                const struct mf_imatrix *imatrix, size_t found,
                                const struct mf_mix_result *result)
{
    if (!imatrix ||
        (found > 0 && (result->weighted > 0 || result->changed == 0)))
        return MF_OK;
    mf_decline(env, MF_REASON_IMATRIX_MISMATCH, MF_NO_OFFSET,
               "weighted 0 of %zu tensors: none of the %zu entries of the "
               "importance matrix is for a tensor that is quantized; it may "
               "belong to another model",
               result->changed, imatrix->count);
    env->error.file = MF_ERROR_IN_IMATRIX;
    return env->error.status;
}

/* ---- the model ---- */

static void find_weights(struct mf_draft *draft,
                         const struct mf_imatrix *imatrix)
{
    for (size_t i = 0; i < draft->tensor_count; i++)
        if (imatrix && mf_imatrix_find(imatrix, draft->tensor[i].name))
            draft->tensor[i].weights = draft->tensor[i].name;
}

/* A dry run plans the file that can be made: a mix that is refused without a
 * matrix has the types that it gives with one. */
static bool counts_as_weighted(const struct mf_mix *mix,
                               const struct mf_imatrix *imatrix)
{
    struct mf_mix_info info;

    return imatrix ||
           (mix->dry_run && mf_mix_at(mix->row, &info) && info.needs_imatrix);
}

/* Everything but the types.  facts: the metadata as GGUF has it. */
static enum mf_status prepare(struct mf_mix *mix,
                              struct mf_draft *const *drafts, size_t count,
                              struct mf_draft *facts,
                              const struct mf_model *model,
                              const struct mf_imatrix *imatrix)
{
    const struct mf_quantize_options *options = mix->options;

    for (size_t i = 0; i < count; i++) {
        if (sort_tensors(drafts[i], model, options->keep_split) != MF_OK)
            return mix->env->error.status;
        find_weights(drafts[i], imatrix); /* before pruning renames */
    }
    if (mix->copy && copied_file_type(mix, drafts, count, facts) != MF_OK)
        return facts->env->error.status;
    if (mf_mix_metadata(drafts[0], options, imatrix, mix->file_type) != MF_OK ||
        (facts != drafts[0] &&
         mf_mix_metadata(facts, options, imatrix, mix->file_type) != MF_OK))
        return mix->env->error.status;
    /* Before pruning: llama-quantize, too, uses the counts of the whole model.
     */
    if (mf_mix_read_facts(mix, facts, counts_as_weighted(mix, imatrix)) !=
        MF_OK)
        return facts->env->error.status;
    if (options->prune_count > 0 &&
        mf_prune(drafts, count, facts, options->prune, options->prune_count) !=
            MF_OK)
        return mix->env->error.status;
    for (size_t i = 0; i < count; i++)
        for (size_t t = 0; t < drafts[i]->tensor_count; t++)
            mf_mix_count(mix, drafts[i]->tensor[t].name);
    return count > 1 ? mf_mix_split(drafts, count) : MF_OK;
}

/* The metadata as GGUF has it, whatever format is written. */
static enum mf_status prepare_with_facts(struct mf_mix *mix,
                                         struct mf_draft *const *drafts,
                                         size_t count, struct mf_model *model,
                                         const struct mf_imatrix *imatrix)
{
    struct mf_draft facts;
    enum mf_status status;

    if (drafts[0]->format->values == MF_VALUES_TYPED)
        return prepare(mix, drafts, count, drafts[0], model, imatrix);
    status = mf_carry_as_gguf(&facts, model);
    if (status == MF_OK)
        status = prepare(mix, drafts, count, &facts, model, imatrix);
    mf_draft_release(&facts);
    return status;
}

enum mf_status mf_mix_apply(struct mf_draft *const *drafts, size_t count,
                            struct mf_model *model,
                            const struct mf_quantize_options *options,
                            const struct mf_imatrix *imatrix, bool dry_run,
                            struct mf_mix_result *out)
{
    struct mf_mix_result result = { 0 };
    struct mf_mix mix;
    size_t found;

    assert(count > 0);
    if (mf_mix_init(&mix, &drafts[0]->arena, options) != MF_OK)
        return drafts[0]->env->error.status;
    mix.dry_run = dry_run;
    if (prepare_with_facts(&mix, drafts, count, model, imatrix) != MF_OK)
        return drafts[0]->env->error.status;
    result.effort = options->effort;
    found = count_weighted(drafts, count);
    for (size_t i = 0; i < count; i++)
        for (size_t t = 0; t < drafts[i]->tensor_count; t++) {
            if (choose_type(&mix, drafts[i], &drafts[i]->tensor[t], imatrix,
                            &result) != MF_OK)
                return mix.env->error.status;
            result.unweighted += drafts[i]->tensor[t].needs_weights;
        }
    if (check_use(mix.env, imatrix, found, &result) != MF_OK ||
        mf_mix_put_effort(drafts, count, &result.effort) != MF_OK)
        return mix.env->error.status;
    result.file_type = mix.file_type;
    result.type = mix.type;
    result.fallbacks = mix.fallbacks;
    *out = result;
    return MF_OK;
}
