/* SPDX-License-Identifier: MIT
 *
 * convert.c - fuzz target: whatever opens without an error can be rewritten
 *
 * In each format, by choices that the bytes choose; nothing reaches a disk.
 * Beside crashes and sanitizer reports it stops on a broken promise: a header
 * that is not as long as it was planned, a file that has errors, something
 * left on the heap.  -DREPLAY adds a main, see replay.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/write/convert.h"
#include "tests/fuzz/model.h"
#include "tests/fuzz/replay.h"

/* Larger files are planned, and that is all. */
#define FILE_MAX ((uint64_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void stop(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    abort();
}

/* ---- what was planned, in memory ---- */

struct image {
    uint8_t *bytes;
    uint64_t size;
};

static enum mf_status put(void *user, uint64_t offset, const void *bytes,
                          size_t size)
{
    struct image *image = user;

    if (offset > image->size || size > image->size - offset)
        stop("header", "it is longer than the file");
    memcpy(image->bytes + offset, bytes, size);
    return MF_OK;
}

static void put_checksum(struct image *image)
{
    uint64_t end = image->size - 4;
    uint32_t crc = mf_crc32(0, image->bytes, (size_t)end);

    for (int i = 0; i < 4; i++)
        image->bytes[end + (uint64_t)i] = (uint8_t)(crc >> 8 * i);
}

/* Of the shards of GGUF only the first says all that a model needs. */
static void look(struct mf_env *env, const struct image *image,
                 const struct mf_draft *draft)
{
    struct mf_open_options alone = { .size = sizeof(struct mf_open_options),
                                     .shards = MF_SHARDS_ALONE };
    struct mf_finding finding;
    struct mf_model *model;

    if (mf_model_open_memory(env, "written", image->bytes, (size_t)image->size,
                             &alone, &model) != MF_OK)
        stop("what was written", mf_env_error(env)->message);
    if (mf_model_info(model)->tensor_count != draft->tensor_count)
        stop("what was written", "tensors are missing");
    /* What only some readers do not take was in the source, too. */
    for (size_t i = 0; mf_finding_at(model, i, &finding); i++)
        if (finding.severity == MF_ERROR && model->index.damage_count > 0)
            stop(finding.rule, finding.message);
    mf_model_close(model);
}

static void write_planned(struct mf_output *output)
{
    static struct mf_sink sink;
    struct mf_draft *draft = &output->draft;
    struct image image = { .size = draft->file_size };

    if (image.size > FILE_MAX)
        return;
    image.bytes = calloc(1, (size_t)image.size + 1);
    if (!image.bytes)
        abort();
    mf_sink_init(&sink, draft->env);
    sink.write = put;
    sink.user = &image;
    sink.big_endian = draft->big_endian;
    if (draft->out->head(draft, &sink) != MF_OK ||
        mf_sink_finish(&sink) != MF_OK)
        stop("header", mf_env_error(draft->env)->message);
    if (sink.offset != draft->data_offset)
        stop("header", "it has another length than was counted");
    if (draft->out->has_crc)
        put_checksum(&image);
    look(draft->env, &image, draft);
    free(image.bytes);
}

static void plan(struct mf_model *model, const char *path,
                 const struct mf_convert_options *options)
{
    struct mf_outputs outputs;

    mf_clear_error(model->env);
    if (mf_outputs_plan(model, path, options, &outputs) == MF_OK &&
        !outputs.verbatim)
        for (size_t i = 0; i < outputs.count; i++)
            write_planned(&outputs.output[i]);
    mf_outputs_release(&outputs);
}

/* ---- all of it, to a device that keeps nothing ---- */

static void write_away(struct mf_model *model,
                       const struct mf_convert_options *options)
{
    struct mf_convert_options choices = *options;
    struct mf_convert_result planned, result;
    struct mf_io_stats before, after;

    choices.shard_size = choices.shard_tensors = 0;
    choices.dry_run = true;
    if (mf_model_convert(model, "/dev/null", &choices, &planned) != MF_OK ||
        planned.file_size > FILE_MAX)
        return;
    choices.dry_run = false;
    mf_env_io(model->env, &before);
    if (mf_model_convert(model, "/dev/null", &choices, &result) != MF_OK)
        return; /* a type that cannot be decoded is noticed late */
    mf_env_io(model->env, &after);
    if (result.file_size != planned.file_size ||
        after.bytes_written - before.bytes_written != result.file_size)
        stop("file", "it has another size than was planned");
}

/* ---- choices ---- */

static void convert(struct mf_model *model, unsigned wish)
{
    static const struct {
        const char *name, *path;
    } formats[] = { { "gguf", "out.gguf" },
                    { "apr", "out.apr" },
                    { "safetensors", "out.safetensors" } };
    static const char *const types[] = { NULL, "f32", "f16", "bf16" };

    for (size_t i = 0; i < 3; i++) {
        struct mf_convert_options options = {
            .size = sizeof(struct mf_convert_options),
            .format = formats[i].name,
            .type = types[wish % 4],
            .dequantize = wish & 4,
            .lossy = wish & 8,
            .shard_tensors = wish & 16 ? 1 + (wish >> 10) % 3 : 0,
            .reserve = wish & 32 ? wish >> 5 : 0,
            .version = wish & 64 ? 2 + wish % 2 : 0,
            .names = (enum mf_naming)((wish >> 7) % 3),
        };

        if (options.dequantize && !options.type)
            options.type = "f32";
        plan(model, formats[i].path, &options);
        write_away(model, &options);
    }
}

/* As it is, and as chance will have it. */
static void convert_often(struct mf_model *model, const uint8_t *data,
                          size_t size)
{
    unsigned wish = mf_crc32(0, data, size);

    convert(model, 0);
    convert(model, wish);
    convert(model, wish >> 16);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!use_model(data, size, convert_often))
        stop("heap", "something is left there");
    return 0;
}
