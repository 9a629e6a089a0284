/* SPDX-License-Identifier: MIT
 * limit.c - an allocator of the program, and a limit for all memory */
#include <modelfile.h>
#include <stdio.h>
#include <stdlib.h>

static void *resize(void *user, void *block, size_t old_size, size_t new_size)
{
    size_t *most = (size_t *)user;

    (void)old_size;
    if (new_size > *most)
        *most = new_size;
    if (new_size > 0)
        return realloc(block, new_size);
    free(block);
    return NULL;
}

int main(int argc, char **argv)
{
    size_t most = 0;
    struct mf_options options = { .size = sizeof(options),
                                  .allocator = { resize, &most },
                                  .heap_limit = 1 << 20 };
    struct mf_env *env = mf_env_new(&options);
    struct mf_model *model = NULL;
    struct mf_heap_stats heap;

    if (!env || argc != 2)
        return 2;
    if (mf_model_open(env, argv[1], NULL, &model) != MF_OK)
        fprintf(stderr, "%s\n", mf_env_error(env)->message);
    mf_env_heap(env, &heap);
    printf("at most %zu bytes, the largest block %zu\n", heap.peak, most);
    mf_model_close(model);
    mf_env_free(env);
    return model ? 0 : 1;
}
