/* SPDX-License-Identifier: MIT
 *
 * output.c - one file that is written: its header, its checksum, its order of
 * bytes, the work that it is
 */
#include <math.h>

#include "lib/base/options.h"
#include "lib/base/timings.h"
#include "lib/program.h"
#include "lib/write/convert.h"

static enum mf_status write_head(void *user, uint64_t offset, const void *bytes,
                                 size_t size)
{
    struct mf_output *output = user;

    return mf_target_write(output->draft.env, &output->target, offset, bytes,
                           size);
}

static enum mf_status write_header(struct mf_output *output)
{
    struct mf_draft *draft = &output->draft;
    struct mf_sink sink;
    enum mf_status status;

    mf_sink_init(&sink, draft->env);
    sink.write = write_head;
    sink.user = output;
    status = mf_draft_head(draft, &sink);
    if (status == MF_OK && sink.offset != draft->data_offset)
        status = mf_fail(draft->env, MF_ERR_IO, MF_NO_OFFSET,
                         "the header has another size than planned: the input "
                         "changed while it was read");
    return status;
}

enum mf_status mf_output_write_header(struct mf_output *output)
{
    struct mf_timed timed = mf_timed_begin(output->draft.env, MF_PHASE_PLAN);
    enum mf_status status = write_header(output);

    mf_timed_end(output->draft.env, timed);
    return status;
}

/* ---- the checksum ---- */

#define PIECE  ((uint64_t)4 * 1024 * 1024)
#define PIECES 1024 /* 4 GiB at a time */

struct checksum {
    const struct mf_target *target; /* either this or the source */
    const struct mf_source *source;
    uint64_t from, to;
    uint32_t crc[PIECES];
};

static uint64_t piece_size(const struct checksum *sum, size_t task)
{
    uint64_t left = sum->to - sum->from - task * PIECE;

    return left < PIECE ? left : PIECE;
}

static enum mf_status read_bytes(struct mf_env *env, const struct checksum *sum,
                                 uint64_t at, void *buffer, size_t size)
{
    return sum->target ? mf_target_read(env, sum->target, at, buffer, size)
                       : mf_source_read(env, sum->source, at, buffer, size);
}

static enum mf_status sum_piece(struct mf_worker *worker, void *context,
                                size_t task)
{
    struct checksum *sum = context;
    uint64_t at = sum->from + task * PIECE;
    uint64_t end = at + piece_size(sum, task);
    struct mf_timed timed;
    uint32_t crc = 0;

    while (at < end) {
        uint8_t *buffer = mf_worker_room(worker, at);
        size_t size = mf_next_part(&worker->env, end - at, worker->buffer_size);

        if (size == 0 ||
            read_bytes(&worker->env, sum, at, buffer, size) != MF_OK)
            return worker->env.error.status;
        timed = mf_timed_begin(&worker->env, MF_PHASE_DIGEST);
        crc = mf_crc32(crc, buffer, size);
        mf_timed_end(&worker->env, timed);
        at += size;
    }
    sum->crc[task] = crc;
    return MF_OK;
}

static void *crc_of(void *context, size_t task)
{
    struct checksum *sum = context;

    return &sum->crc[task];
}

static const struct mf_yields crcs = { crc_of, sizeof(uint32_t) };

/* The CRC of the first size bytes of a target or a source.  A target is read
 * back: threads wrote its pieces in any order, and what the file has is what
 * the checksum must fit.  (CRCs of the pieces could be joined as they are
 * written, but would also be right for bytes that never reached the file.) */
static enum mf_status sum_crc(const struct mf_target *target,
                              const struct mf_source *source, uint64_t size,
                              struct mf_crew *crew, uint32_t *crc)
{
    /* 4 KiB of stack: memory that is refused here would be refused after all
     * the work. */
    struct checksum sum = { .target = target, .source = source };
    enum mf_status status = MF_OK;

    *crc = 0;
    for (uint64_t at = 0; at < size && status == MF_OK; at = sum.to) {
        size_t count;

        sum.from = at;
        sum.to = size - at < PIECE * PIECES ? size : at + PIECE * PIECES;
        count = (size_t)((sum.to - at + PIECE - 1) / PIECE);
        status = mf_crew_share(crew, sum_piece, NULL, &sum, count, &crcs);
        for (size_t i = 0; i < count && status == MF_OK; i++)
            *crc = mf_crc32_join(*crc, sum.crc[i], piece_size(&sum, i));
    }
    return status;
}

enum mf_status mf_outputs_check_footers(const struct mf_outputs *outputs,
                                        struct mf_crew *crew)
{
    struct mf_model *model = outputs->model;
    struct mf_env *env = outputs->env;
    uint8_t bytes[sizeof(uint32_t)];
    uint32_t found, expected;

    for (size_t i = 0; i < model->file_count; i++) {
        const struct mf_source *source = &model->file[i].source;
        uint64_t end = source->size - sizeof(bytes);

        if (!model->part[i].has_footer)
            continue;
        if (sum_crc(NULL, source, end, crew, &found) != MF_OK ||
            mf_source_read(env, source, end, bytes, sizeof(bytes)) != MF_OK)
            return env->error.status;
        expected = 0;
        for (size_t k = sizeof(bytes); k-- > 0;)
            expected = expected << 8 | bytes[k];
        if (expected != found)
            return mf_fail(env, MF_ERR_CORRUPT, end,
                           "the footer's checksum is %08" PRIx32
                           ", the file's bytes give %08" PRIx32
                           ": damaged data do not get a new checksum",
                           expected, found);
    }
    return MF_OK;
}

enum mf_status mf_target_write_crc(struct mf_target *target,
                                   struct mf_crew *crew)
{
    uint64_t end = target->size - sizeof(uint32_t);
    uint32_t crc = target->crc;
    uint8_t bytes[sizeof(crc)];

    if (!target->stream && sum_crc(target, NULL, end, crew, &crc) != MF_OK)
        return target->env->error.status;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(crc >> 8 * i);
    return mf_target_write(target->env, target, end, bytes, sizeof(bytes));
}

enum mf_status mf_output_write_footer(struct mf_output *output,
                                      struct mf_crew *crew)
{
    return output->draft.out->has_crc
               ? mf_target_write_crc(&output->target, crew)
               : MF_OK;
}

/* ---- the order of bytes of the files that are written ---- */

/* Two options name it: byte_order, for any model that becomes GGUF, and
 * big_endian, for what llama.cpp's converter makes of a folder, faults
 * included. */

enum mf_status mf_outputs_check_order(struct mf_env *env, const char *path,
                                      const struct mf_convert_options *options)
{
    const char *name = options->byte_order;

    if (!name)
        return MF_OK;
    if (strcmp(name, "big") != 0 && strcmp(name, "little") != 0)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "unknown byte order '%s': expected little or big",
                       mf_quote((struct mf_str){ name, strlen(name) }).text);
    if (options->big_endian)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "a byte order and the converter's big-endian files "
                       "exclude each other");
    if (strcmp(name, "big") == 0 && mf_output_is_folder(path))
        return mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "a folder is always little-endian");
    return MF_OK;
}

enum mf_byte_order mf_outputs_order(const struct mf_model *model,
                                    const struct mf_convert_options *options)
{
    if (!options->byte_order)
        return model->info.byte_order;
    return strcmp(options->byte_order, "big") == 0 ? MF_BIG_ENDIAN
                                                   : MF_LITTLE_ENDIAN;
}

void mf_outputs_set_order(const struct mf_model *model, struct mf_draft *draft,
                          const struct mf_convert_options *options)
{
    if (options->byte_order || draft->format == model->format)
        draft->big_endian = mf_outputs_order(model, options) == MF_BIG_ENDIAN;
    if (options->big_endian)
        draft->big_endian = draft->only_floats = true;
}

/* ---- how much work a conversion is, and the memory that it needs ---- */

static uint64_t work_of(const struct mf_model *model,
                        const struct mf_draft_tensor *tensor)
{
    if (tensor->made)
        return tensor->made->size;
    return tensor->size > 0 ? model->index.tensor[tensor->record].size : 0;
}

uint64_t mf_outputs_work(const struct mf_outputs *outputs)
{
    uint64_t work = 0;

    if (outputs->verbatim)
        return outputs->model->file[0].source.size;
    for (size_t i = 0; i < outputs->count; i++) {
        const struct mf_draft *draft = &outputs->output[i].draft;

        for (size_t t = 0; t < draft->tensor_count; t++) {
            uint64_t more = work_of(outputs->model, &draft->tensor[t]);

            work = more > UINT64_MAX - work ? UINT64_MAX : work + more;
        }
    }
    return work;
}

enum mf_status mf_outputs_buffer_need(const struct mf_outputs *outputs,
                                      size_t *out)
{
    const struct mf_isa *isa = mf_isa_choose(outputs->env);

    *out = 0;
    if (!isa)
        return outputs->env->error.status;
    for (size_t i = 0; i < outputs->count; i++) {
        const struct mf_draft *draft = &outputs->output[i].draft;

        for (size_t t = 0; t < draft->tensor_count; t++) {
            const struct mf_draft_tensor *tensor = &draft->tensor[t];
            struct mf_recoding recoding;

            if (tensor->from == tensor->type)
                continue;
            if (!mf_recoding_init(outputs->env, isa, tensor,
                                  draft->format->fastest_first, &recoding))
                return outputs->env->error.status;
            if (mf_recoding_need(&recoding) > *out)
                *out = mf_recoding_need(&recoding);
        }
    }
    return MF_OK;
}

/* ---- an adapter that is added to the model that is written ---- */

enum mf_status mf_outputs_open_lora(struct mf_outputs *outputs,
                                    const struct mf_convert_options *options)
{
    struct mf_lora *lora = &outputs->lora;

    if (!options->lora)
        return MF_OK;
    if (!isfinite(options->lora_scale))
        return mf_fail(outputs->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "the scale of an adapter is not finite");
    if (mf_lora_open(lora, outputs->env, options->lora) != MF_OK)
        return mf_lora_set_file(lora, outputs->env->error.status);
    lora->factor = options->lora_scale != 0 ? options->lora_scale : 1;
    return mf_lora_set_file(lora, mf_lora_check(lora));
}

enum mf_status mf_outputs_apply_lora(struct mf_outputs *outputs,
                                     struct mf_draft *draft)
{
    return outputs->lora.model
               ? mf_lora_apply(&outputs->lora, draft, outputs->model)
               : MF_OK;
}

enum mf_status mf_outputs_check_lora(const struct mf_outputs *outputs)
{
    return outputs->lora.model ? mf_lora_check_used(&outputs->lora) : MF_OK;
}

/* ---- a file that a program made from a model, as a whole ---- */

static enum mf_status write_target(struct mf_env *env, const char *path,
                                   bool replace, const void *bytes, size_t size)
{
    struct mf_target target = MF_TARGET_NONE;
    enum mf_status status = mf_target_open(env, path, size, replace, &target);

    if (status == MF_OK)
        status = mf_target_write(env, &target, 0, bytes, size);
    return mf_target_finish(&target, status);
}

enum mf_status mf_output_open(struct mf_model *const *models, size_t count,
                              const char *path, bool replace, uint64_t size,
                              struct mf_target *out)
{
    struct mf_output output = { .path = path, .target = MF_TARGET_NONE };
    struct mf_outputs outputs = { .env = models[0]->env,
                                  .output = &output,
                                  .count = 1,
                                  .index = MF_TARGET_NONE };

    mf_clear_error(outputs.env);
    for (size_t i = 0; i < count; i++) {
        outputs.model = models[i];
        if (mf_outputs_guard_inputs(&outputs) != MF_OK)
            return outputs.env->error.status;
    }
    return mf_target_open(outputs.env, path, size, replace, out);
}

enum mf_status mf_output_write(struct mf_model *model, const char *path,
                               bool replace, const void *bytes, size_t size)
{
    MF_NEED(NULL, model);
    MF_NEED(model->env, path);
    MF_NEED(model->env, bytes);

    struct mf_target target = MF_TARGET_NONE;
    enum mf_status status =
        mf_output_open(&model, 1, path, replace, size, &target);

    if (status == MF_OK)
        status = mf_target_write(model->env, &target, 0, bytes, size);
    return mf_target_finish(&target, status);
}

enum mf_status mf_file_write(struct mf_env *env, const char *path, bool replace,
                             const void *bytes, size_t size)
{
    MF_NEED(NULL, env);
    MF_NEED(env, path);
    MF_NEED(env, bytes);

    mf_clear_error(env);
    if (mf_output_guard_read(env, path) != MF_OK)
        return env->error.status;
    return write_target(env, path, replace, bytes, size);
}
