/* SPDX-License-Identifier: MIT
 *
 * fast.c - a tokenizer.json as transformers loads it
 */
#include "lib/hf/encode/fast.h"

#include "lib/base/str.h"
#include "lib/json/json_walk.h"

static enum mf_status failed(const struct mf_fast *fast)
{
    return fast->env->error.status;
}

/* ---- files ---- */

enum mf_status mf_fast_file(const struct mf_fast *fast, struct mf_env *env,
                            struct mf_sidecar *file, uint64_t offset)
{
    if (mf_sidecar_open(file, fast->model, fast->arena, fast->file) != MF_OK)
        return env->error.status;
    if (file->source.size != fast->file_size)
        return mf_fail(env, MF_ERR_IO, MF_NO_OFFSET,
                       "changed while it was read");
    mf_reader_seek(&file->reader, offset);
    mf_json_init(&file->json, &file->reader);
    return MF_OK;
}

/* Texts that are not in order are read through a small window: each is a read
 * of its own. */
enum mf_status mf_fast_texts(const struct mf_fast *fast, struct mf_env *env,
                             struct mf_sidecar *file)
{
    struct mf_span span = { fast->vocab_offset, 0 };

    if (mf_fast_file(fast, env, file, fast->vocab_offset) != MF_OK ||
        fast->ordered)
        return env->error.status;
    span.size = fast->file_size - span.offset;
    mf_reader_release(&file->reader);
    return mf_reader_init_span(&file->reader, env, &file->source, span, 256);
}

enum mf_status mf_fast_seek(const struct mf_fast *fast, struct mf_env *env,
                            struct mf_sidecar *file, uint64_t id)
{
    enum mf_json_token token;

    mf_reader_seek(&file->reader, fast->vocab_offset + mf_fast_place(fast, id));
    mf_json_init(&file->json, &file->reader);
    token = mf_json_next(&file->json);
    if (token == MF_JSON_ERROR)
        return env->error.status;
    return token == MF_JSON_STRING ? MF_OK
                                   : mf_fail(env, MF_ERR_IO, MF_NO_OFFSET,
                                             "changed while it was read");
}

bool mf_fast_is_special(const struct mf_fast *fast, uint64_t id)
{
    const struct mf_added *added = mf_added_at(&fast->added, id);

    return added && added->named;
}

/* A file as a tree, but for what may be large in it. */
static enum mf_status read_tree(struct mf_fast *fast, const char *name,
                                const char *const *left, struct mf_node **root,
                                uint64_t *size)
{
    struct mf_sidecar file;
    enum mf_status status =
        mf_sidecar_open(&file, fast->model, fast->arena, name);

    *size = file.source.size;
    if (status == MF_OK)
        status = mf_tree_read_but(&file.json, fast->arena, MF_SIDECAR_LIMIT,
                                  left, root);
    if (status == MF_OK && (*root)->kind != MF_NODE_OBJECT)
        status = mf_fail(fast->env, MF_ERR_CORRUPT, 0, "expected an object");
    return mf_sidecar_close(&file, status);
}

static bool exists(const struct mf_fast *fast, const char *name)
{
    return mf_sidecar_exists(fast->model, fast->arena, name);
}

static enum mf_status read_tokenizer(struct mf_fast *fast)
{
    static const char *const left[] = { "added_tokens", "model.vocab",
                                        "model.merges", NULL };
    const struct mf_node *vocab;

    if (read_tree(fast, "tokenizer.json", left, &fast->json,
                  &fast->file_size) != MF_OK)
        return failed(fast);
    vocab = mf_node_at(fast->json, "model.vocab");
    if (!vocab ||
        (vocab->kind != MF_NODE_OBJECT && vocab->kind != MF_NODE_ARRAY))
        return mf_fail(fast->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "'tokenizer.json': 'model.vocab' is not a list of "
                       "tokens");
    fast->vocab_offset = vocab->offset;
    return MF_OK;
}

static enum mf_status read_config(struct mf_fast *fast)
{
    static const char *const left[] = { "added_tokens_decoder", NULL };
    uint64_t size;

    return exists(fast, "tokenizer_config.json")
               ? read_tree(fast, "tokenizer_config.json", left, &fast->config,
                           &size)
               : failed(fast);
}

/* ---- added tokens of tokenizer.json ---- */

static enum mf_status read_added(struct mf_fast *fast, struct mf_sidecar *file)
{
    struct mf_json *json = &file->json;
    enum mf_json_token token = mf_json_next(json); /* the bracket */

    for (token = mf_json_next(json); token == MF_JSON_BEGIN_OBJECT;
         token = mf_json_next(json)) {
        struct mf_added read, *added;

        if (mf_added_read(&fast->added, json, &read) != MF_OK)
            return failed(fast);
        added = mf_added_append(&fast->added, read.text);
        if (!added)
            return failed(fast);
        added->file_id = read.file_id;
        added->flags = read.flags;
    }
    if (token == MF_JSON_ERROR)
        return failed(fast);
    return token == MF_JSON_END_ARRAY
               ? MF_OK
               : mf_fail(fast->env, MF_ERR_CORRUPT, json->token_offset,
                         "an added token is not an object");
}

static enum mf_status read_listed(struct mf_fast *fast)
{
    const struct mf_node *node = mf_node_at(fast->json, "added_tokens");
    struct mf_sidecar file;
    enum mf_status status;

    if (!node || node->kind == MF_NODE_NULL)
        return MF_OK;
    if (node->kind != MF_NODE_ARRAY)
        return mf_fail(fast->env, MF_ERR_CORRUPT, node->offset,
                       "'tokenizer.json': 'added_tokens' is not a list");
    status = mf_fast_file(fast, fast->env, &file, node->offset);
    if (status == MF_OK)
        status = read_added(fast, &file);
    return mf_sidecar_close(&file, status);
}

/* ---- all of it ---- */

bool mf_fast_exists(const struct mf_model *model, struct mf_arena *arena)
{
    return mf_sidecar_exists(model, arena, "tokenizer.json") ||
           (mf_sidecar_exists(model, arena, "vocab.json") &&
            mf_sidecar_exists(model, arena, "merges.txt"));
}

enum mf_status mf_fast_open(struct mf_fast *fast, const struct mf_model *model,
                            struct mf_arena *arena,
                            const struct mf_node *model_config)
{
    bool is_made;

    *fast = (struct mf_fast){
        .env = model->env,
        .model = model,
        .arena = arena,
        .model_config = model_config,
        .file = "tokenizer.json",
        .added = { .env = model->env, .arena = arena },
    };
    is_made = !exists(fast, fast->file);
    if (failed(fast) != MF_OK || (!is_made && read_tokenizer(fast) != MF_OK) ||
        read_config(fast) != MF_OK || mf_fast_class(fast) != MF_OK ||
        (is_made && mf_fast_slow(fast) != MF_OK) ||
        read_listed(fast) != MF_OK || mf_added_index(&fast->added) != MF_OK)
        return failed(fast);
    return mf_fast_specials(fast);
}
