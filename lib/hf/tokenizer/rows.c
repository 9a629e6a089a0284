/* SPDX-License-Identifier: MIT
 *
 * rows.c - how many rows of an embedding belong to tokens
 *
 * As llama.cpp's converter counts them for Gemma 3, before it cuts off the
 * others: the tokens that it would make of tokenizer.model, else what is listed
 * in tokenizer.json.
 */
#include "lib/folder/sidecar.h"
#include "lib/hf/tokenizer/spm.h"
#include "lib/json/tree.h"

/* The size that config.json gives: of the first field that is there; 0: none
 * does. */
static uint64_t size_of_config(const struct mf_node *config)
{
    const struct mf_node *size =
        mf_node_at(config, "vocab_size_per_layer_input");

    if (!size)
        size = mf_node_at(config, "vocab_size");
    return size && size->kind == MF_NODE_NUMBER && size->type == MF_VALUE_U64
               ? size->number.u64
               : 0;
}

/* What the array or object has whose bracket comes next. */
static enum mf_status count_in(struct mf_json *json, uint64_t *count)
{
    enum mf_json_token end = mf_json_next(json) == MF_JSON_BEGIN_OBJECT
                                 ? MF_JSON_END_OBJECT
                                 : MF_JSON_END_ARRAY;
    enum mf_json_token token = mf_json_next(json);

    for (; token != end && token != MF_JSON_ERROR; ++*count) {
        if (token == MF_JSON_KEY)
            token = mf_json_next(json);
        if (mf_json_skip(json, token) != MF_OK)
            break;
        token = mf_json_next(json);
    }
    return json->reader->env->error.status;
}

static enum mf_status count_at(struct mf_sidecar *file,
                               const struct mf_node *json, const char *path,
                               uint64_t *count)
{
    const struct mf_node *node = mf_node_at(json, path);

    if (!node || (node->kind != MF_NODE_ARRAY && node->kind != MF_NODE_OBJECT))
        return mf_fail(file->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "'%s' is not a list of tokens", path);
    mf_reader_seek(&file->reader, node->offset);
    mf_json_init(&file->json, &file->reader);
    return count_in(&file->json, count);
}

static enum mf_status count_listed(const struct mf_model *model,
                                   struct mf_arena *arena, uint64_t *out)
{
    static const char *const left[] = { "added_tokens", "model.vocab",
                                        "model.merges", NULL };
    struct mf_node *json;
    struct mf_sidecar file;
    enum mf_status status =
        mf_sidecar_open(&file, model, arena, "tokenizer.json");

    if (status == MF_OK)
        status =
            mf_tree_read_but(&file.json, arena, MF_SIDECAR_LIMIT, left, &json);
    if (status == MF_OK)
        status = count_at(&file, json, "model.vocab", out);
    if (status == MF_OK)
        status = count_at(&file, json, "added_tokens", out);
    return mf_sidecar_close(&file, status);
}

static enum mf_status count_pieces(const struct mf_model *model,
                                   struct mf_arena *arena, const char *name,
                                   uint64_t *out)
{
    struct mf_sidecar file;
    struct mf_spm spm;
    enum mf_status status = mf_sidecar_open(&file, model, arena, name);

    if (status == MF_OK)
        status = mf_spm_read(&file.reader, &spm);
    if (status == MF_OK)
        *out = spm.count;
    return mf_sidecar_close(&file, status);
}

enum mf_status mf_tokenizer_rows(const struct mf_model *model,
                                 struct mf_arena *arena,
                                 const struct mf_node *config, uint64_t *out)
{
    const char *name = "tokenizer.model";
    bool pieces = mf_sidecar_exists(model, arena, name);

    *out = 0;
    if (arena->env->error.status != MF_OK)
        return arena->env->error.status;
    if (!pieces)
        return count_listed(model, arena, out);
    *out = size_of_config(config);
    return *out > 0 ? MF_OK : count_pieces(model, arena, name, out);
}
