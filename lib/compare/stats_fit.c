/* SPDX-License-Identifier: MIT
 *
 * stats_fit.c - whether tensors have numbers that can be measured
 */
#include "lib/compare/stats.h"

#include "lib/compare/wide.h"
#include "lib/write/convert.h"

const struct mf_isa *mf_stats_isa(struct mf_model *model)
{
    mf_clear_error(model->env);
    return mf_table_refuse(model) == MF_OK ? mf_isa_choose(model->env) : NULL;
}

bool mf_stats_decoding(const struct mf_model *model, const struct mf_isa *isa,
                       const struct mf_record *record, struct mf_recoding *out)
{
    uint64_t in, floats;

    if (record->flags & MF_TENSOR_DAMAGED || record->type == MF_TYPE_UNKNOWN) {
        mf_fail(model->env, MF_ERR_UNSUPPORTED, record->entry, "tensor '%s' %s",
                mf_record_name(record).text,
                record->type == MF_TYPE_UNKNOWN ? "has an unknown type"
                                                : "is damaged");
        return false;
    }
    if (!mf_numbers_recoding(model, isa, record, out))
        return false;
    if (record->size > 0 && /* as aprender's scalars may not be */
        (!mf_recoding_sizes(out, &in, &floats) ||
         in + out->prefix != record->size)) {
        mf_fail(model->env, MF_ERR_UNSUPPORTED, record->entry,
                "tensor '%s': its size, %" PRIu64
                " bytes, does not match its shape",
                mf_record_name(record).text, record->size);
        return false;
    }
    return true;
}

/* A reason, for "'name' is not read: ...". */
static void miss(struct mf_model *model, const struct mf_isa *isa, size_t index)
{
    const struct mf_record *record = &model->index.tensor[index];
    enum mf_type type = (enum mf_type)record->type;
    struct mf_error error = model->env->error;
    struct mf_tensor tensor;
    const char *reason = error.message;

    mf_clear_error(model->env);
    mf_tensor_at(model, index, &tensor);
    if (record->flags & MF_TENSOR_DAMAGED)
        reason = "its data is damaged";
    else if (type == MF_TYPE_UNKNOWN ||
             (type != MF_TYPE_BOOL && !mf_env_codec(model->env, isa, type)))
        reason = tensor.type;
    mf_index_miss(&model->index, record->shard, tensor.name, "%s", reason);
}

enum mf_status mf_tensor_stats_miss(struct mf_model *model, bool *fits)
{
    const struct mf_isa *isa = mf_stats_isa(model);
    struct mf_index *index = &model->index;
    struct mf_recoding recoding;

    if (!isa)
        return model->env->error.status;
    for (size_t i = 0; i < index->tensor_count && index->status == MF_OK; i++) {
        fits[i] = mf_stats_decoding(model, isa, &index->tensor[i], &recoding);
        if (!fits[i])
            miss(model, isa, i);
    }
    model->info.missing_count = index->missing.count;
    return index->status;
}

enum mf_status mf_tensor_stats_fit(struct mf_model *model, bool *fits)
{
    const struct mf_isa *isa = mf_stats_isa(model);
    const struct mf_index *index = &model->index;
    struct mf_recoding recoding;

    if (!isa)
        return model->env->error.status;
    for (size_t i = 0; i < index->tensor_count; i++)
        fits[i] = mf_stats_decoding(model, isa, &index->tensor[i], &recoding);
    mf_clear_error(model->env);
    return MF_OK;
}
