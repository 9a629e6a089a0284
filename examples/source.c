/* SPDX-License-Identifier: MIT
 * source.c - a model that is read through functions of the program */
#include <errno.h>
#include <modelfile.h>
#include <stdio.h>

static int64_t get_range(void *user, uint64_t offset, void *into, size_t count)
{
    FILE *file = (FILE *)user; /* or: GET, with Range: bytes=offset-... */

    fprintf(stderr, "%zu bytes at %llu\n", count, (unsigned long long)offset);
    if (fseek(file, (long)offset, SEEK_SET) != 0)
        return -errno;
    count = fread(into, 1, count, file);
    return count > 0 ? (int64_t)count : -EIO;
}

int main(int argc, char **argv)
{
    struct mf_env *env = mf_env_new(NULL);
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    struct mf_byte_source source = { .size = sizeof(source),
                                     .read = get_range,
                                     .user = file,
                                     .one_at_a_time = true };
    struct mf_model *model = NULL;

    if (!env || !file || fseek(file, 0, SEEK_END) != 0)
        return 2;
    source.name = argv[1];
    source.bytes = (uint64_t)ftell(file);
    if (mf_model_open_source(env, &source, NULL, &model) != MF_OK)
        fprintf(stderr, "%s\n", mf_env_error(env)->message);
    printf("%zu tensors\n", mf_model_info(model)->tensor_count);
    mf_model_close(model);
    mf_env_free(env);
    return fclose(file) != 0 || !model;
}
