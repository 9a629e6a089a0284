/* SPDX-License-Identifier: MIT
 *
 * unchanged.c - outputs are made of what the inputs are at the end
 *
 * Inputs are read for as long as the work takes.  An edit meanwhile would make
 * an output of two halves.  What shows that, and what to do where only the time
 * of the last change of status differs, is in lib/model/steady.h: the header is
 * parsed again, and then the outputs are made again without being written, and
 * compared.  No digest of the bytes read is kept, so that unchanged inputs cost
 * no time.
 */
#include "lib/model/steady.h"
#include "lib/write/resume.h"

enum mf_status mf_outputs_input_changed(const struct mf_outputs *outputs)
{
    return mf_fail(outputs->env, MF_ERR_IO, MF_NO_OFFSET,
                   "the file was written to while it was read, and its time "
                   "set back");
}

/* ---- headers ---- */

static enum mf_status compare_bytes(void *user, uint64_t offset,
                                    const void *bytes, size_t size)
{
    struct mf_output *output = user;
    struct mf_env *env = output->draft.env;
    const uint8_t *at = bytes;
    uint8_t there[4096];

    for (size_t some; size > 0; at += some, offset += some, size -= some) {
        some = size < sizeof(there) ? size : sizeof(there);
        if (mf_target_read(env, &output->target, offset, there, some) != MF_OK)
            return env->error.status;
        if (memcmp(at, there, some) != 0)
            return mf_fail(env, MF_ERR_IO, MF_NO_OFFSET,
                           "the metadata was written to while it was read, and "
                           "the file's time set back");
    }
    return MF_OK;
}

enum mf_status mf_output_compare_header(struct mf_output *output)
{
    struct mf_sink sink;

    mf_sink_init(&sink, output->draft.env);
    sink.write = compare_bytes;
    sink.user = output;
    return mf_draft_head(&output->draft, &sink);
}

/* ---- all of it ---- */

static enum mf_status make_again(struct mf_outputs *outputs,
                                 struct mf_crew *crew)
{
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < outputs->count; i++)
        if (outputs->output[i].target.stream)
            return mf_fail(outputs->env, MF_ERR_IO, MF_NO_OFFSET,
                           "the file, or its mode or name, was changed while "
                           "it was read, and a pipe cannot be compared with "
                           "it");
    for (size_t i = 0; i < outputs->count && status == MF_OK; i++)
        if (!outputs->verbatim && !outputs->attempt)
            status = mf_output_compare_header(&outputs->output[i]);
    crew->work += mf_outputs_work(outputs);
    if (status == MF_OK && outputs->resume)
        return mf_resume_recheck(outputs->resume) == MF_OK
                   ? mf_outputs_transfer(outputs, crew)
                   : outputs->env->error.status;
    outputs->again = true;
    if (status == MF_OK)
        status = mf_outputs_transfer(outputs, crew);
    outputs->again = false;
    return status;
}

enum mf_status mf_outputs_steady(struct mf_outputs *outputs,
                                 struct mf_crew *crew)
{
    struct mf_env *env = outputs->env;
    struct mf_model *models[3] = { outputs->model };
    struct mf_source matrix = { 0 };
    unsigned round = 1; /* the work itself was one */
    size_t count = 1;
    uint64_t any; /* of all ranks */
    bool touched = true;

    if (outputs->of_base)
        models[count++] = outputs->of_base;
    if (outputs->lora.model)
        models[count++] = outputs->lora.model;
    if (outputs->imatrix)
        matrix = *outputs->imatrix;
    while (touched) {
        touched = false;
        if (outputs->imatrix &&
            mf_source_steady(env, &matrix, &touched) != MF_OK)
            return env->error.status;
        if (mf_steady_next(env, models, count, &round))
            touched = true;
        any = touched;
        if (env->error.status != MF_OK || mf_ranks_most(env, &any) != MF_OK)
            return env->error.status;
        touched = any > 0;
        if (touched && make_again(outputs, crew) != MF_OK)
            return env->error.status;
    }
    return MF_OK;
}
