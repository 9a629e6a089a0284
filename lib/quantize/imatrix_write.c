/* SPDX-License-Identifier: MIT
 *
 * imatrix_write.c - a merged importance matrix as a file, in either format
 *
 * Byte for byte what llama-imatrix writes.  The old format has means times
 * chunks instead of sums, leaves out entries that were never used, and has room
 * for the name of one text: the last.
 */
#include <assert.h>
#include <string.h>

#include "lib/base/little.h"
#include "lib/io/sink.h"
#include "lib/quantize/imatrix_merge.h"
#include "lib/write/writer.h"

/* ---- GGUF ---- */

static enum mf_status set_keys(const struct mf_sums *sums,
                               struct mf_writer *writer)
{
    const struct mf_edit edits[] = {
        { .key = "general.type",
          .type = MF_VALUE_STRING,
          .text = { "imatrix", 7 } },
        { .key = "imatrix.datasets",
          .type = MF_VALUE_ARRAY,
          .of = MF_VALUE_STRING,
          .count = sums->dataset_count,
          .elements = sums->dataset },
        { .key = "imatrix.chunk_count",
          .type = MF_VALUE_U32,
          .number.u64 = sums->chunks },
        { .key = "imatrix.chunk_size",
          .type = MF_VALUE_U32,
          .number.u64 = sums->chunk_size },
    };

    for (size_t i = 0; i < sizeof(edits) / sizeof(*edits); i++)
        if (mf_writer_set(writer, &edits[i]) != MF_OK)
            return sums->env->error.status;
    return MF_OK;
}

/* A tensor NAME.tail; dimensions of 1 at the end are left out, as ggml does. */
static enum mf_status add_tensor(const struct mf_sums *sums,
                                 struct mf_writer *writer,
                                 const struct mf_sum *sum, const char *tail,
                                 uint64_t columns)
{
    const uint64_t dim[] = { sum->matrices, columns };
    bool several = sum->matrices > 1;
    size_t size = sum->name.size, more = strlen(tail);
    char *name = mf_alloc(sums->env, size + more);
    struct mf_new_tensor tensor = { .name = { name, size + more },
                                    .type = "f32",
                                    .rank = several ? 2 : 1,
                                    .dim = several ? dim : dim + 1 };
    enum mf_status status;

    if (!name)
        return sums->env->error.status;
    memcpy(name, sum->name.at, size);
    memcpy(name + size, tail, more);
    status = mf_writer_add(writer, &tensor, NULL);
    mf_release(sums->env, name, size + more);
    return status;
}

static enum mf_status list(const struct mf_sums *sums, struct mf_writer *writer)
{
    if (set_keys(sums, writer) != MF_OK)
        return sums->env->error.status;
    for (size_t i = 0; i < sums->sum_count; i++) {
        const struct mf_sum *sum = &sums->sum[i];

        if (add_tensor(sums, writer, sum, ".in_sum2",
                       sum->values / sum->matrices) != MF_OK ||
            add_tensor(sums, writer, sum, ".counts", 1) != MF_OK)
            return sums->env->error.status;
    }
    return MF_OK;
}

static enum mf_status give_counts(struct mf_sums *sums,
                                  const struct mf_sum *sum, uint64_t first,
                                  float *out, size_t count)
{
    int64_t counts[64];
    size_t some = sizeof(counts) / sizeof(*counts);

    for (size_t at = 0; at < count; at += some) {
        size_t now = count - at < some ? count - at : some;

        if (mf_sums_counts(sums, sum, first + at, counts, now) != MF_OK)
            return sums->env->error.status;
        for (size_t i = 0; i < now; i++)
            out[at + i] = (float)counts[i];
    }
    return MF_OK;
}

static enum mf_status give_sums(struct mf_sums *sums, const struct mf_sum *sum,
                                uint64_t first, float *out, size_t count)
{
    for (size_t at = 0; at < count; at += MF_SUM_PIECE) {
        size_t now = count - at < MF_SUM_PIECE ? count - at : MF_SUM_PIECE;

        if (mf_sums_values(sums, sum, first + at, out + at, now) != MF_OK)
            return sums->env->error.status;
    }
    return MF_OK;
}

static enum mf_status give(void *user, size_t tensor, uint64_t offset,
                           void *buffer, size_t size)
{
    struct mf_sums *sums = user;
    const struct mf_sum *sum = &sums->sum[tensor / 2];
    uint64_t first = offset / sizeof(float);
    size_t count = size / sizeof(float);
    float *out = buffer;
    enum mf_status status;

    assert(size % sizeof(float) == 0 && offset % sizeof(float) == 0);
    status = tensor % 2 == 1 ? give_counts(sums, sum, first, out, count)
                             : give_sums(sums, sum, first, out, count);
    if (status == MF_OK)
        mf_order_floats(out, count);
    return status;
}

enum mf_status mf_sums_write_gguf(struct mf_sums *sums, const char *path,
                                  bool replace, bool dry_run, uint64_t *size)
{
    struct mf_writer_options options = { .size = sizeof(options),
                                         .format = "gguf",
                                         .replace = replace };
    struct mf_writer *writer;
    enum mf_status status = mf_writer_new(sums->env, &options, &writer);

    if (status != MF_OK)
        return status;
    status = list(sums, writer);
    if (status == MF_OK && dry_run)
        status = mf_draft_plan(&writer->output.draft);
    else if (status == MF_OK) {
        status = mf_writer_open(writer, path);
        if (status == MF_OK)
            status = mf_writer_fill(writer, give, sums);
        if (status == MF_OK)
            status = mf_writer_commit(writer);
    }
    *size = writer->output.draft.file_size;
    mf_writer_free(writer);
    return status;
}

/* ---- before 2025 ---- */

/* Entries that have never been used are left out. */
static bool is_kept(const struct mf_sum *sum)
{
    return sum->unused < sum->matrices;
}

static void put_number(struct mf_sink *sink, uint64_t number)
{
    mf_put_u32(sink, (uint32_t)number);
}

/* How many chunks the counts are, at least 1. */
static int64_t calls_of(const struct mf_sums *sums, const struct mf_sum *sum)
{
    return (sum->most + sums->chunk_size - 1) / sums->chunk_size;
}

static enum mf_status put_values(struct mf_sums *sums, const struct mf_sum *sum,
                                 float *out, struct mf_sink *sink)
{
    uint64_t columns = sum->values / sum->matrices, done = 0;
    float calls = (float)calls_of(sums, sum);
    int64_t count = 0;

    while (done < sum->values && sink->status == MF_OK) {
        uint64_t left = columns - done % columns;
        size_t now = left < MF_SUM_PIECE ? (size_t)left : MF_SUM_PIECE;

        if ((done % columns == 0 &&
             mf_sums_counts(sums, sum, done / columns, &count, 1) != MF_OK) ||
            mf_sums_values(sums, sum, done, out, now) != MF_OK)
            return sums->env->error.status;
        for (size_t i = 0; i < now; i++)
            out[i] = count == 0 ? calls : out[i] / (float)count * calls;
        mf_order_floats(out, now);
        mf_put(sink, out, now * sizeof(*out));
        done += now;
    }
    return sink->status;
}

/* out: room for MF_SUM_PIECE values; NULL: their bytes are only counted. */
static enum mf_status put_old(struct mf_sums *sums, float *out,
                              struct mf_sink *sink)
{
    struct mf_str text = { "", 0 };
    size_t kept = 0;

    if (sums->dataset_count > 0)
        text = sums->dataset[sums->dataset_count - 1];
    for (size_t i = 0; i < sums->sum_count; i++)
        kept += is_kept(&sums->sum[i]);
    put_number(sink, kept);
    for (size_t i = 0; i < sums->sum_count; i++) {
        const struct mf_sum *sum = &sums->sum[i];

        if (!is_kept(sum))
            continue;
        put_number(sink, sum->name.size);
        mf_put(sink, sum->name.at, sum->name.size);
        put_number(sink, (uint64_t)calls_of(sums, sum));
        put_number(sink, sum->values);
        if (!out)
            mf_put_zeros(sink, sum->values * sizeof(*out));
        else if (put_values(sums, sum, out, sink) != MF_OK)
            return sums->env->error.status;
    }
    put_number(sink, sums->chunks);
    put_number(sink, text.size);
    mf_put(sink, text.at, text.size);
    return mf_sink_finish(sink);
}

static enum mf_status put_target(void *user, uint64_t offset, const void *bytes,
                                 size_t size)
{
    struct mf_target *target = user;

    return mf_target_write(target->env, target, offset, bytes, size);
}

/* Without a magic, names are what such a file is recognized by. */
static bool has_control(struct mf_str name)
{
    for (size_t i = 0; i < name.size; i++)
        if ((uint8_t)name.at[i] < ' ' || name.at[i] == 0x7f)
            return true;
    return false;
}

static enum mf_status check_old(const struct mf_sums *sums)
{
    for (size_t i = 0; i < sums->sum_count; i++) {
        const struct mf_sum *sum = &sums->sum[i];

        if (sum->values > INT32_MAX)
            return mf_fail(sums->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                           "the old format cannot hold the %" PRIu64
                           " values of tensor '%s'",
                           sum->values, mf_quote(sum->name).text);
        if (has_control(sum->name))
            return mf_fail(sums->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                           "the old format cannot hold the name '%s', which "
                           "has a control character",
                           mf_quote(sum->name).text);
    }
    return MF_OK;
}

static enum mf_status write_target(struct mf_sums *sums, const char *path,
                                   bool replace, uint64_t size, float *out,
                                   struct mf_sink *sink)
{
    struct mf_target target = MF_TARGET_NONE;
    enum mf_status status =
        mf_target_open(sums->env, path, size, replace, &target);

    if (status != MF_OK)
        return status;
    mf_sink_init(sink, sums->env);
    sink->write = put_target;
    sink->user = &target;
    status = put_old(sums, out, sink);
    return mf_target_finish(&target, status);
}

enum mf_status mf_sums_write_old(struct mf_sums *sums, const char *path,
                                 bool replace, bool dry_run, uint64_t *size)
{
    size_t room = MF_SUM_PIECE * sizeof(float);
    struct mf_sink *sink = mf_alloc(sums->env, sizeof(*sink));
    float *out = mf_alloc(sums->env, room);
    enum mf_status status =
        sink && out ? check_old(sums) : sums->env->error.status;

    if (status == MF_OK) {
        mf_sink_init(sink, sums->env);
        status = put_old(sums, NULL, sink);
        *size = sink->offset;
    }
    if (status == MF_OK && !dry_run)
        status = write_target(sums, path, replace, *size, out, sink);
    mf_release(sums->env, out, room);
    mf_release(sums->env, sink, sizeof(*sink));
    return status;
}
