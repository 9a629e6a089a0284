/* SPDX-License-Identifier: MIT
 * write.c - a GGUF file of numbers in memory */
#include <modelfile.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    static const float numbers[4][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
    static const uint64_t shape[] = { 4, 3 };
    struct mf_writer_options options = { .size = sizeof(options),
                                         .format = "gguf" };
    struct mf_edit name = { .key = "general.architecture",
                            .type = MF_VALUE_STRING,
                            .text = { "example", 7 } };
    struct mf_new_tensor tensor = { { "w", 1 }, "f32", 2, shape };
    struct mf_env *env = mf_env_new(NULL);
    struct mf_writer *writer = NULL;
    int code = 0;

    if (!env || argc != 2)
        return 2;
    if (mf_writer_new(env, &options, &writer) != MF_OK ||
        mf_writer_set(writer, &name) != MF_OK ||
        mf_writer_add(writer, &tensor, NULL) != MF_OK ||
        mf_writer_open(writer, argv[1]) != MF_OK ||
        mf_writer_push(writer, numbers, sizeof(numbers)) != MF_OK ||
        mf_writer_commit(writer) != MF_OK) {
        fprintf(stderr, "%s: %s\n", argv[1], mf_env_error(env)->message);
        code = 1;
    }
    mf_writer_free(writer);
    mf_env_free(env);
    return code;
}
