/* SPDX-License-Identifier: MIT
 *
 * quantize_many.c - quantizing a model to several outputs at once
 *
 * Metadata and tensors are listed once, in the first draft, since a folder of
 * Hugging Face has tensors that are computed while they are read, and several
 * lists would compute them several times.  The other drafts are copies of that
 * list; then each gets its own types and metadata (mix.c).  lib/write makes all
 * outputs of the bytes that it reads once (together.c).
 *
 * All have one format.  Formats differ in the order of tensors and dimensions,
 * and in what a folder of Hugging Face becomes.
 */
#include "lib/base/timings.h"
#include "lib/quantize/quantizing.h"

static struct mf_quoted quoted(const char *path)
{
    return mf_quote((struct mf_str){ path, strlen(path) });
}

/* What only one output can have. */
static enum mf_status check_how(const struct mf_quantizing *work)
{
    const char *what = work->how.output           ? "functions as output"
                       : work->options.keep_split ? "as many shards as before"
                       : work->how.resume && work->options.report
                           ? "a report of work to be resumed"
                           : NULL;

    return what ? mf_fail(work->model->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                          "several outputs cannot be combined with %s", what)
                : MF_OK;
}

static enum mf_status check_output(const struct mf_quantizing *work,
                                   const struct mf_quantize_output *output,
                                   const struct mf_format *format)
{
    struct mf_env *env = work->model->env;
    const struct mf_format *own =
        mf_output_format(work->model, output->path, work->how.format);

    if (!own || mf_outputs_check_order(env, output->path, &work->how) != MF_OK)
        return env->error.status;
    if (own != format)
        return mf_fail(env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                       "several outputs need one format: '%s' is %s, others "
                       "are %s",
                       quoted(output->path).text, own->name, format->name);
    if (mf_mix_is_copy(output->type))
        return mf_fail(env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                       "a copy cannot be one of several outputs: '%s'",
                       quoted(output->path).text);
    if (mf_target_is_dash(env, output->path))
        return mf_fail(env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                       "standard output cannot be one of several outputs");
    return MF_OK;
}

static enum mf_status make_outputs(struct mf_quantizing *work,
                                   const struct mf_quantize_output *output,
                                   size_t count)
{
    const struct mf_format *format =
        mf_output_format(work->model, output->path, work->how.format);
    enum mf_status status = format ? check_how(work) : MF_ERR_ARGUMENT;

    for (size_t i = 0; i < count && status == MF_OK; i++)
        status = check_output(work, &output[i], format);
    if (status == MF_OK)
        status =
            mf_outputs_make(&work->outputs, format, output->path, count, false);
    if (status != MF_OK)
        return work->model->env->error.status;
    work->outputs.together = true;
    for (size_t i = 0; i < count; i++)
        work->outputs.output[i].path = output[i].path;
    return MF_OK;
}

/* tensors: room for how many each pattern decided. */
static enum mf_status plan_output(struct mf_quantizing *work, size_t number,
                                  const char *type, size_t *tensors,
                                  struct mf_mix_result *mix)
{
    struct mf_draft *draft = &work->outputs.output[number].draft;
    struct mf_quantize_options options = work->options;
    size_t *sums = options.tensor_type_tensors;

    options.type = type;
    options.tensor_type_tensors = tensors;
    if (mf_mix_apply(&draft, 1, work->model, &options, work->imatrix,
                     work->how.dry_run, mix) != MF_OK)
        return draft->env->error.status;
    for (size_t i = 0; i < options.tensor_type_count && sums; i++)
        sums[i] = tensors[i] + (number > 0 ? sums[i] : 0);
    return mf_quantizing_plan(work, draft);
}

static enum mf_status plan_outputs(struct mf_quantizing *work,
                                   const struct mf_quantize_output *output,
                                   size_t count, struct mf_mix_result *mix)
{
    struct mf_env *env = work->model->env;
    size_t size = (work->options.tensor_type_count + 1) * sizeof(size_t);
    size_t *tensors = mf_alloc(env, size);
    enum mf_status status = tensors ? MF_OK : env->error.status;

    for (size_t i = 0; i < count && status == MF_OK; i++)
        status = plan_output(work, i, output[i].type, tensors, &mix[i]);
    mf_release(env, tensors, size);
    return status;
}

static enum mf_status plan(struct mf_quantizing *work,
                           const struct mf_quantize_output *output,
                           size_t count, struct mf_mix_result *mix)
{
    struct mf_output *made;
    enum mf_status status = make_outputs(work, output, count);

    work->options.type = output->type; /* not a copy, like all of them */
    if (status == MF_OK)
        status = mf_quantizing_list(work, 0);
    made = work->outputs.output;
    for (size_t i = 1; i < count && status == MF_OK; i++)
        status = mf_draft_copy(&made[i].draft, &made->draft);
    return status == MF_OK ? plan_outputs(work, output, count, mix) : status;
}

static enum mf_status quantize(struct mf_quantizing *work,
                               const struct mf_quantize_output *output,
                               size_t count, struct mf_mix_result *mix)
{
    struct mf_env *env = work->model->env;
    struct mf_timed timed = mf_timed_begin(env, MF_PHASE_PLAN);
    enum mf_status status = mf_quantizing_begin(work, output->path);

    if (status == MF_OK)
        status = plan(work, output, count, mix);
    mf_timed_end(env, timed);
    return status == MF_OK ? mf_quantizing_write(work) : status;
}

enum mf_status mf_model_quantize_many(struct mf_model *model,
                                      const struct mf_quantize_output *outputs,
                                      size_t count,
                                      const struct mf_quantize_options *options,
                                      const struct mf_convert_options *how,
                                      struct mf_quantize_result *results)
{
    MF_NEED(NULL, model);
    MF_NEED(model->env, outputs);
    if (count == 0)
        return mf_fail(model->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "no output is given");
    for (size_t i = 0; i < count; i++) {
        MF_NEED(model->env, outputs[i].type);
        MF_NEED(model->env, outputs[i].path);
    }

    struct mf_quantizing work;
    struct mf_mix_result *mix;
    enum mf_status status;

    if (mf_quantizing_take(&work, model, options, how) != MF_OK)
        return MF_ERR_ARGUMENT;
    mix = mf_alloc(model->env, count * sizeof(*mix));
    status =
        mix ? quantize(&work, outputs, count, mix) : model->env->error.status;
    for (size_t i = 0; i < count && status == MF_OK && results; i++)
        mf_quantizing_result(&work, i, 1, &mix[i], &results[i]);
    mf_release(model->env, mix, count * sizeof(*mix));
    mf_quantizing_end(&work);
    return status;
}
