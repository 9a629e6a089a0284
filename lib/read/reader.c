/* SPDX-License-Identifier: MIT
 *
 * reader.c - readers of tensors: one for each thread, and the model's own
 */
#include "lib/read/read.h"

/* Half of a second-level cache: as fast as the buffers of a crew. */
#define BUFFER_MAX ((size_t)256 * 1024)

/* Room for the largest block and its tensor's head. */
#define BUFFER_MIN ((size_t)4096)

/* Of the memory that is left. */
#define SHARE 8

static struct mf_tensor_reader *reader_new(struct mf_model *model)
{
    struct mf_env *env = model->env;
    uint64_t data = model->info.data_size;
    struct mf_chunk_size size = mf_chunk_size(env, BUFFER_MIN,
                                              data < BUFFER_MIN   ? BUFFER_MIN
                                              : data < BUFFER_MAX ? (size_t)data
                                                                  : BUFFER_MAX,
                                              1, SHARE);
    const struct mf_isa *isa = mf_isa_choose(env);
    struct mf_tensor_reader *reader =
        isa ? mf_alloc(env, sizeof(*reader)) : NULL;

    if (!reader)
        return NULL;
    *reader = (struct mf_tensor_reader){ .model = model, .isa = isa };
    mf_env_lend(&reader->env, env);
    reader->buffer = mf_chunk_alloc(env, &size, 1);
    reader->room = size.now;
    if (reader->buffer)
        return reader;
    mf_release(env, reader, sizeof(*reader));
    return NULL;
}

enum mf_status mf_tensor_reader_open(struct mf_model *model,
                                     struct mf_tensor_reader **out)
{
    MF_NEED(NULL, model);
    MF_NEED(model->env, out);

    struct mf_tensor_reader *reader;

    mf_clear_error(model->env);
    reader = reader_new(model);
    if (!reader)
        return model->env->error.status;
    mf_model_hold(model);
    *out = reader;
    return MF_OK;
}

static void release(struct mf_tensor_reader *reader)
{
    struct mf_env *env = reader->model->env;

    env->io.reads += reader->env.io.reads;
    env->io.bytes_read += reader->env.io.bytes_read;
    mf_release(env, reader->buffer, reader->room);
    mf_release(env, reader, sizeof(*reader));
}

void mf_tensor_reader_close(struct mf_tensor_reader *reader)
{
    struct mf_model *model = reader ? reader->model : NULL;

    if (!reader)
        return;
    release(reader);
    mf_model_leave(model);
}

const struct mf_error *
mf_tensor_reader_error(const struct mf_tensor_reader *reader)
{
    return mf_env_error(reader ? &reader->env : NULL);
}

/* ---- with the model's own reader ---- */

/* Its errors and reads belong to the model's env. */
static struct mf_tensor_reader *own_reader(struct mf_model *model)
{
    if (!model->reader) {
        model->reader = reader_new(model);
        model->release_reader = release;
        if (model->reader)
            model->reader->env.timings = model->env->timings;
    }
    return model->reader;
}

static enum mf_status read_by_own(struct mf_model *model)
{
    struct mf_tensor_reader *reader = model->reader;

    model->env->io.reads += reader->env.io.reads;
    model->env->io.bytes_read += reader->env.io.bytes_read;
    reader->env.io = (struct mf_io_stats){ 0 };
    model->env->error = reader->env.error;
    return model->env->error.status;
}

enum mf_status mf_tensor_read(struct mf_model *model, size_t index,
                              uint64_t first, uint64_t count,
                              enum mf_read_as as, void *out)
{
    MF_NEED(NULL, model);
    MF_NEED(model->env, out || count == 0);

    struct mf_tensor_reader *reader;

    mf_clear_error(model->env);
    reader = own_reader(model);
    if (!reader)
        return model->env->error.status;
    mf_tensor_reader_read(reader, index, first, count, as, out);
    return read_by_own(model);
}

enum mf_status mf_tensor_bytes(struct mf_model *model, size_t index,
                               uint64_t offset, size_t size, void *out)
{
    MF_NEED(NULL, model);
    MF_NEED(model->env, out || size == 0);

    struct mf_tensor_reader *reader;

    mf_clear_error(model->env);
    reader = own_reader(model);
    if (!reader)
        return model->env->error.status;
    mf_tensor_reader_bytes(reader, index, offset, size, out);
    return read_by_own(model);
}
