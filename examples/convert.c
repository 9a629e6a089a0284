/* SPDX-License-Identifier: MIT
 * convert.c - converts, shows how far it is, and stops when Enter is pressed */
#include <modelfile.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t stop = PTHREAD_MUTEX_INITIALIZER; /* once it is held */

static void *wait_for_enter(void *unused)
{
    return getchar() != EOF && pthread_mutex_lock(&stop) == 0 ? &stop : unused;
}

static bool progress(void *unused, const struct mf_progress *at)
{
    (void)unused;
    if (at->total > 0)
        fprintf(stderr, "\r%3.0f %%", 100.0 * (double)at->done / at->total);
    return pthread_mutex_trylock(&stop) == 0 && !pthread_mutex_unlock(&stop);
}

int main(int argc, char **argv)
{
    struct mf_options how = { .size = sizeof(how), .progress = progress };
    struct mf_env *env = mf_env_new(&how);
    struct mf_model *model = NULL;
    pthread_t thread;
    int code = 1;

    if (!env || argc != 3 ||
        pthread_create(&thread, NULL, wait_for_enter, NULL) != 0)
        return 2;
    if (mf_model_open(env, argv[1], NULL, &model) == MF_OK &&
        mf_model_convert(model, argv[2], NULL, NULL) == MF_OK)
        code = 0;
    fprintf(stderr, "\n%s\n", mf_env_error(env)->message);
    mf_model_close(model);
    mf_env_free(env);
    return code;
}
