/* SPDX-License-Identifier: MIT
 * convert.c - converts, shows how far it is, and stops when a key is pressed */
#include <modelfile.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_bool stop;

static void *wait_for_key(void *unused)
{
    stop = getchar() != EOF;
    return unused;
}

static bool progress(void *unused, const struct mf_progress *at)
{
    (void)unused;
    if (at->total > 0)
        fprintf(stderr, "\r%3.0f %%", 100.0 * at->done / at->total);
    return !stop;
}

int main(int argc, char **argv)
{
    struct mf_options options = { .size = sizeof(options),
                                  .progress = progress };
    struct mf_env *env = mf_env_new(&options);
    struct mf_model *model = NULL;
    pthread_t thread;

    if (!env || argc != 3 ||
        pthread_create(&thread, NULL, wait_for_key, NULL) != 0)
        return 2;
    if (mf_model_open(env, argv[1], NULL, &model) == MF_OK)
        mf_model_convert(model, argv[2], NULL, NULL);
    fprintf(stderr, "\n%s\n", mf_env_error(env)->message);
    return mf_env_error(env)->status != MF_OK;
}
