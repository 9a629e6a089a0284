/* SPDX-License-Identifier: MIT
 *
 * convert.c - a model is written as other files or in another format
 *
 * All targets are opened, with their space, before the first byte is written,
 * and all are on the disk before the first is renamed.  Until then an error
 * leaves everything as it was.  Renames themselves cannot be made atomic
 * together; where one fails after others have succeeded, the message says how
 * many files are in place.  The index.json is renamed last: it never lists
 * a file that does not exist.
 */
#include "lib/write/convert.h"

#include "lib/base/options.h"
#include "lib/base/signals.h"
#include "lib/base/timings.h"
#include "lib/io/path.h"
#include "lib/program.h"
#include "lib/write/part.h"
#include "lib/write/resume.h"

/* ---- the index.json ---- */

static void put_index(const struct mf_outputs *outputs, struct mf_sink *sink)
{
    struct mf_json_out json = mf_draft_json(sink);
    uint64_t size = 0;

    for (size_t i = 0; i < outputs->count; i++)
        size += outputs->output[i].draft.data_size;
    mf_json_begin(&json, '{');
    mf_json_key(&json, "metadata");
    mf_json_begin(&json, '{');
    mf_json_key(&json, "total_size");
    mf_json_u64(&json, size);
    mf_json_end(&json, '}');
    mf_json_key(&json, "weight_map");
    mf_json_begin(&json, '{');
    for (size_t i = 0; i < outputs->count; i++) {
        const struct mf_output *output = &outputs->output[i];
        const char *name = mf_base_name(output->path);

        for (size_t t = 0; t < output->draft.tensor_count; t++) {
            struct mf_str tensor = output->draft.tensor[t].name;

            mf_json_open_string(&json);
            mf_json_piece(&json, tensor.at, tensor.size);
            mf_json_close_string(&json, true);
            mf_json_string(&json, name, strlen(name));
        }
    }
    mf_json_end(&json, '}');
    mf_json_end(&json, '}');
    mf_put(sink, "\n", 1);
}

static enum mf_status write_index(void *user, uint64_t offset,
                                  const void *bytes, size_t size)
{
    struct mf_target *target = user;

    return mf_target_write(target->env, target, offset, bytes, size);
}

/* Its name is given by the caller, whether it is open to be written or to be
 * compared. */
enum mf_status mf_outputs_fill_index(struct mf_outputs *outputs)
{
    struct mf_sink sink;

    mf_sink_init(&sink, outputs->env);
    sink.write = write_index;
    sink.user = &outputs->index;
    put_index(outputs, &sink);
    return mf_sink_finish(&sink);
}

uint64_t mf_outputs_index_size(const struct mf_outputs *outputs)
{
    struct mf_sink sink;

    mf_sink_init(&sink, outputs->env);
    put_index(outputs, &sink);
    return sink.offset;
}

static enum mf_status open_index(struct mf_outputs *outputs, bool replace)
{
    if (!outputs->index_path)
        return MF_OK;
    if (mf_target_open_for(outputs->env, outputs->index_path,
                           mf_outputs_index_size(outputs), replace,
                           &outputs->given, &outputs->index) != MF_OK)
        return outputs->env->error.status;
    return mf_outputs_fill_index(outputs);
}

/* Written last: it is small, and no kill leaves it. */
static enum mf_status resume_index(struct mf_outputs *outputs)
{
    if (!outputs->index_path || !outputs->resume)
        return MF_OK;
    if (mf_resume_index(outputs->resume, mf_outputs_index_size(outputs)) !=
        MF_OK)
        return outputs->env->error.status;
    return mf_outputs_fill_index(outputs);
}

/* ---- all of it ---- */

static uint64_t total_size(const struct mf_outputs *outputs)
{
    uint64_t size = 0;

    for (size_t i = 0; i < outputs->count; i++)
        size += outputs->output[i].draft.file_size;
    return size;
}

/* Binary digits that numbers of a type can have, 0 for floats of 32 bits or
 * less: those are made narrower on request only. */
static unsigned digits_before(enum mf_type type)
{
    switch (type) {
    case MF_TYPE_F64:
        return 53;
    case MF_TYPE_I64:
    case MF_TYPE_U64:
        return 64;
    case MF_TYPE_I32:
    case MF_TYPE_U32:
        return 32;
    case MF_TYPE_I16:
    case MF_TYPE_U16:
        return 16;
    default:
        return 0;
    }
}

/* Those that all of its numbers keep. */
static unsigned digits_after(enum mf_type type)
{
    switch (type) {
    case MF_TYPE_F32:
        return 24;
    case MF_TYPE_F16:
        return 11;
    case MF_TYPE_BF16:
        return 8;
    default: /* not rounded to a float */
        return 64;
    }
}

static void count_one(struct mf_convert_result *out, const uint64_t *dim,
                      uint32_t rank)
{
    uint64_t numbers = 0;

    mf_elements(dim, rank, &numbers);
    out->rounded++;
    out->rounded_numbers += numbers;
}

/* Tensors under other names are made of floats of 32 bits: a model's f64 are
 * rounded on the way there. */
static void count_renamed(const struct mf_outputs *outputs,
                          struct mf_convert_result *out)
{
    const struct mf_index *index = &outputs->model->index;
    bool renamed = outputs->renaming.made || outputs->computed;

    for (size_t i = 0; renamed && i < index->tensor_count; i++)
        if (index->tensor[i].type == MF_TYPE_F64)
            count_one(out, index->tensor[i].dim, index->tensor[i].rank);
}

static void count_rounded(const struct mf_outputs *outputs,
                          struct mf_convert_result *out)
{
    for (size_t i = 0; i < outputs->count; i++) {
        const struct mf_draft *draft = &outputs->output[i].draft;

        for (size_t k = 0; k < draft->tensor_count; k++) {
            const struct mf_draft_tensor *tensor = &draft->tensor[k];

            if (digits_before((enum mf_type)tensor->from) >
                digits_after((enum mf_type)tensor->type))
                count_one(out, tensor->dim, tensor->rank);
        }
    }
    if (out->rounded == 0)
        count_renamed(outputs, out);
}

static enum mf_status resume_targets(struct mf_outputs *outputs)
{
    struct mf_resume *resume = outputs->resume;
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < outputs->count && status == MF_OK; i++) {
        struct mf_output *output = &outputs->output[i];

        status = mf_resume_target(resume, i);
        if (status == MF_OK && i == 0 && !resume->going_on &&
            !outputs->together)
            status = mf_target_check_space(
                &output->target, total_size(outputs) - output->draft.file_size);
    }
    return status;
}

static enum mf_status open_targets(struct mf_outputs *outputs, bool replace)
{
    enum mf_status status = MF_OK;

    if (outputs->resume)
        return resume_targets(outputs);

    for (size_t i = 0; i < outputs->count && status == MF_OK; i++) {
        struct mf_output *output = &outputs->output[i];

        status = mf_target_open_for(outputs->env, output->path,
                                    output->draft.file_size, replace,
                                    &outputs->given, &output->target);
        output->target.expected = outputs->replaces;
        /* Outputs that are models may be in different file systems. */
        if (status == MF_OK && i == 0 && !outputs->together)
            status = mf_target_check_space(
                &output->target, total_size(outputs) - output->draft.file_size);
    }
    return status == MF_OK ? open_index(outputs, replace) : status;
}

static enum mf_status check_unchanged(const struct mf_model *model)
{
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < model->file_count && status == MF_OK; i++)
        status = mf_source_unchanged(model->env, &model->file[i].source);
    return status;
}

static enum mf_status write_outputs(struct mf_outputs *outputs,
                                    struct mf_crew *crew)
{
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < outputs->count && status == MF_OK; i++)
        if (!outputs->verbatim)
            status = mf_output_write_header(&outputs->output[i]);
    if (status == MF_OK)
        status = mf_outputs_transfer(outputs, crew);
    if (status == MF_OK)
        status = mf_outputs_steady(outputs, crew);
    for (size_t i = 0; i < outputs->count && status == MF_OK; i++)
        if (!outputs->verbatim)
            status = mf_output_write_footer(&outputs->output[i], crew);
    return status;
}

/* Adds to the error how many files were renamed before it. */
static enum mf_status fail_after(const struct mf_outputs *outputs, size_t done)
{
    struct mf_env *env = outputs->env;
    struct mf_error error = env->error;

    mf_clear_error(env);
    return mf_fail(env, error.status, error.offset,
                   "%s; %zu of %zu files are in place, the first is '%s'",
                   error.message, done, outputs->count,
                   mf_quote((struct mf_str){ outputs->output->path,
                                             strlen(outputs->output->path) })
                       .text);
}

/* Syncing may have taken minutes.  If the file that is replaced, or the inputs
 * that will be deleted, were written to meanwhile, that must not be lost. */
static enum mf_status check_replaced(const struct mf_outputs *outputs)
{
    return outputs->replaces || outputs->deletes
               ? check_unchanged(outputs->model)
               : MF_OK;
}

/* Signals are held back between the renames, so that an end by mf_env_abandon
 * leaves either all files in place or none. */
enum mf_status mf_outputs_commit(struct mf_outputs *outputs)
{
    enum mf_status status = MF_OK;
    mf_signals before;
    size_t done = 0;

    if (outputs->resume)
        status = mf_resume_naming(outputs->resume);
    for (size_t i = 0; i < outputs->count && status == MF_OK; i++)
        status = mf_target_sync(&outputs->output[i].target);
    if (status != MF_OK && outputs->resume)
        mf_resume_lost(outputs->resume);
    if (status == MF_OK)
        status = resume_index(outputs);
    if (status == MF_OK && outputs->index_path)
        status = mf_target_sync(&outputs->index);
    if (status == MF_OK)
        status = check_replaced(outputs);
    status = mf_ranks_agree(outputs->env, status);
    mf_signals_hold(&before);
    for (size_t i = 0; i < outputs->count && status == MF_OK; i++) {
        status = mf_target_commit(&outputs->output[i].target);
        done += status == MF_OK;
    }
    if (status == MF_OK && outputs->index_path)
        status = mf_target_commit(&outputs->index);
    mf_signals_release(&before);
    return status == MF_OK || done == 0 ? status : fail_after(outputs, done);
}

static enum mf_status make_files(struct mf_outputs *outputs, bool replace,
                                 struct mf_crew *crew)
{
    enum mf_status status = open_targets(outputs, replace);

    if (status == MF_OK && outputs->output->target.stream)
        crew->count = 1; /* a pipe is written in order */
    if (status == MF_OK)
        status = write_outputs(outputs, crew);
    return status == MF_OK ? mf_outputs_commit(outputs) : status;
}

/* Of several parts the first checks them for all. */
static bool checks_footers(const struct mf_outputs *outputs)
{
    return !outputs->verbatim && outputs->output->draft.out->has_crc &&
           outputs->part_number <= 1;
}

static enum mf_status write_files(struct mf_outputs *outputs, bool replace)
{
    struct mf_crew crew = { 0 };
    uint64_t size = total_size(outputs);
    size_t buffer;
    enum mf_status status = mf_outputs_buffer_need(outputs, &buffer);

    if (status == MF_OK)
        status = mf_crew_init_slow(&crew, outputs->env, size, size, buffer);
    crew.work = mf_outputs_work(outputs);
    if (status == MF_OK && checks_footers(outputs))
        status = mf_outputs_check_footers(outputs, &crew);
    if (status == MF_OK && outputs->attempt)
        status = mf_part_move(outputs->attempt, &crew);
    else if (status == MF_OK)
        status = make_files(outputs, replace, &crew);
    mf_crew_release(&crew);
    return status;
}

static enum mf_status write_part(struct mf_outputs *outputs, bool replace)
{
    struct mf_attempt attempt;
    enum mf_status status;

    outputs->attempt = &attempt;
    status = mf_part_open(&attempt, outputs, replace);
    if (status == MF_OK)
        status = write_files(outputs, replace);
    mf_part_close(&attempt);
    outputs->attempt = NULL;
    return status;
}

static enum mf_status write_or_resume(struct mf_outputs *outputs, bool replace,
                                      bool resume)
{
    enum mf_status status = mf_outputs_guard_inputs(outputs);
    struct mf_resume kept;

    atomic_store(&outputs->env->resumable, outputs->env->measured);
    if (status == MF_OK && outputs->parts > 0)
        return write_part(outputs, replace);
    if (status != MF_OK || !resume)
        return status == MF_OK ? write_files(outputs, replace) : status;
    outputs->resume = &kept;
    status = mf_resume_open(&kept, outputs, replace);
    if (status == MF_OK)
        status = write_files(outputs, replace);
    mf_resume_close(&kept, status);
    outputs->resume = NULL;
    return status;
}

enum mf_status mf_outputs_write(struct mf_outputs *outputs, bool replace,
                                bool resume)
{
    struct mf_timed timed = mf_timed_begin(outputs->env, MF_PHASE_REST);
    enum mf_status status = write_or_resume(outputs, replace, resume);

    mf_timed_end(outputs->env, timed);
    return status;
}

enum mf_status mf_outputs_give(struct mf_outputs *outputs,
                               const struct mf_convert_options *options)
{
    const char *what = options->resume          ? "work to be resumed"
                       : options->delete_inputs ? "inputs to be removed"
                       : outputs->stage.env     ? "a folder"
                                                : NULL;

    if (!options->output)
        return MF_OK;
    if (what)
        return mf_fail(outputs->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "%s needs files as output, not functions", what);
    return mf_target_check_given(outputs->env, options->output,
                                 &outputs->given);
}

/* A tensor is never cut. */
static void name_large(const struct mf_outputs *outputs,
                       const struct mf_convert_options *options)
{
    uint64_t limit = options->shard_size;

    for (size_t i = 0; limit > 0 && options->exceeds && i < outputs->count;
         i++) {
        const struct mf_draft *draft = &outputs->output[i].draft;

        for (size_t k = 0; k < draft->tensor_count; k++)
            if (draft->tensor[k].size > limit)
                options->exceeds(options->user, draft->tensor[k].name,
                                 draft->tensor[k].size);
    }
}

enum mf_status mf_model_convert(struct mf_model *model, const char *path,
                                const struct mf_convert_options *options,
                                struct mf_convert_result *out)
{
    MF_NEED(NULL, model);
    MF_NEED(model->env, path);

    struct mf_convert_options known;

    if (mf_options_take(model->env, &known, sizeof(known), options) != MF_OK ||
        mf_edits_check(model->env, known.edits, known.edit_count) != MF_OK)
        return MF_ERR_ARGUMENT;
    if (mf_convert_names(model, path, &known, &known.names) != MF_OK)
        return model->env->error.status;

    struct mf_outputs outputs;
    struct mf_timed timed;
    enum mf_status status;

    mf_clear_error(model->env);
    options = &known;
    timed = mf_timed_begin(model->env, MF_PHASE_PLAN);
    status = mf_outputs_plan(model, path, options, &outputs);
    mf_timed_end(model->env, timed);
    outputs.deletes = options->delete_inputs;
    if (status == MF_OK)
        status = mf_outputs_give(&outputs, options);
    if (status == MF_OK)
        status = mf_outputs_divide(&outputs, path, options);
    if (status == MF_OK)
        name_large(&outputs, options);
    if (status == MF_OK)
        status = options->dry_run ? mf_outputs_check(&outputs, options->replace)
                                  : mf_outputs_write(&outputs, options->replace,
                                                     options->resume);
    if (status == MF_OK && outputs.stage.env && !options->dry_run)
        status = mf_stage_commit(&outputs.stage);
    if (status == MF_OK && options->delete_inputs && !options->dry_run &&
        !mf_ranks_follow(outputs.env))
        status = mf_outputs_delete_inputs(&outputs);
    if (status == MF_OK && out) {
        *out = (struct mf_convert_result){
            .format = outputs.output->draft.format->name,
            .file_count = outputs.count,
            .file_size = total_size(&outputs),
            .left_out = outputs.left_out,
            .tensors_left_out = outputs.renaming.lost,
            .reordered = outputs.restored.reordered,
            .gained = outputs.restored.gained,
            .back_without_mtp = outputs.restored.without_mtp,
            .rescaled = outputs.rescaled,
            .assumed_count = outputs.restored.assumed_count,
        };
        memcpy(out->assumed, outputs.restored.assumed, sizeof(out->assumed));
        count_rounded(&outputs, out);
    }
    mf_outputs_release(&outputs);
    return status;
}
