/* SPDX-License-Identifier: MIT
 *
 * output_bytes.c - a file that a program made from a model, as a whole
 */
#include "lib/base/options.h"
#include "lib/program.h"
#include "lib/write/convert.h"

static enum mf_status write_target(struct mf_env *env, const char *path,
                                   bool replace, const void *bytes, size_t size)
{
    struct mf_target target = MF_TARGET_NONE;
    enum mf_status status = mf_target_open(env, path, size, replace, &target);

    if (status == MF_OK)
        status = mf_target_write(env, &target, 0, bytes, size);
    return mf_target_finish(&target, status);
}

enum mf_status mf_output_write(struct mf_model *model, const char *path,
                               bool replace, const void *bytes, size_t size)
{
    MF_NEED(NULL, model);
    MF_NEED(model->env, path);
    MF_NEED(model->env, bytes);

    struct mf_output output = { .path = path, .target = MF_TARGET_NONE };
    struct mf_outputs outputs = { .env = model->env,
                                  .model = model,
                                  .output = &output,
                                  .count = 1,
                                  .index = MF_TARGET_NONE };

    mf_clear_error(model->env);
    if (mf_outputs_guard_inputs(&outputs) != MF_OK)
        return model->env->error.status;
    return write_target(model->env, path, replace, bytes, size);
}

enum mf_status mf_file_write(struct mf_env *env, const char *path, bool replace,
                             const void *bytes, size_t size)
{
    MF_NEED(NULL, env);
    MF_NEED(env, path);
    MF_NEED(env, bytes);

    mf_clear_error(env);
    if (mf_output_guard_read(env, path) != MF_OK)
        return env->error.status;
    return write_target(env, path, replace, bytes, size);
}
