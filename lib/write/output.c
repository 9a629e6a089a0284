/* SPDX-License-Identifier: MIT
 *
 * output.c - the header and the checksum of a file that is written
 */
#include "lib/base/timings.h"
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
        status = mf_crew_run(crew, sum_piece, &sum, count);
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

enum mf_status mf_output_write_footer(struct mf_output *output,
                                      struct mf_crew *crew)
{
    struct mf_target *target = &output->target;
    uint64_t end = output->draft.file_size - sizeof(uint32_t);
    uint32_t crc = target->crc;
    uint8_t bytes[sizeof(crc)];

    if (!output->draft.out->has_crc)
        return MF_OK;
    if (!target->stream && sum_crc(target, NULL, end, crew, &crc) != MF_OK)
        return target->env->error.status;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(crc >> 8 * i);
    return mf_target_write(target->env, target, end, bytes, sizeof(bytes));
}
