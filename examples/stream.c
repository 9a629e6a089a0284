/* SPDX-License-Identifier: MIT
 * stream.c - a tensor of any type and format as floats, to standard output */
#include <modelfile.h>
#include <stdio.h>
#include <string.h>

static int stream(struct mf_model *model, const char *name)
{
    struct mf_tensor tensor;
    float part[4096];
    size_t index, some;

    if (!mf_tensor_find(model, name, strlen(name), &tensor, &index))
        return 1;
    for (uint64_t at = 0; at < tensor.parameters; at += some) {
        some = tensor.parameters - at < 4096 ? tensor.parameters - at : 4096;
        if (mf_tensor_read(model, index, at, some, MF_READ_F32, part) != MF_OK)
            return 1;
        fwrite(part, sizeof(*part), some, stdout);
    }
    return mf_model_unchanged(model) != MF_OK;
}

int main(int argc, char **argv)
{
    struct mf_env *env = mf_env_new(NULL);
    struct mf_model *model = NULL;
    int code = 1;

    if (!env || argc != 3)
        return 2;
    if (mf_model_open(env, argv[1], NULL, &model) == MF_OK)
        code = stream(model, argv[2]);
    if (code != 0)
        fprintf(stderr, "%s\n", mf_env_error(env)->message);
    mf_model_close(model);
    mf_env_free(env);
    return code;
}
