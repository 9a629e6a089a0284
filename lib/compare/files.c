/* SPDX-License-Identifier: MIT
 *
 * files.c - digests of many files, which need not be models
 *
 * Each file is one thread's.  A file that cannot be read does not stop the
 * others: what is wrong with it is in its row.
 */
#include <stdio.h>
#include <string.h>

#include "lib/compare/hash.h"
#include "lib/io/source.h"
#include "lib/program.h"

struct hashing {
    struct mf_env *env;
    struct mf_hashed_file *file;
    struct mf_crew crew;
    struct mf_digest **digest; /* for each worker, of SHA-256 and of SHA-1 */
};

/* What git puts before the bytes of a file: "blob 12", and a NUL. */
static void add_head(struct mf_digest *digest, uint64_t size)
{
    char head[32];
    int length = snprintf(head, sizeof(head), "blob %" PRIu64, size);

    mf_digest_add(digest, head, (size_t)length + 1);
}

static enum mf_status hash_open(struct mf_worker *worker,
                                struct mf_hashed_file *file,
                                const struct mf_source *source,
                                struct mf_digest *digest)
{
    mf_digest_restart(digest);
    if (file->git)
        add_head(digest, source->size);
    if (mf_hash_add(worker, source, (struct mf_span){ 0, source->size },
                    digest) != MF_OK ||
        mf_source_unchanged(&worker->env, source) != MF_OK)
        return worker->env.error.status;
    return mf_hash_finish(&worker->env, digest, file->digest);
}

static enum mf_status hash_file(struct mf_worker *worker, void *context,
                                size_t task)
{
    struct hashing *hashing = context;
    struct mf_hashed_file *file = &hashing->file[task];
    size_t place = 2 * (size_t)(worker - hashing->crew.worker) + file->git;
    struct mf_source source = { 0 };

    mf_worker_at(worker, file->path);
    file->status = mf_source_open_file(&worker->env, file->path, &source, NULL);
    if (file->status == MF_OK)
        file->status = hash_open(worker, file, &source, hashing->digest[place]);
    mf_source_close(&source);
    if (file->status == MF_OK || file->status == MF_ERR_STOPPED)
        return file->status;
    snprintf(file->why, sizeof(file->why), "%.127s", worker->env.error.message);
    mf_clear_error(&worker->env);
    return MF_OK;
}

static enum mf_status prepare(struct hashing *hashing, size_t count)
{
    struct mf_env *env = hashing->env;
    uint64_t work = 0;

    for (size_t i = 0; i < count; i++)
        work += hashing->file[i].size < UINT64_MAX - work
                    ? hashing->file[i].size
                    : UINT64_MAX - work;
    if (mf_crew_init(&hashing->crew, env, work, work, 0) != MF_OK)
        return env->error.status;
    hashing->digest =
        mf_crew_resize(&hashing->crew, NULL, 0,
                       2 * hashing->crew.count * sizeof(*hashing->digest));
    if (!hashing->digest)
        return env->error.status;
    for (size_t i = 0; i < 2 * hashing->crew.count; i++)
        hashing->digest[i] = NULL;
    for (size_t i = 0; i < 2 * hashing->crew.count; i++) {
        hashing->digest[i] = mf_digest_new(env, i % 2 ? MF_SHA1 : MF_SHA256);
        if (!hashing->digest[i])
            return env->error.status;
    }
    return MF_OK;
}

enum mf_status mf_files_hash(struct mf_env *env, struct mf_hashed_file *files,
                             size_t count)
{
    struct hashing hashing = { .env = env, .file = files };
    enum mf_status status;

    mf_clear_error(env);
    status = prepare(&hashing, count);
    if (status == MF_OK)
        status = mf_crew_run(&hashing.crew, hash_file, &hashing, count);
    for (size_t i = 0; hashing.digest && i < 2 * hashing.crew.count; i++)
        mf_digest_free(hashing.digest[i]);
    mf_release(env, hashing.digest,
               2 * hashing.crew.count * sizeof(*hashing.digest));
    mf_crew_release(&hashing.crew);
    return status;
}
