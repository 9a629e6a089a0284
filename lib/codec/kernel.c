/* SPDX-License-Identifier: MIT
 *
 * kernel.c - codecs for programs that have rows of their own, and threads
 */
#include <string.h>

#include "lib/base/parallel.h"
#include "lib/codec/codecs.h"

static const struct mf_isa *isa_named(const char *name)
{
    const struct mf_isa *best = NULL;

    for (const struct mf_isa *isa = mf_isas; isa->name; isa++)
        if (mf_isa_runs(isa) && (!name || strcmp(isa->name, name) == 0))
            best = isa;
    return best;
}

bool mf_kernel_find(const char *type, const char *isa, struct mf_kernel *out)
{
    if (!type || !out)
        return false;

    const struct mf_isa *set = isa_named(isa);
    const struct mf_codec *codec = NULL;
    size_t row = 0;

    while (row < MF_TYPE_COUNT && strcmp(mf_types[row].name, type) != 0)
        row++;
    if (set && row < MF_TYPE_COUNT)
        codec = mf_codec_of(set, (enum mf_type)row);
    if (!codec)
        return false;
    *out = (struct mf_kernel){
        .type = mf_types[row].name,
        .isa = set->name,
        .block = mf_types[row].block,
        .size = mf_types[row].bytes,
        .prefix = (unsigned)mf_type_head((enum mf_type)row),
        .decode = codec->decode,
        .encode = codec->encode,
    };
    return true;
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
    status = mf_crew_init(&crew, env, UINT64_MAX, 1, 0);
    if (status != MF_OK)
        return status;
    crew.work = count;
    status = mf_crew_run(&crew, run_task, &share, count);
    mf_crew_release(&crew);
    return status;
}
