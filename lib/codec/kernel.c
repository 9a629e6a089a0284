/* SPDX-License-Identifier: MIT
 *
 * kernel.c - codecs for programs that have rows of their own, and threads
 */
#include <string.h>

#include "lib/base/kept.h"
#include "lib/base/parallel.h"
#include "lib/codec/codecs.h"
#include "lib/codec/grid_maps.h"

static const struct mf_isa *isa_named(const char *name)
{
    const struct mf_isa *best = NULL;

    for (const struct mf_isa *isa = mf_isas; isa->name; isa++)
        if (mf_isa_runs(isa) && (!name || strcmp(isa->name, name) == 0))
            best = isa;
    return best;
}

static enum mf_type type_named(const char *name)
{
    int row = 0;

    while (row < MF_TYPE_COUNT && strcmp(mf_types[row].name, name) != 0)
        row++;
    return (enum mf_type)row;
}

bool mf_kernel_find(const char *type, const char *isa, struct mf_kernel *out)
{
    if (!type || !out)
        return false;

    const struct mf_isa *set = isa_named(isa);
    enum mf_type row = type_named(type);
    const struct mf_codec *codec = set ? mf_codec_of(set, row) : NULL;

    if (!codec)
        return false;
    *out = (struct mf_kernel){
        .type = mf_types[row].name,
        .isa = set->name,
        .block = mf_types[row].block,
        .size = mf_types[row].bytes,
        .prefix = (unsigned)mf_type_head(row),
        .decode = codec->decode,
        .encode = codec->encode,
    };
    return true;
}

/* Of a kernel that was found: the processor, which takes its time to answer, is
 * not asked again. */
static const struct mf_codec *codec_of(const struct mf_kernel *kernel)
{
    const struct mf_isa *isa = mf_isas;

    if (!kernel->type || !kernel->isa)
        return NULL;
    while (isa->name && strcmp(isa->name, kernel->isa) != 0)
        isa++;
    return isa->name ? mf_codec_of(isa, type_named(kernel->type)) : NULL;
}

bool mf_kernel_encodes(const struct mf_kernel *kernel, bool *weights_needed)
{
    const struct mf_codec *codec = kernel ? codec_of(kernel) : NULL;

    if (weights_needed)
        *weights_needed = codec && codec->needs_weights;
    return mf_codec_encodes(codec);
}

/* Ends a call of one of several threads. */
static enum mf_status fail_row(struct mf_env *env, enum mf_status status,
                               const char *format, const char *type)
{
    mf_kept_lock(env);
    mf_clear_error(env);
    mf_fail(env, status, MF_NO_OFFSET, format, type);
    mf_kept_unlock(env);
    return status;
}

enum mf_status mf_env_encode(struct mf_env *env, const struct mf_kernel *kernel,
                             const float *row, const float *weights,
                             uint8_t *blocks, size_t columns)
{
    MF_NEED(NULL, env);
    MF_NEED(env, kernel);
    MF_NEED(env, row);
    MF_NEED(env, blocks);

    const struct mf_codec *codec = codec_of(kernel);
    const struct mf_grid_map *map;
    size_t block;

    if (!mf_codec_encodes(codec))
        return fail_row(env, MF_ERR_UNSUPPORTED, "%s cannot be encoded",
                        kernel->type);
    /* The caller's struct may be changed, or of another type: the codec would
     * write blocks of its own size. */
    block = mf_types[type_named(kernel->type)].block;
    if (kernel->block != block)
        return fail_row(
            env, MF_ERR_ARGUMENT,
            "the kernel has another block size than %s: take it from "
            "mf_kernel_find",
            kernel->type);
    if (columns % block != 0)
        return fail_row(env, MF_ERR_ARGUMENT,
                        "columns are not whole blocks of %s", kernel->type);
    if (codec->encode) {
        codec->encode(row, weights, blocks, columns);
        return MF_OK;
    }
    if (codec->needs_weights && !weights)
        return fail_row(env, MF_ERR_ARGUMENT,
                        "%s is not encoded without weights", kernel->type);
    map = mf_grid_map_of(env, codec->grid);
    if (!map)
        return env->error.status;
    if (!mf_encode_on_grid(codec, map, row, weights, blocks, columns))
        return fail_row(env, MF_ERR_UNSUPPORTED,
                        "the row cannot be encoded as %s: its numbers, or "
                        "their weights, are too large",
                        kernel->type);
    return MF_OK;
}

struct share {
    void (*task)(void *user, size_t index);
    void *user;
};

static enum mf_status run_task(struct mf_worker *worker, void *context,
                               size_t index)
{
    const struct share *share = context;

    share->task(share->user, index);
    mf_worker_done(worker, 1);
    return MF_OK;
}

enum mf_status mf_env_share(struct mf_env *env, size_t count,
                            void (*task)(void *user, size_t index), void *user)
{
    MF_NEED(NULL, env);
    MF_NEED(env, task);

    struct share share = { task, user };
    struct mf_crew crew;
    enum mf_status status;

    mf_clear_error(env);
    /* How long a task takes is unknown: all threads, and no buffers. */
    status = mf_crew_init_slow(&crew, env, UINT64_MAX, 1, 0);
    if (status != MF_OK)
        return status;
    crew.work = count;
    status = mf_crew_run(&crew, run_task, &share, count);
    mf_crew_release(&crew);
    return status;
}
