/* SPDX-License-Identifier: MIT
 *
 * writer.c - files that a program makes: opening, bytes, the end
 */
#include "lib/write/writer.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* What is pushed or asked for at once. */
#define PIECE ((size_t)1024 * 1024)

void mf_writer_free(struct mf_writer *writer)
{
    if (!writer)
        return;
    mf_target_abort(&writer->output.target);
    mf_draft_release(&writer->output.draft);
    mf_release(writer->env, writer->given,
               writer->given_count * sizeof(*writer->given));
    mf_release(writer->env, writer, sizeof(*writer));
}

/* ---- opening ---- */

/* All offsets fixed.  There is no way back from here. */
static enum mf_status plan(struct mf_writer *writer)
{
    struct mf_draft *draft = &writer->output.draft;
    size_t count = draft->tensor_count + 1;

    writer->stage = MF_WRITER_FAILED;
    writer->given = mf_alloc(writer->env, count * sizeof(*writer->given));
    if (!writer->given)
        return writer->env->error.status;
    writer->given_count = count;
    for (size_t i = 0; i < count; i++) {
        atomic_init(&writer->given[i].bytes, 0);
        atomic_init(&writer->given[i].edges, 0);
    }
    if (mf_writer_check_names(writer) != MF_OK || mf_draft_plan(draft) != MF_OK)
        return writer->env->error.status;
    writer->stage = MF_WRITER_PLANNED;
    return MF_OK;
}

/* A path that cannot be written leaves the writer as it was: another one may be
 * tried. */
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
        mf_target_open(writer->env, kept.at, draft->file_size, writer->replace,
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

/* A number for a place between bytes, which looks as if drawn by lot. */
static uint64_t edge(const struct mf_writer *writer, uint64_t at)
{
    return XXH3_64bits_withSeed(&at, sizeof(at), writer->env->hash_seed);
}

/* Each piece adds the edge of its end and takes away that of its start.  Where
 * every byte is given once, an end meets a start at each place within, and
 * edge(size) - edge(0) is left, in whatever order and by whichever threads.
 * How often a byte was given can change only where ends and starts are not
 * equally many; then, but for one chance in 2^63, another sum is left.  So two
 * numbers tell what a list of all pieces would. */
static void count(const struct mf_writer *writer, size_t index, uint64_t offset,
                  uint64_t size)
{
    struct mf_given *given = &writer->given[index];

    atomic_fetch_add_explicit(&given->bytes, size, memory_order_relaxed);
    atomic_fetch_add_explicit(
        &given->edges, edge(writer, offset + size) - edge(writer, offset),
        memory_order_relaxed);
}

static enum mf_status give(struct mf_writer *writer, struct mf_env *env,
                           size_t index, uint64_t offset, const void *bytes,
                           size_t size)
{
    struct mf_span span;

    if (!mf_writer_place(writer, index, &span))
        return mf_writer_refuse(env, "the writer has no such tensor");
    if (offset > span.size || size > span.size - offset)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "%zu bytes at %" PRIu64 " do not fit into tensor %zu, "
                       "which has %" PRIu64,
                       size, offset, index, span.size);
    if (mf_target_write(env, &writer->output.target, span.offset + offset,
                        bytes, size) != MF_OK)
        return env->error.status;
    count(writer, index, offset, size);
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
        return mf_writer_refuse(env, "a pipe or a device takes bytes by push "
                                     "or fill alone");
    return give(writer, env, index, offset, bytes, size);
}

/* A pipe needs the bytes between tensors, too. */
static enum mf_status pad_to(struct mf_writer *writer, uint64_t offset)
{
    static const uint8_t zeros[4096];
    struct mf_target *target = &writer->output.target;

    while (target->stream && target->streamed < offset) {
        uint64_t left = offset - target->streamed;
        size_t size = left < sizeof(zeros) ? (size_t)left : sizeof(zeros);

        if (mf_target_write(writer->env, target, target->streamed, zeros,
                            size) != MF_OK)
            return writer->env->error.status;
    }
    return MF_OK;
}

/* The tensor that push is at; passes over those that are full. */
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
                                    "there is no tensor left that these "
                                    "bytes could be of");
        left = tensor->size - writer->next_at;
        some = size < left ? size : (size_t)left;
        if (pad_to(writer, draft->data_offset + tensor->offset) != MF_OK ||
            give(writer, writer->env, (size_t)(tensor - draft->tensor),
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

        memset(buffer, 0, size); /* what is not produced is nothing of ours */
        status = produce(user, (size_t)(tensor - draft->tensor),
                         writer->next_at, buffer, size);
        if (status == MF_OK)
            status = mf_writer_push(writer, buffer, size);
    }
    mf_release(writer->env, buffer, PIECE);
    return status;
}

/* ---- the end ---- */

static enum mf_status check_whole(struct mf_writer *writer)
{
    const struct mf_draft *draft = &writer->output.draft;

    if (writer->stage != MF_WRITER_OPEN)
        return mf_writer_wrong_stage(writer, writer->env);
    for (size_t i = 0; i < draft->tensor_count; i++) {
        const struct mf_draft_tensor *tensor = &draft->tensor[i];
        uint64_t bytes = atomic_load(&writer->given[i].bytes);
        uint64_t edges = atomic_load(&writer->given[i].edges);

        if (bytes != tensor->size)
            return mf_fail(writer->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                           "tensor '%s' was given %" PRIu64
                           " bytes, it has %" PRIu64,
                           mf_quote(tensor->name).text, bytes, tensor->size);
        if (edges != edge(writer, tensor->size) - edge(writer, 0))
            return mf_fail(writer->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                           "tensor '%s' was given some of its %" PRIu64
                           " bytes twice and others never",
                           mf_quote(tensor->name).text, tensor->size);
    }
    return MF_OK;
}

/* What the disk has refused once is not asked again: the second answer of fsync
 * would not be about the first one's bytes. */
static enum mf_status finish(struct mf_writer *writer)
{
    struct mf_output *output = &writer->output;
    struct mf_crew crew = { 0 };
    uint64_t size = output->draft.file_size;
    enum mf_status status =
        pad_to(writer, output->draft.data_offset + output->draft.data_size);

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
    status = check_whole(writer);
    if (status != MF_OK)
        return status;
    status = finish(writer);
    writer->stage = status == MF_OK ? MF_WRITER_DONE : MF_WRITER_FAILED;
    return status;
}
