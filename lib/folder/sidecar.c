/* SPDX-License-Identifier: MIT
 *
 * sidecar.c - files next to a model: config.json, tokenizer.json and others
 */
#include "lib/folder/sidecar.h"
#include "lib/io/path.h"
#include "lib/io/system.h"
#include "lib/model/nearby.h"
#include "lib/model/steady.h"

#include <assert.h>

const char *const mf_sidecar_names[] = { "config.json",
                                         "adapter_config.json",
                                         "tokenizer.json",
                                         "tokenizer_config.json",
                                         "generation_config.json",
                                         "preprocessor_config.json",
                                         "processor_config.json",
                                         "chat_template.jinja",
                                         "chat_template.json",
                                         "params.json",
                                         "special_tokens_map.json",
                                         "added_tokens.json",
                                         "merges.txt",
                                         "vocab.json",
                                         "tokenizer.model",
                                         "tokenizer.model.v1",
                                         "tokenizer.model.v2",
                                         "tokenizer.model.v3",
                                         "tokenizer.model.v3m1",
                                         "tokenizer.model.v7",
                                         "tokenizer.model.v7m1",
                                         "spiece.model",
                                         "sentencepiece.bpe.model",
                                         "hf_quant_config.json",
                                         "modules.json",
                                         "1_Pooling/config.json",
                                         "1_Dense/model.safetensors",
                                         "tekken.json",
                                         "README.md",
                                         NULL };

#ifndef NDEBUG
static bool is_listed(const char *name)
{
    size_t size = strlen(MF_SIDECAR_FOLDER);

    if (strncmp(name, MF_SIDECAR_FOLDER, size) == 0 && name[size] == '/')
        return true;
    for (size_t i = 0; mf_sidecar_names[i]; i++)
        if (strcmp(mf_sidecar_names[i], name) == 0)
            return true;
    return false;
}
#endif

const char *mf_sidecar_path(const struct mf_model *model,
                            struct mf_arena *arena, const char *name)
{
    return mf_path_sibling(arena, model->file[0].path,
                           (struct mf_str){ name, strlen(name) });
}

bool mf_sidecar_exists(const struct mf_model *model, struct mf_arena *arena,
                       const char *name)
{
    const char *path = mf_sidecar_path(model, arena, name);

    return path && mf_nearby_exists(model, path);
}

/* Closes one that is too large. */
static enum mf_status check_size(struct mf_env *env, const char *path,
                                 struct mf_source *source)
{
    bool vocabulary = strcmp(mf_base_name(path), "tokenizer.json") == 0;
    enum mf_status status = mf_source_check_size(
        env, source, vocabulary ? MF_SIDECAR_TOKENIZER_MAX : MF_SIDECAR_MAX);

    if (status != MF_OK) {
        mf_source_close(source);
        *source = (struct mf_source){ .fd = -1 };
    }
    return status;
}

enum mf_status mf_sidecar_source(struct mf_env *env, const char *path,
                                 struct mf_source *out)
{
    enum mf_status status = mf_source_open_file(env, path, out, NULL);

    return status == MF_OK ? check_size(env, path, out) : status;
}

enum mf_status mf_sidecar_beside(const struct mf_model *model, const char *path,
                                 struct mf_source *out)
{
    enum mf_status status = mf_nearby_open(model, path, out);

    return status == MF_OK ? check_size(model->env, path, out) : status;
}

enum mf_status mf_sidecar_open(struct mf_sidecar *sidecar,
                               const struct mf_model *model,
                               struct mf_arena *arena, const char *name)
{
    struct mf_env *env = model->env;
    const char *path;

    assert(is_listed(name)); /* or output_guard.c would not protect it */
    *sidecar = (struct mf_sidecar){ .env = env, .name = name };
    if (!mf_nearby_any(model))
        return mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "not available: nothing lies next to this model");
    path = mf_sidecar_path(model, arena, name);
    if (!path || mf_sidecar_beside(model, path, &sidecar->source) != MF_OK ||
        mf_seen_add(model, name, path, &sidecar->source) != MF_OK ||
        mf_reader_init(&sidecar->reader, env, &sidecar->source, NULL, 0) !=
            MF_OK)
        return env->error.status;
    mf_json_init(&sidecar->json, &sidecar->reader);
    return MF_OK;
}

enum mf_status mf_sidecar_fail(struct mf_env *env, const char *name)
{
    struct mf_error error = env->error;

    if (error.status == MF_ERR_MEMORY)
        return error.status;
    mf_clear_error(env);
    mf_fail(env, error.status, error.offset, "'%s': %s", name, error.message);
    env->error.rule = error.rule;
    return error.status;
}

enum mf_status mf_sidecar_close(struct mf_sidecar *sidecar,
                                enum mf_status status)
{
    if (status == MF_OK)
        status = mf_source_unchanged(sidecar->env, &sidecar->source);
    if (sidecar->reader.env)
        mf_reader_release(&sidecar->reader);
    mf_source_close(&sidecar->source);
    return status == MF_OK ? MF_OK
                           : mf_sidecar_fail(sidecar->env, sidecar->name);
}

enum mf_status mf_sidecar_tree(const struct mf_model *model,
                               struct mf_arena *arena, const char *name,
                               uint64_t limit, struct mf_node **root)
{
    return mf_sidecar_tree_but(model, arena, name, limit, NULL, root);
}

enum mf_status mf_sidecar_tree_but(const struct mf_model *model,
                                   struct mf_arena *arena, const char *name,
                                   uint64_t limit, const char *const *left,
                                   struct mf_node **root)
{
    struct mf_sidecar file;
    enum mf_status status;

    *root = NULL;
    if (mf_nearby_any(model) && !mf_sidecar_exists(model, arena, name))
        return model->env->error.status;
    status = mf_sidecar_open(&file, model, arena, name);
    if (status == MF_OK)
        status = left ? mf_tree_read_but(&file.json, arena, limit, left, root)
                      : mf_tree_read(&file.json, arena, limit, root);
    return mf_sidecar_close(&file, status);
}
