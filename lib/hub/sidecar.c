/* SPDX-License-Identifier: MIT
 *
 * sidecar.c - JSON files that lie beside a model: config.json, tokenizer.json
 */
#include "lib/hub/sidecar.h"

#include <unistd.h>

const char *const mf_beside_names[] = {
    "config.json",         "tokenizer.json",     "tokenizer_config.json",
    "chat_template.jinja", "chat_template.json", NULL
};

static bool is_listed(const char *name)
{
    size_t size = strlen(MF_BESIDE_FOLDER);

    if (strncmp(name, MF_BESIDE_FOLDER, size) == 0 && name[size] == '/')
        return true;
    for (size_t i = 0; mf_beside_names[i]; i++)
        if (strcmp(mf_beside_names[i], name) == 0)
            return true;
    return false;
}

const char *mf_beside_path(const struct mf_model *model, struct mf_arena *arena,
                           const char *name)
{
    return mf_path_beside(arena, model->file[0].path,
                          (struct mf_str){ name, strlen(name) });
}

bool mf_beside_is_there(const struct mf_model *model, struct mf_arena *arena,
                        const char *name)
{
    const char *path = mf_beside_path(model, arena, name);

    return path && access(path, F_OK) == 0;
}

enum mf_status mf_beside_open(struct mf_beside *beside,
                              const struct mf_model *model,
                              struct mf_arena *arena, const char *name)
{
    struct mf_env *env = model->env;
    const char *path;

    *beside = (struct mf_beside){ .env = env, .name = name };
    if (!is_listed(name)) /* or it would not be spared, see output_guard.c */
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "no file of that name is read beside a model");
    if (model->file[0].source.fd < 0)
        return mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "there is none: the model is no file");
    path = mf_beside_path(model, arena, name);
    if (!path ||
        mf_source_open_file(env, path, &beside->source, NULL) != MF_OK ||
        mf_reader_init(&beside->reader, env, &beside->source, NULL, 0) != MF_OK)
        return env->error.status;
    mf_json_init(&beside->json, &beside->reader);
    return MF_OK;
}

enum mf_status mf_beside_blame(struct mf_env *env, const char *name)
{
    struct mf_error error = env->error;

    if (error.status == MF_ERR_MEMORY)
        return error.status;
    mf_clear_error(env);
    return mf_fail(env, error.status, error.offset, "'%s' beside the model: %s",
                   name, error.message);
}

enum mf_status mf_beside_close(struct mf_beside *beside, enum mf_status status)
{
    if (status == MF_OK)
        status = mf_source_unchanged(beside->env, &beside->source);
    if (beside->reader.env)
        mf_reader_release(&beside->reader);
    mf_source_close(&beside->source);
    return status == MF_OK ? MF_OK : mf_beside_blame(beside->env, beside->name);
}
