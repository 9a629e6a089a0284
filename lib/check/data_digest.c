/* SPDX-License-Identifier: MIT
 *
 * data_digest.c - files that are named by the SHA-256 of their bytes
 *
 * The bytes are digested while they are scanned, as they are in memory then:
 * pieces cover all of a file, and add theirs one after the other.  An archive
 * is read once more, since what is scanned is unpacked.
 */
#include <string.h>

#include "lib/check/data_parts.h"
#include "lib/io/digest.h"
#include "lib/program.h"

/* ---- archives ---- */

struct reading {
    struct data_scanner *scanner;
    uint32_t shard;
};

static enum mf_status digest_file(struct mf_worker *worker, void *context,
                                  size_t task)
{
    const struct reading *reading = context;
    const struct mf_model *model = reading->scanner->model;
    const struct mf_source *source = &model->file[reading->shard].source;

    (void)task; /* the only one */
    for (uint64_t at = 0; at < source->size;) {
        size_t size =
            mf_next_part(&worker->env, source->size - at, worker->buffer_size);

        if (size == 0 || mf_source_read(&worker->env, source, at,
                                        worker->buffer, size) != MF_OK)
            return worker->env.error.status;
        mf_digest_add(model->digests->digest, worker->buffer, size);
        if (!mf_worker_done(worker, 0))
            return mf_worker_stopped(worker);
        at += size;
    }
    return MF_OK;
}

/* ---- what was found ---- */

struct hex {
    char at[65];
};

static struct hex hex_of(const uint8_t sha256[32])
{
    struct hex out;

    for (size_t i = 0; i < 32; i++) {
        out.at[2 * i] = "0123456789abcdef"[sha256[i] >> 4];
        out.at[2 * i + 1] = "0123456789abcdef"[sha256[i] & 15];
    }
    out.at[64] = 0;
    return out;
}

static enum mf_status end(struct data_scanner *scanner, uint32_t shard)
{
    struct mf_model *model = scanner->model;
    const uint8_t *wanted = model->digests->of[shard].sha256;
    struct reading reading = { scanner, shard };
    uint8_t found[MF_DIGEST_MAX];

    if (model->format->layout == MF_LAYOUT_SHARED) {
        mf_digest_restart(model->digests->digest);
        if (mf_crew_run(&scanner->crew, digest_file, &reading, 1) != MF_OK)
            return model->env->error.status;
    }
    if (mf_digest_finish(model->digests->digest, found) == 0)
        return mf_fail(model->env, MF_ERR_MEMORY, MF_NO_OFFSET,
                       "libcrypto cannot finish a digest");
    if (memcmp(found, wanted, 32) != 0)
        mf_index_note(scanner->index, shard, MF_ERROR, MF_RULE_FILE_DIGEST, 0,
                      "the SHA-256 of the file is %s, but it is named %s",
                      hex_of(found).at, hex_of(wanted).at);
    return MF_OK;
}

/* ---- the door ---- */

static size_t size_of(size_t shards)
{
    const struct mf_file_digests *digests = NULL;

    return sizeof(*digests) + shards * sizeof(digests->of[0]);
}

static void release(struct mf_model *model)
{
    mf_digest_free(model->digests->digest);
    mf_release(model->env, model->digests, size_of(model->digests->count));
}

static enum mf_status prepare(struct mf_model *model)
{
    size_t size = size_of(model->file_count);
    struct mf_file_digests *digests = mf_alloc(model->env, size);

    if (!digests)
        return model->env->error.status;
    memset(digests, 0, size);
    digests->restart = mf_digest_restart;
    digests->add = mf_digest_add;
    digests->end = end;
    digests->count = model->file_count;
    digests->digest = mf_digest_new(model->env, MF_SHA256);
    if (!digests->digest) {
        mf_release(model->env, digests, size);
        return model->env->error.status;
    }
    model->digests = digests;
    model->release_digests = release;
    return MF_OK;
}

enum mf_status mf_model_expect_sha256(struct mf_model *model, size_t shard,
                                      const uint8_t sha256[32])
{
    MF_NEED(NULL, model);
    MF_NEED(model->env, sha256);
    MF_NEED(model->env, shard < model->file_count);

    mf_clear_error(model->env);
    if (!model->digests && prepare(model) != MF_OK)
        return model->env->error.status;
    model->digests->of[shard].known = true;
    memcpy(model->digests->of[shard].sha256, sha256, 32);
    return MF_OK;
}
