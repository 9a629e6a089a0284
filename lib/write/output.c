/* SPDX-License-Identifier: MIT
 *
 * output.c - what stands before and behind the data of a file that is written
 */
#include "lib/write/convert.h"

static enum mf_status write_head(void *user, uint64_t offset, const void *bytes,
                                 size_t size)
{
    struct mf_output *output = user;

    return mf_target_write(output->draft.env, &output->target, offset, bytes,
                           size);
}

enum mf_status mf_output_write_header(struct mf_output *output)
{
    struct mf_draft *draft = &output->draft;
    struct mf_sink sink;
    enum mf_status status;

    mf_sink_init(&sink, draft->env);
    sink.write = write_head;
    sink.user = output;
    sink.big_endian = draft->big_endian;
    status = draft->format->out->head(draft, &sink);
    if (mf_sink_finish(&sink) != MF_OK) /* which came first */
        status = sink.status;
    if (status == MF_OK && sink.offset != draft->data_offset)
        status = mf_fail(draft->env, MF_ERR_IO, MF_NO_OFFSET,
                         "the metadata is not what it was when it was counted: "
                         "the input changed while it was read");
    return status;
}

/* ---- the checksum ---- */

#define PIECE  ((uint64_t)4 * 1024 * 1024)
#define PIECES 1024 /* 4 GiB at a time */

struct summing {
    const struct mf_target *target; /* or: */
    const struct mf_source *source;
    uint64_t from, to;
    uint32_t crc[PIECES];
};

static uint64_t piece_size(const struct summing *summing, size_t task)
{
    uint64_t left = summing->to - summing->from - task * PIECE;

    return left < PIECE ? left : PIECE;
}

static enum mf_status read_summed(struct mf_env *env,
                                  const struct summing *summing, uint64_t at,
                                  void *buffer, size_t size)
{
    return summing->target
               ? mf_target_read(env, summing->target, at, buffer, size)
               : mf_source_read(env, summing->source, at, buffer, size);
}

static enum mf_status sum_piece(struct mf_worker *worker, void *context,
                                size_t task)
{
    struct summing *summing = context;
    uint64_t at = summing->from + task * PIECE;
    uint64_t end = at + piece_size(summing, task);
    uint32_t crc = 0;

    while (at < end) {
        uint8_t *buffer = mf_worker_room(worker, at);
        size_t size = mf_next_part(&worker->env, end - at, worker->buffer_size);

        if (size == 0 ||
            read_summed(&worker->env, summing, at, buffer, size) != MF_OK)
            return worker->env.error.status;
        crc = mf_crc32(crc, buffer, size);
        at += size;
    }
    summing->crc[task] = crc;
    return MF_OK;
}

/* Of the first size bytes of a target, read back (what is on the disk is what
 * counts), or of a source. */
static enum mf_status sum(struct mf_env *env, const struct mf_target *target,
                          const struct mf_source *source, uint64_t size,
                          struct mf_crew *crew, uint32_t *crc)
{
    struct summing *summing = mf_alloc(env, sizeof(*summing));
    enum mf_status status = summing ? MF_OK : env->error.status;

    *crc = 0;
    for (uint64_t at = 0; at < size && status == MF_OK; at = summing->to) {
        size_t count;

        summing->target = target;
        summing->source = source;
        summing->from = at;
        summing->to = size - at < PIECE * PIECES ? size : at + PIECE * PIECES;
        count = (size_t)((summing->to - at + PIECE - 1) / PIECE);
        status = mf_crew_run(crew, sum_piece, summing, count);
        for (size_t i = 0; i < count && status == MF_OK; i++)
            *crc = mf_crc32_join(*crc, summing->crc[i],
                                 (size_t)piece_size(summing, i));
    }
    mf_release(env, summing, sizeof(*summing));
    return status;
}

enum mf_status mf_outputs_check_footers(const struct mf_outputs *outputs,
                                        struct mf_crew *crew)
{
    struct mf_model *model = outputs->model;
    struct mf_env *env = outputs->env;
    uint8_t bytes[sizeof(uint32_t)];
    uint32_t found, said;

    for (size_t i = 0; i < model->file_count; i++) {
        const struct mf_source *source = &model->file[i].source;
        uint64_t end = source->size - sizeof(bytes);

        if (!model->part[i].has_footer)
            continue;
        if (sum(env, NULL, source, end, crew, &found) != MF_OK ||
            mf_source_read(env, source, end, bytes, sizeof(bytes)) != MF_OK)
            return env->error.status;
        said = 0;
        for (size_t k = sizeof(bytes); k-- > 0;)
            said = said << 8 | bytes[k];
        if (said != found)
            return mf_fail(env, MF_ERR_CORRUPT, end,
                           "the footer's checksum is %08" PRIx32
                           ", that of the bytes before it is %08" PRIx32
                           ": they are not written anew under a new one",
                           said, found);
    }
    return MF_OK;
}

enum mf_status mf_output_write_footer(struct mf_output *output,
                                      struct mf_crew *crew)
{
    struct mf_target *target = &output->target;
    uint64_t end = output->draft.file_size - sizeof(uint32_t);
    uint32_t crc = target->crc;
    uint8_t bytes[sizeof(crc)];

    if (!output->draft.format->out->has_crc)
        return MF_OK;
    if (!target->stream &&
        sum(target->env, target, NULL, end, crew, &crc) != MF_OK)
        return target->env->error.status;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(crc >> 8 * i);
    return mf_target_write(target->env, target, end, bytes, sizeof(bytes));
}
