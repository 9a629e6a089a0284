/* SPDX-License-Identifier: MIT
 *
 * quantize.c - quantizing a model
 *
 * The type of each tensor is decided first (mix.c); after that the files are
 * written as in any conversion (lib/write).
 */
#include "lib/base/little.h"
#include "lib/base/options.h"
#include "lib/base/timings.h"
#include "lib/hf/hf.h"
#include "lib/io/digest.h"
#include "lib/model/facts.h"
#include "lib/model/open_parts.h"
#include "lib/quantize/quantizing.h"

enum mf_status mf_quantize_refuse(struct mf_model *model)
{
    size_t errors = model->index.damage_count;

    if (mf_model_require_complete(model) != MF_OK)
        return model->env->error.status;
    if (mf_model_is_imatrix(model))
        return mf_decline(model->env, MF_REASON_IMATRIX_INPUT, MF_NO_OFFSET,
                          "this is an importance matrix and not quantized");
    if (errors > 0)
        return mf_decline(model->env, mf_index_damage_reason(&model->index),
                          MF_NO_OFFSET,
                          "the model has %zu error%s and is not quantized",
                          errors, errors == 1 ? "" : "s");
    return mf_draft_check_source(model);
}

/* ---- outputs ---- */

/* ggml has no dimensions of 1 after the last one above 1, so llama-quantize
 * writes none. */
static void trim_shapes(struct mf_draft *draft)
{
    for (size_t i = 0; i < draft->tensor_count; i++) {
        struct mf_draft_tensor *tensor = &draft->tensor[i];

        while (tensor->rank > 1 && tensor->dim[tensor->rank - 1] == 1)
            tensor->rank--;
    }
}

/* Files that are parts of one model. */
static bool has_shards(const struct mf_quantizing *work)
{
    return work->outputs.count > 1 && !work->outputs.together;
}

/* Renamed tensors have an order of their own. */
static enum mf_status check_shards(const struct mf_quantizing *work)
{
    return !has_shards(work)
               ? MF_OK
               : mf_fail(work->model->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                         "a model's shards cannot be kept when its tensors are "
                         "renamed");
}

/* What a folder of Hugging Face becomes, in its own type. */
static enum mf_status list_folder(struct mf_quantizing *work,
                                  struct mf_draft *draft)
{
    const struct mf_hf_options options = { .own_type = true };

    if (check_shards(work) != MF_OK)
        return work->model->env->error.status;
    if (mf_hf_convert(draft, work->model, &options) != MF_OK)
        return work->model->env->error.status;
    trim_shapes(draft);
    return MF_OK;
}

enum mf_status mf_quantizing_list(struct mf_quantizing *work, size_t number)
{
    struct mf_model *model = work->model;
    struct mf_draft *draft = &work->outputs.output[number].draft;
    const struct mf_renaming_options renaming = {
        .lossy = work->how.lossy,
        .decode = !mf_mix_is_copy(work->options.type),
    };
    size_t first = 0, count;

    draft->lossy = work->how.lossy;
    draft->reserve = work->how.reserve;
    draft->any_type = true;
    draft->big_endian =
        (work->how.byte_order || draft->format == model->format) &&
        mf_outputs_order(model, &work->how) == MF_BIG_ENDIAN;
    if (work->how.names == MF_NAMING_GGUF &&
        mf_hf_applies(model, draft->format))
        return list_folder(work, draft);
    /* With new names the model is a Hugging Face model: tensors that are not
     * quantized become what llama.cpp's converter makes of them, norms f32. */
    draft->f32_vectors =
        work->how.names == MF_NAMING_GGUF && draft->out->f32_vectors;
    if (draft->f32_vectors && !mf_mix_is_copy(work->options.type))
        draft->floats = MF_TYPE_F32;
    if (number == 0 &&
        (mf_carry_metadata(draft, model, &work->outputs.left_out) != MF_OK ||
         mf_renaming_init(&work->outputs.renaming, model, work->how.names,
                          renaming) != MF_OK))
        return model->env->error.status;
    if (work->outputs.renaming.made && check_shards(work) != MF_OK)
        return model->env->error.status;
    count = mf_draft_source_count(model, &work->outputs.renaming);
    if (has_shards(work)) {
        first = model->part[number].first;
        count = model->part[number].count;
    }
    if (mf_draft_list_tensors(draft, model, &work->outputs.renaming, first,
                              count) != MF_OK)
        return model->env->error.status;
    if (draft->out->implied_ones)
        trim_shapes(draft);
    return MF_OK;
}

enum mf_status mf_quantizing_plan(const struct mf_quantizing *work,
                                  struct mf_draft *draft)
{
    for (size_t i = 0; i < draft->tensor_count; i++) {
        struct mf_draft_tensor *tensor = &draft->tensor[i];

        if (tensor->type == MF_TYPE_UNKNOWN &&
            draft->format == work->model->format)
            continue;
        tensor->type_id =
            tensor->type == MF_TYPE_UNKNOWN
                ? MF_NO_TYPE_ID
                : draft->format->type_id((enum mf_type)tensor->type);
        if (tensor->type_id == MF_NO_TYPE_ID)
            return mf_decline(
                draft->env, mf_draft_type_reason((enum mf_type)tensor->type),
                MF_NO_OFFSET, "%s cannot carry tensor '%s' as %s",
                draft->format->name, mf_quote(tensor->name).text,
                tensor->type == MF_TYPE_UNKNOWN ? "it is"
                                                : mf_types[tensor->type].name);
    }
    return mf_draft_plan(draft);
}

static enum mf_status plan_outputs(struct mf_quantizing *work,
                                   struct mf_mix_result *mix)
{
    struct mf_outputs *outputs = &work->outputs;
    struct mf_env *env = outputs->env;
    size_t size = outputs->count * sizeof(struct mf_draft *);
    struct mf_draft **drafts = mf_alloc(env, size);
    enum mf_status status = drafts ? MF_OK : env->error.status;

    for (size_t i = 0; i < outputs->count && status == MF_OK; i++) {
        drafts[i] = &outputs->output[i].draft;
        status = mf_quantizing_list(work, i);
    }
    if (status == MF_OK)
        status =
            mf_mix_apply(drafts, outputs->count, work->model, &work->options,
                         work->imatrix, work->how.dry_run, mix);
    mf_release(env, drafts, size);
    for (size_t i = 0; i < outputs->count && status == MF_OK; i++)
        status = mf_quantizing_plan(work, &outputs->output[i].draft);
    return status;
}

enum mf_status mf_quantizing_plan_model(struct mf_quantizing *work,
                                        const char *path,
                                        struct mf_mix_result *mix)
{
    struct mf_model *model = work->model;
    const struct mf_format *format =
        mf_output_format(model, path, work->how.format);
    bool split;

    if (!format ||
        mf_outputs_check_order(model->env, path, &work->how) != MF_OK)
        return model->env->error.status;
    /* llama-quantize numbers a single file, too: -00001-of-00001. */
    split = work->options.keep_split &&
            (model->file_count > 1 || format->sharding != MF_SHARDING_NONE);
    if (split && format->sharding == MF_SHARDING_NONE)
        return mf_fail(model->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "%s has no convention for shards", format->name);
    if (mf_outputs_make(&work->outputs, format, path,
                        split ? model->file_count : 1, split) != MF_OK)
        return model->env->error.status;
    return plan_outputs(work, mix);
}

/* ---- the importance matrix ---- */

static enum mf_status read_weights(void *user, struct mf_str name, float *out,
                                   size_t count, bool *found)
{
    const struct mf_quantizing *work = user;

    return mf_imatrix_read(work->imatrix, name, out, count, found);
}

static void add_texts(struct mf_digest *digest, const char *const *texts,
                      size_t count)
{
    for (size_t i = 0; i < count; i++)
        mf_digest_add(digest, texts[i], strlen(texts[i]) + 1);
    mf_digest_add(digest, "", 1);
}

/* Which entries are used shows nowhere in the files, but in the data. */
static enum mf_status digest_choice(struct mf_quantizing *work)
{
    const struct mf_quantize_options *options = &work->options;
    struct mf_digest *digest = mf_digest_new(work->model->env, MF_XXH3_64);
    uint8_t bytes[MF_DIGEST_MAX];

    if (!digest)
        return work->model->env->error.status;
    add_texts(digest, options->include, options->include_count);
    add_texts(digest, options->exclude, options->exclude_count);
    mf_digest_finish(digest, bytes);
    mf_digest_free(digest);
    work->outputs.choice = mf_little_64(bytes);
    return MF_OK;
}

static enum mf_status open_imatrix(struct mf_quantizing *work)
{
    const struct mf_quantize_options *options = &work->options;
    struct mf_imatrix_choice choice = {
        .include = options->include,
        .exclude = options->exclude,
        .include_count = options->include_count,
        .exclude_count = options->exclude_count,
    };

    if (!options->imatrix)
        return options->include_count + options->exclude_count == 0
                   ? MF_OK
                   : mf_decline(
                         work->model->env, MF_REASON_IMATRIX_ENTRIES,
                         MF_NO_OFFSET,
                         "entries of an importance matrix are chosen, but "
                         "there is no matrix");
    if (mf_imatrix_open(work->model->env, options->imatrix, &choice,
                        &work->imatrix) != MF_OK)
        return work->model->env->error.status;
    work->outputs.imatrix = mf_imatrix_source(work->imatrix);
    work->outputs.weights.read = read_weights;
    work->outputs.weights.user = work;
    return work->how.resume || work->how.parts > 0 ? digest_choice(work)
                                                   : MF_OK;
}

/* ---- the model ---- */

static enum mf_status check_options(struct mf_env *env,
                                    const struct mf_quantize_options *options)
{
    MF_NEED(env, options->tensor_types || options->tensor_type_count == 0);
    MF_NEED(env, options->include || options->include_count == 0);
    MF_NEED(env, options->exclude || options->exclude_count == 0);
    MF_NEED(env, options->prune || options->prune_count == 0);
    for (size_t i = 0; i < options->tensor_type_count; i++) {
        MF_NEED(env, options->tensor_types[i].pattern);
        MF_NEED(env, options->tensor_types[i].type);
    }
    for (size_t i = 0; i < options->include_count; i++)
        MF_NEED(env, options->include[i]);
    for (size_t i = 0; i < options->exclude_count; i++)
        MF_NEED(env, options->exclude[i]);
    if (options->effort > MF_EFFORT_MOST)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "the effort is %" PRIu32 ", at most %d is possible",
                       options->effort, MF_EFFORT_MOST);
    return mf_edits_check(env, options->edits, options->edit_count);
}

enum mf_status mf_quantizing_take(struct mf_quantizing *work,
                                  struct mf_model *model,
                                  const struct mf_quantize_options *options,
                                  const struct mf_convert_options *how)
{
    struct mf_env *env = model->env;

    *work = (struct mf_quantizing){ .model = model };
    if (mf_options_take(env, &work->options, sizeof(work->options), options) !=
            MF_OK ||
        mf_options_take(env, &work->how, sizeof(work->how), how) != MF_OK ||
        check_options(env, &work->options) != MF_OK)
        return MF_ERR_ARGUMENT;
    mf_clear_error(env);
    mf_outputs_init(&work->outputs, model);
    work->outputs.finite_only = true;
    work->outputs.effort = (int)work->options.effort;
    return MF_OK;
}

enum mf_status mf_quantizing_begin(struct mf_quantizing *work, const char *path)
{
    struct mf_model *model = work->model;
    struct mf_convert_options *how = &work->how;

    if (mf_convert_names(model, path, how, &how->names) != MF_OK ||
        mf_quantize_refuse(model) != MF_OK)
        return model->env->error.status;
    return open_imatrix(work);
}

static enum mf_status make_deviations(struct mf_quantizing *work)
{
    struct mf_outputs *outputs = &work->outputs;
    size_t rows = outputs->together ? outputs->count : 1;
    size_t count = rows * MF_TYPE_COUNT;

    outputs->deviation =
        mf_alloc(outputs->env, count * sizeof(*outputs->deviation));
    if (!outputs->deviation)
        return outputs->env->error.status;
    work->deviations = count;
    memset(outputs->deviation, 0, count * sizeof(*outputs->deviation));
    for (size_t i = 0; i < outputs->count; i++)
        outputs->output[i].deviation =
            outputs->deviation + (outputs->together ? i * MF_TYPE_COUNT : 0);
    return MF_OK;
}

enum mf_status mf_quantizing_write(struct mf_quantizing *work)
{
    struct mf_outputs *outputs = &work->outputs;

    if (work->how.dry_run &&
        mf_outputs_check(outputs, work->how.replace) != MF_OK)
        return outputs->env->error.status;
    mf_quantizing_show(work);
    if (work->how.dry_run)
        return MF_OK;
    if (work->options.report && make_deviations(work) != MF_OK)
        return outputs->env->error.status;
    return mf_outputs_write(outputs, work->how.replace, work->how.resume);
}

void mf_quantizing_end(struct mf_quantizing *work)
{
    mf_release(work->model->env, work->outputs.deviation,
               work->deviations * sizeof(*work->outputs.deviation));
    mf_outputs_release(&work->outputs);
    mf_imatrix_close(work->imatrix);
}

enum mf_status mf_model_quantize(struct mf_model *model, const char *path,
                                 const struct mf_quantize_options *options,
                                 const struct mf_convert_options *how,
                                 struct mf_quantize_result *out)
{
    MF_NEED(NULL, model);
    MF_NEED(model->env, path);
    MF_NEED(model->env, options);

    struct mf_quantizing work;
    struct mf_mix_result mix;
    struct mf_timed timed;
    enum mf_status status;

    if (mf_quantizing_take(&work, model, options, how) != MF_OK)
        return MF_ERR_ARGUMENT;
    if (!work.options.type) {
        mf_quantizing_end(&work);
        return mf_missing(model->env, "options->type");
    }
    timed = mf_timed_begin(model->env, MF_PHASE_PLAN);
    status = mf_quantizing_begin(&work, path);
    if (status == MF_OK)
        status = mf_quantizing_plan_model(&work, path, &mix);
    if (status == MF_OK)
        status = mf_outputs_give(&work.outputs, &work.how);
    if (status == MF_OK)
        status = mf_outputs_divide(&work.outputs, path, &work.how);
    mf_timed_end(model->env, timed);
    if (status == MF_OK)
        status = mf_quantizing_write(&work);
    if (status == MF_OK && out)
        mf_quantizing_result(&work, 0, work.outputs.count, &mix, out);
    mf_quantizing_end(&work);
    return status;
}
