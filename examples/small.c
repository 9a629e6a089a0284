/* SPDX-License-Identifier: MIT
 * small.c - list.c for GGUF files only, in a third of the size */
#include <inttypes.h>
#include <modelfile.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const struct mf_feature *features[] = { mf_feature_gguf() };
    struct mf_env *env = mf_env_new_with(NULL, features, 1);
    struct mf_model *model;
    struct mf_tensor tensor;

    if (!env || argc != 2)
        return 2;
    if (mf_model_open(env, argv[1], NULL, &model) != MF_OK) {
        fprintf(stderr, "%s: %s\n", argv[1], mf_env_error(env)->message);
        mf_env_free(env);
        return 1;
    }
    for (size_t i = 0; mf_tensor_by_offset(model, i, &tensor); i++)
        printf("%10" PRIu64 " %10" PRIu64 "  %-8s %s\n", tensor.data.offset,
               tensor.data.size, tensor.type, tensor.name.at);
    mf_model_close(model);
    mf_env_free(env);
    return 0;
}
