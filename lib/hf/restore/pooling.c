/* SPDX-License-Identifier: MIT
 *
 * pooling.c - the modules that sentence-transformers runs one after the other
 *
 * The model, and the step that turns the vectors of all tokens into one.
 */
#include <stdio.h>

#include "lib/hf/restore/restore.h"

#define FOLDER "1_Pooling"

static const char *const modes[] = {
    "cls_token",           "mean_tokens", "max_tokens", "mean_sqrt_len_tokens",
    "weightedmean_tokens", "lasttoken"
};

/* What a number in GGUF is called there; NULL: it is not the number of a way
 * that sentence-transformers knows. */
static const char *mode_of(const struct mf_node *type)
{
    if (!type || type->kind != MF_NODE_NUMBER || type->type != MF_VALUE_U64)
        return NULL;
    return type->number.u64 == 1   ? "mean_tokens"
           : type->number.u64 == 2 ? "cls_token"
           : type->number.u64 == 3 ? "lasttoken"
                                   : NULL;
}

static void put_text(struct mf_json_out *json, const char *key,
                     const char *text)
{
    mf_json_key(json, key);
    mf_json_string(json, text, strlen(text));
}

static void put_modules(struct mf_json_out *json, const void *unused)
{
    static const struct {
        const char *name, *path, *type;
    } modules[] = {
        { "0", "", "sentence_transformers.models.Transformer" },
        { "1", FOLDER, "sentence_transformers.models.Pooling" },
    };

    (void)unused;
    mf_json_begin(json, '[');
    for (size_t i = 0; i < sizeof(modules) / sizeof(*modules); i++) {
        mf_json_begin(json, '{');
        mf_json_key(json, "idx");
        mf_json_u64(json, i);
        put_text(json, "name", modules[i].name);
        put_text(json, "path", modules[i].path);
        put_text(json, "type", modules[i].type);
        mf_json_end(json, '}');
    }
    mf_json_end(json, ']');
}

struct pooling {
    const char *mode;
    const struct mf_node *size;
};

static void put_mode(struct mf_json_out *json, const void *user)
{
    const struct pooling *pooling = user;
    char key[48];

    mf_json_begin(json, '{');
    if (pooling->size && pooling->size->type == MF_VALUE_U64) {
        mf_json_key(json, "word_embedding_dimension");
        mf_json_u64(json, pooling->size->number.u64);
    }
    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
        snprintf(key, sizeof(key), "pooling_mode_%s", modes[i]);
        mf_json_key(json, key);
        mf_json_bool(json, strcmp(modes[i], pooling->mode) == 0);
    }
    mf_json_end(json, '}');
}

static enum mf_status put_file(struct mf_stage *stage, const char *name,
                               void (*put)(struct mf_json_out *json,
                                           const void *user),
                               const void *user)
{
    struct mf_stage_file file;
    enum mf_status status = mf_stage_open(stage, name, &file);

    if (status == MF_OK) {
        struct mf_json_out json = mf_draft_json(&file.sink);

        put(&json, user);
        mf_put(&file.sink, "\n", 1);
    }
    return mf_stage_close(&file, status);
}

enum mf_status mf_restore_put_pooling(const struct mf_restore *restore,
                                      struct mf_stage *stage)
{
    static const struct mf_str type = { "pooling_type", 12 };
    static const struct mf_str size = { "embedding_length", 16 };
    struct pooling pooling = { mode_of(mf_recipe_field(&restore->recipe, type)),
                               mf_recipe_field(&restore->recipe, size) };

    if (!pooling.mode)
        return MF_OK;
    if (put_file(stage, "modules.json", put_modules, NULL) != MF_OK ||
        mf_stage_folder(stage, FOLDER) != MF_OK)
        return restore->env->error.status;
    return put_file(stage, FOLDER "/config.json", put_mode, &pooling);
}
