/* SPDX-License-Identifier: MIT
 *
 * writer.c - files that a program makes itself: opening, bytes, committing
 *
 * The program may write a tensor in pieces of any size, from any thread, in any
 * order; a file in which a piece is missing must not be committed.  A list of
 * the pieces would need memory, a lock and a merge at the end.  Two sums per
 * tensor do instead; count_piece explains them.
 */
#include "lib/write/writer.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* What mf_writer_fill asks the program for at once. */
#define PIECE ((size_t)1024 * 1024)

void mf_writer_free(struct mf_writer *writer)
{
    struct mf_env *env;

    if (!writer)
        return;
    env = writer->env;
    mf_target_abort(&writer->output.target);
    mf_draft_release(&writer->output.draft);
    mf_release(writer->env, writer->written,
               writer->written_count * sizeof(*writer->written));
    mf_release(env, writer, sizeof(*writer));
    mf_env_leave(env);
}

/* ---- opening ---- */

/* Fixes all offsets.  A writer whose plan fails cannot be used any more. */
static enum mf_status plan(struct mf_writer *writer)
{
    struct mf_draft *draft = &writer->output.draft;
    size_t count = draft->tensor_count + 1;

    writer->stage = MF_WRITER_FAILED;
    writer->written = mf_alloc(writer->env, count * sizeof(*writer->written));
    if (!writer->written)
        return writer->env->error.status;
    writer->written_count = count;
    for (size_t i = 0; i < count; i++) {
        atomic_init(&writer->written[i].bytes, 0);
        atomic_init(&writer->written[i].edges, 0);
    }
    if (mf_writer_check_names(writer) != MF_OK || mf_draft_plan(draft) != MF_OK)
        return writer->env->error.status;
    writer->stage = MF_WRITER_PLANNED;
    return MF_OK;
}

/* If the path cannot be written the writer stays as it was, so that the program
 * can try another one. */
enum mf_status mf_writer_open(struct mf_writer *writer, const char *path)
{
    MF_NEED(NULL, writer);
    MF_NEED(writer->env, path);

    struct mf_output *output = &writer->output;
    struct mf_draft *draft = &output->draft;
    struct mf_str kept;

    mf_clear_error(writer->env);
    if (writer->stage > MF_WRITER_PLANNED)
        return mf_writer_wrong_stage(writer, writer->env);
    kept = mf_draft_text(draft, (struct mf_str){ path, strlen(path) });
    if (!kept.at ||
        (writer->stage == MF_WRITER_LISTING && plan(writer) != MF_OK) ||
        mf_target_open_for(writer->env, kept.at, draft->file_size,
                           writer->replace, &writer->given,
                           &output->target) != MF_OK)
        return writer->env->error.status;
    if (mf_output_write_header(output) != MF_OK) {
        mf_target_abort(&output->target);
        return writer->env->error.status;
    }
    writer->stage = MF_WRITER_OPEN;
    return MF_OK;
}

bool mf_writer_place(const struct mf_writer *writer, size_t index,
                     struct mf_span *out)
{
    if (!writer || !out)
        return false;

    const struct mf_draft *draft = &writer->output.draft;

    if (writer->stage != MF_WRITER_OPEN || index >= draft->tensor_count)
        return false;
    out->offset = draft->data_offset + draft->tensor[index].offset;
    out->size = draft->tensor[index].size;
    return true;
}

/* ---- bytes ---- */

/* A pseudo-random number for a place between two bytes. */
static uint64_t edge(const struct mf_writer *writer, uint64_t at)
{
    return XXH3_64bits_withSeed(&at, sizeof(at), writer->env->hash_seed);
}

/* Each piece adds the edge of its end and subtracts the edge of its start.  If
 * every byte is written once, each place inside the tensor is the end of one
 * piece and the start of another, so their edges cancel and edge(size) -
 * edge(0) remains, in whatever order the threads work.  If some bytes are
 * missing or doubled, there is a place where ends and starts are not equally
 * many, and the sum differs except for a chance of 2^-63. */
static void count_piece(const struct mf_writer *writer, size_t index,
                        uint64_t offset, uint64_t size)
{
    struct mf_written *written = &writer->written[index];

    atomic_fetch_add_explicit(&written->bytes, size, memory_order_relaxed);
    atomic_fetch_add_explicit(
        &written->edges, edge(writer, offset + size) - edge(writer, offset),
        memory_order_relaxed);
}

static enum mf_status write_piece(struct mf_writer *writer, struct mf_env *env,
                                  size_t index, uint64_t offset,
                                  const void *bytes, size_t size)
{
    struct mf_span span;

    if (!mf_writer_place(writer, index, &span))
        return mf_writer_refuse(env, "tensor index out of range");
    if (offset > span.size || size > span.size - offset)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "%zu bytes at offset %" PRIu64
                       " do not fit into tensor %zu "
                       "of %" PRIu64 " bytes",
                       size, offset, index, span.size);
    if (mf_target_write(env, &writer->output.target, span.offset + offset,
                        bytes, size) != MF_OK)
        return env->error.status;
    count_piece(writer, index, offset, size);
    return MF_OK;
}

enum mf_status mf_writer_write_at(struct mf_writer *writer, struct mf_env *env,
                                  size_t index, uint64_t offset,
                                  const void *bytes, size_t size)
{
    MF_NEED(NULL, env);
    MF_NEED(env, writer);
    MF_NEED(env, bytes || size == 0);

    mf_clear_error(env);
    if (writer->stage != MF_WRITER_OPEN)
        return mf_writer_wrong_stage(writer, env);
    if (writer->output.target.stream)
        return mf_writer_refuse(env,
                                "a pipe or a device must be written in order, "
                                "by push or fill");
    return write_piece(writer, env, index, offset, bytes, size);
}

static enum mf_status put_zeros(struct mf_writer *writer, uint64_t from,
                                uint64_t to)
{
    static const uint8_t zeros[4096];

    while (from < to) {
        size_t size =
            to - from < sizeof(zeros) ? (size_t)(to - from) : sizeof(zeros);

        if (mf_target_write(writer->env, &writer->output.target, from, zeros,
                            size) != MF_OK)
            return writer->env->error.status;
        from += size;
    }
    return MF_OK;
}

/* To a pipe the gaps between tensors have to be written. */
static enum mf_status pad_to(struct mf_writer *writer, uint64_t offset)
{
    const struct mf_target *target = &writer->output.target;

    return target->stream ? put_zeros(writer, target->streamed, offset) : MF_OK;
}

/* The first tensor, in data order, that push has not filled. */
static const struct mf_draft_tensor *next_tensor(struct mf_writer *writer)
{
    const struct mf_draft *draft = &writer->output.draft;

    while (writer->next < draft->tensor_count) {
        const struct mf_draft_tensor *tensor =
            mf_draft_in_order(draft, writer->next);

        if (writer->next_at < tensor->size)
            return tensor;
        writer->next++;
        writer->next_at = 0;
    }
    return NULL;
}

enum mf_status mf_writer_push(struct mf_writer *writer, const void *bytes,
                              size_t size)
{
    MF_NEED(NULL, writer);
    MF_NEED(writer->env, bytes || size == 0);

    const struct mf_draft *draft = &writer->output.draft;
    const uint8_t *from = bytes;

    mf_clear_error(writer->env);
    if (writer->stage != MF_WRITER_OPEN)
        return mf_writer_wrong_stage(writer, writer->env);
    while (size > 0) {
        const struct mf_draft_tensor *tensor = next_tensor(writer);
        uint64_t left;
        size_t some;

        if (!tensor)
            return mf_writer_refuse(writer->env,
                                    "more bytes than the tensors have");
        left = tensor->size - writer->next_at;
        some = size < left ? size : (size_t)left;
        if (pad_to(writer, draft->data_offset + tensor->offset) != MF_OK ||
            write_piece(writer, writer->env, (size_t)(tensor - draft->tensor),
                        writer->next_at, from, some) != MF_OK)
            return writer->env->error.status;
        writer->next_at += some;
        from += some;
        size -= some;
    }
    return MF_OK;
}

enum mf_status mf_writer_fill(struct mf_writer *writer, mf_produce *produce,
                              void *user)
{
    MF_NEED(NULL, writer);

    const struct mf_draft *draft = &writer->output.draft;
    const struct mf_draft_tensor *tensor;
    uint8_t *buffer;
    enum mf_status status = MF_OK;

    mf_clear_error(writer->env);
    if (writer->stage != MF_WRITER_OPEN)
        return mf_writer_wrong_stage(writer, writer->env);
    MF_NEED(writer->env, produce);
    buffer = mf_alloc(writer->env, PIECE);
    if (!buffer)
        return writer->env->error.status;
    while (status == MF_OK && (tensor = next_tensor(writer)) != NULL) {
        uint64_t left = tensor->size - writer->next_at;
        size_t size = left < PIECE ? (size_t)left : PIECE;

        memset(buffer, 0, size); /* not our memory, where it leaves some out */
        status = produce(user, (size_t)(tensor - draft->tensor),
                         writer->next_at, buffer, size);
        if (status == MF_OK)
            status = mf_writer_push(writer, buffer, size);
    }
    mf_release(writer->env, buffer, PIECE);
    return status;
}

/* ---- committing ---- */

static enum mf_status check_complete(struct mf_writer *writer)
{
    const struct mf_draft *draft = &writer->output.draft;

    if (writer->stage != MF_WRITER_OPEN)
        return mf_writer_wrong_stage(writer, writer->env);
    for (size_t i = 0; i < draft->tensor_count; i++) {
        const struct mf_draft_tensor *tensor = &draft->tensor[i];
        uint64_t bytes = atomic_load(&writer->written[i].bytes);
        uint64_t edges = atomic_load(&writer->written[i].edges);

        if (bytes != tensor->size)
            return mf_fail(writer->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                           "%" PRIu64 " bytes of tensor '%s' were written, "
                           "it has %" PRIu64,
                           bytes, mf_quote(tensor->name).text, tensor->size);
        if (edges != edge(writer, tensor->size) - edge(writer, 0))
            return mf_fail(writer->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                           "tensor '%s': of its %" PRIu64
                           " bytes some were written twice and some never",
                           mf_quote(tensor->name).text, tensor->size);
    }
    return MF_OK;
}

/* A file has zeros where nothing was written; memory of a program may not. */
static enum mf_status fill_gaps(struct mf_writer *writer)
{
    const struct mf_draft *draft = &writer->output.draft;
    uint64_t at = draft->data_offset;
    enum mf_status status = MF_OK;

    if (!writer->given.write || writer->output.target.stream)
        return pad_to(writer, draft->data_offset + draft->data_size);
    for (size_t i = 0; i < draft->tensor_count && status == MF_OK; i++) {
        const struct mf_draft_tensor *tensor = mf_draft_in_order(draft, i);

        status = put_zeros(writer, at, draft->data_offset + tensor->offset);
        at = draft->data_offset + tensor->offset + tensor->size;
    }
    return status == MF_OK
               ? put_zeros(writer, at, draft->data_offset + draft->data_size)
               : status;
}

/* Never repeated after a failure: a second fsync would succeed without the
 * bytes that the first one could not write. */
static enum mf_status finish(struct mf_writer *writer)
{
    struct mf_output *output = &writer->output;
    struct mf_crew crew = { 0 };
    uint64_t size = output->draft.file_size;
    enum mf_status status = fill_gaps(writer);

    if (status == MF_OK)
        status = mf_crew_init(&crew, writer->env, size, size, 0);
    if (status == MF_OK)
        status = mf_output_write_footer(output, &crew);
    mf_crew_release(&crew);
    if (status == MF_OK)
        status = mf_target_sync(&output->target);
    if (status == MF_OK)
        status = mf_target_commit(&output->target);
    return status;
}

enum mf_status mf_writer_commit(struct mf_writer *writer)
{
    MF_NEED(NULL, writer);

    enum mf_status status;

    mf_clear_error(writer->env);
    status = check_complete(writer);
    if (status != MF_OK)
        return status;
    status = finish(writer);
    writer->stage = status == MF_OK ? MF_WRITER_DONE : MF_WRITER_FAILED;
    return status;
}
