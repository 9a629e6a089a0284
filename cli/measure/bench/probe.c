/* SPDX-License-Identifier: MIT
 *
 * probe.c - the operations whose memory bench --alloc counts
 *
 * Models are as plain as can be, tensors of one row each and one key, so that
 * nothing but their number decides what an operation costs.
 */
#include "cli/measure/bench/probe.h"

#include <string.h>

#define COLUMNS 256 /* of a row: a multiple of every block */

/* Numbers of the first tensor: as many bytes as the largest window on a file
 * has, so that it is the same for every model.  And of the others. */
#define FIRST 32768
#define OTHER 32

/* Lookups take nanoseconds: at least so many between two looks at the clock. */
#define LOOKUPS 4096

/* ---- models ---- */

struct name {
    char at[32];
    size_t size;
};

/* All of one length. */
static struct name name_of(size_t tensor)
{
    struct name name = { "blk.00000.weight", strlen("blk.00000.weight") };

    for (size_t at = strlen("blk.0000"); tensor > 0; at--, tensor /= 10)
        name.at[at] = (char)('0' + tensor % 10);
    return name;
}

static enum mf_status list_tensors(struct mf_writer *writer, size_t count)
{
    const struct mf_edit value = { .key = "general.architecture",
                                   .type = MF_VALUE_STRING,
                                   .text = { "none", 4 } };
    enum mf_status status = mf_writer_set(writer, &value);

    for (size_t i = 0; i < count && status == MF_OK; i++) {
        struct name name = name_of(i);
        const uint64_t dim[] = { 1, i == 0 ? FIRST : OTHER };
        struct mf_new_tensor tensor = {
            .name = { name.at, name.size }, .type = "f32", .rank = 2, .dim = dim
        };

        status = mf_writer_add(writer, &tensor, NULL);
    }
    return status;
}

static enum mf_status push_zeros(struct mf_writer *writer, size_t count)
{
    static const float zeros[OTHER];
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < FIRST / OTHER + count - 1 && status == MF_OK; i++)
        status = mf_writer_push(writer, zeros, sizeof(zeros));
    return status;
}

enum mf_status probe_write(struct probe *probe)
{
    struct mf_writer_options options = { .size = sizeof(options),
                                         .format = probe->format,
                                         .replace = true };
    struct mf_writer *writer;
    enum mf_status status = mf_writer_new(probe->env, &options, &writer);

    if (status != MF_OK)
        return status;
    status = list_tensors(writer, probe->tensors);
    if (status == MF_OK)
        status = mf_writer_open(writer, probe->path);
    if (status == MF_OK)
        status = push_zeros(writer, probe->tensors);
    if (status == MF_OK)
        status = mf_writer_commit(writer);
    mf_writer_free(writer);
    return status;
}

bool probe_can_split(struct probe *probe)
{
    const struct mf_convert_options options = { .size = sizeof(options),
                                                .format = probe->format,
                                                .dry_run = true,
                                                .shard_tensors =
                                                    probe->tensors };
    bool can =
        probe_write(probe) == MF_OK && probe_open(probe) == MF_OK &&
        mf_model_convert(probe->model, probe->target, &options, NULL) == MF_OK;

    probe_close(probe);
    return can;
}

enum mf_status probe_split(struct probe *probe, size_t shards, char *path,
                           size_t room)
{
    struct mf_convert_options options = { .size = sizeof(options),
                                          .format = probe->format,
                                          .replace = true };
    enum mf_status status = probe_write(probe);

    if (status != MF_OK || shards < 2)
        return status;
    options.shard_tensors = probe->tensors / shards;
    status = probe_open(probe);
    if (status != MF_OK)
        return status;
    status = mf_model_convert(probe->model, probe->target, &options, NULL);
    probe_close(probe);
    if (mf_shard_path(probe->target, probe->format, 0, shards, path, room))
        probe->path = path;
    return status;
}

enum mf_status probe_open(struct probe *probe)
{
    const struct mf_open_options options = { .size = sizeof(options),
                                             .shards = MF_SHARDS_BY_NAME };

    return mf_model_open(probe->env, probe->path, &options, &probe->model);
}

void probe_close(struct probe *probe)
{
    mf_model_close(probe->model);
    probe->model = NULL;
}

/* ---- operations on models ---- */

static enum mf_status close_model(struct probe *probe)
{
    probe_close(probe);
    return MF_OK;
}

static size_t lookups(const struct probe *probe)
{
    return probe->tensors < LOOKUPS ? LOOKUPS : probe->tensors;
}

static enum mf_status find(struct probe *probe)
{
    size_t count = lookups(probe);
    struct mf_tensor tensor = { 0 };

    for (size_t i = 0; i < count; i++) {
        struct name name = name_of(i % probe->tensors);

        mf_tensor_find(probe->model, name.at, name.size, &tensor, NULL);
    }
    return MF_OK;
}

/* One by one, as often as it takes to look at all of them. */
static enum mf_status iterate(struct probe *probe)
{
    size_t count = lookups(probe);
    struct mf_tensor tensor;

    for (size_t i = 0; i < count; i++)
        mf_tensor_at(probe->model, i % probe->tensors, &tensor);
    return MF_OK;
}

static enum mf_status get_meta(struct probe *probe)
{
    size_t count = lookups(probe);
    struct mf_meta meta;

    for (size_t i = 0; i < count; i++)
        mf_model_fact(probe->model, MF_FACT_ARCHITECTURE, &meta, NULL);
    return MF_OK;
}

static enum mf_status validate(struct probe *probe)
{
    return mf_model_validate(probe->model);
}

/* With an edit, or the file would be copied without a plan. */
static enum mf_status plan(struct probe *probe)
{
    const struct mf_edit edit = { .key = "general.name",
                                  .type = MF_VALUE_STRING,
                                  .text = { "none", 4 } };
    const struct mf_convert_options options = { .size = sizeof(options),
                                                .format = probe->format,
                                                .replace = true,
                                                .dry_run = true,
                                                .edits = &edit,
                                                .edit_count = 1 };

    return mf_model_convert(probe->model, probe->target, &options, NULL);
}

const struct probe_operation probe_on_models[] = {
    { "open", probe_open, PROBE_CLOSED, NULL },
    { "find", find, PROBE_OPEN, lookups },
    { "iterate", iterate, PROBE_OPEN, lookups },
    { "meta get", get_meta, PROBE_OPEN, lookups },
    { "plan", plan, PROBE_OPEN, NULL },
    { "validate", validate, PROBE_FRESH, NULL },
    { "close", close_model, PROBE_FRESH, NULL },
    { "write", probe_write, PROBE_CLOSED, NULL },
    { 0 },
};

const struct probe_operation probe_on_shards[] = {
    { "open", probe_open, PROBE_CLOSED, NULL },
    { "close", close_model, PROBE_FRESH, NULL },
    { 0 },
};

/* ---- rows ---- */

static float numbers[COLUMNS], weights[COLUMNS], decoded[COLUMNS];
static uint8_t blocks[COLUMNS * 2 * sizeof(double)];

void probe_fill(void)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        numbers[i] = (float)(i % 17) - 8;
        weights[i] = 1;
    }
}

static size_t rows(const struct probe *probe)
{
    return probe->tensors;
}

static enum mf_status decode(struct probe *probe)
{
    for (size_t i = 0; i < probe->tensors; i++)
        probe->kernel.decode(blocks, decoded, COLUMNS);
    return MF_OK;
}

static enum mf_status encode(struct probe *probe)
{
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < probe->tensors && status == MF_OK; i++)
        status = mf_env_encode(probe->env, &probe->kernel, numbers, weights,
                               blocks, COLUMNS);
    return status;
}

const struct probe_operation probe_on_rows[] = {
    { "encode", encode, PROBE_ROWS, rows },
    { "decode", decode, PROBE_ROWS, rows },
    { 0 },
};

const struct probe_operation probe_on_blocks[] = {
    { "decode", decode, PROBE_ROWS, rows },
    { 0 },
};
