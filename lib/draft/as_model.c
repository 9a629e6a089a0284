/* SPDX-License-Identifier: MIT
 *
 * as_model.c - the header of a file to be written, opened as a model
 */
#include <string.h>

#include "lib/draft/draft.h"
#include "lib/model/model.h"

struct header {
    uint8_t *bytes;
    size_t size;
};

static enum mf_status put_bytes(void *user, uint64_t offset, const void *bytes,
                                size_t size)
{
    const struct header *header = user;

    if (size <= header->size && offset <= header->size - size)
        memcpy(header->bytes + offset, bytes, size);
    return MF_OK;
}

static enum mf_status write_header(const struct mf_draft *draft,
                                   struct header *header)
{
    struct mf_sink sink;

    header->size = (size_t)draft->data_offset;
    header->bytes = mf_alloc(draft->env, header->size);
    if (!header->bytes)
        return draft->env->error.status;
    memset(header->bytes, 0, header->size);
    mf_sink_init(&sink, draft->env);
    sink.write = put_bytes;
    sink.user = header;
    return mf_draft_head(draft, &sink);
}

enum mf_status mf_draft_as_model(struct mf_draft *draft, const char *path,
                                 struct mf_model **out)
{
    struct mf_open_options alone = { .size = sizeof(alone),
                                     .shards = MF_SHARDS_ALONE };
    struct mf_env *env = draft->env;
    struct header header = { NULL, 0 };
    enum mf_status status = mf_draft_plan(draft);

    alone.file_size = draft->file_size;
    if (status == MF_OK)
        status = write_header(draft, &header);
    if (status == MF_OK)
        status = mf_model_open_memory(env, path, header.bytes, header.size,
                                      &alone, out);
    if (status == MF_OK)
        mf_model_own(*out, header.bytes, header.size);
    else
        mf_release(env, header.bytes, header.size);
    return status;
}
