/* SPDX-License-Identifier: MIT
 *
 * read_speed.c - reads all tensors of a model as floats, and tells how fast
 *
 *     read_speed THREADS FILE
 *
 * Each thread has a reader, and takes the next piece of a tensor that no reader
 * has taken.  It also tells how many allocations there were in the loop.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib/modelfile.h"

enum { PIECE = 1 << 18, THREADS_MAX = 64 };

static struct mf_model *model;
static atomic_uint_fast64_t next, numbers;

struct worker {
    pthread_t thread;
    struct mf_tensor_reader *reader;
    float *out;
};

/* Finds piece `number` of all; false after the last. */
static bool find(uint64_t number, size_t *index, uint64_t *first,
                 uint64_t *count)
{
    struct mf_tensor tensor;

    for (*index = 0; mf_tensor_at(model, *index, &tensor); ++*index) {
        uint64_t pieces = (tensor.parameters + PIECE - 1) / PIECE;

        if (number < pieces) {
            *first = number * PIECE;
            *count = tensor.parameters - *first;
            *count = *count < PIECE ? *count : PIECE;
            return true;
        }
        number -= pieces;
    }
    return false;
}

static void *work(void *context)
{
    struct worker *own = context;
    uint64_t first, count;
    size_t index;

    while (find(atomic_fetch_add(&next, 1), &index, &first, &count)) {
        if (mf_tensor_reader_read(own->reader, index, first, count, MF_READ_F32,
                                  own->out) != MF_OK) {
            fprintf(stderr, "%s\n",
                    mf_tensor_reader_error(own->reader)->message);
            exit(1);
        }
        atomic_fetch_add(&numbers, count);
    }
    return NULL;
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    struct mf_env *env = mf_env_new(NULL);
    static struct worker workers[THREADS_MAX];
    struct mf_heap_stats before, after;
    double begun;
    int threads;

    if (!env || argc != 3 || (threads = atoi(argv[1])) < 1 ||
        threads > THREADS_MAX)
        return 2;
    if (mf_model_open(env, argv[2], NULL, &model) != MF_OK)
        return 1;
    for (int i = 0; i < threads; i++) {
        workers[i].out = malloc(PIECE * sizeof(float));
        if (!workers[i].out ||
            mf_tensor_reader_open(model, &workers[i].reader) != MF_OK)
            return 1;
    }
    mf_env_heap(env, &before);
    begun = seconds();
    for (int i = 0; i < threads; i++)
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            return 1;
    for (int i = 0; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    begun = seconds() - begun;
    mf_env_heap(env, &after);
    printf("%llu floats in %.3f s, %.2f GB/s, %llu allocations\n",
           (unsigned long long)numbers, begun,
           (double)numbers * sizeof(float) / begun / 1e9,
           (unsigned long long)(after.allocations - before.allocations));
    for (int i = 0; i < threads; i++) {
        mf_tensor_reader_close(workers[i].reader);
        free(workers[i].out);
    }
    mf_model_close(model);
    mf_env_free(env);
    return 0;
}
