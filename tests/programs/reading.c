/* SPDX-License-Identifier: MIT
 *
 * reading.c - reads a file with plain read calls, as fast as it will go
 *
 *     reading THREADS FILE
 *
 * Each thread reads a part of its own, 1 MiB at a time, into one buffer that
 * lies on a page: what a program that looks at all bytes cannot beat.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 1 << 20, PAGE = 4096, THREADS_MAX = 64 };

static struct reading {
    pthread_t thread;
    int file;
    off_t from, to;
    _Alignas(PAGE) char buffer[BUFFER];
} readings[THREADS_MAX];

static void *read_part(void *context)
{
    struct reading *own = context;

    for (off_t at = own->from; at < own->to;) {
        size_t size = own->to - at < BUFFER ? (size_t)(own->to - at) : BUFFER;
        ssize_t got = pread(own->file, own->buffer, size, at);

        if (got <= 0)
            return own;
        at += got;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    long threads = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
    int file = threads > 0 ? open(argv[2], O_RDONLY) : -1, failed = 0;
    struct stat status;
    off_t each;

    if (threads > THREADS_MAX || file < 0 || fstat(file, &status) != 0) {
        fputs("usage: reading THREADS FILE\n", stderr);
        return 2;
    }
    each = (status.st_size / threads / PAGE + 1) * PAGE;
    for (long i = 0; i < threads; i++) {
        struct reading *own = &readings[i];

        own->file = file;
        own->from = i * each;
        own->to = own->from + each < status.st_size ? own->from + each
                                                    : status.st_size;
        failed |= pthread_create(&own->thread, NULL, read_part, own);
    }
    for (long i = 0; i < threads && !failed; i++) {
        void *bad;

        failed |= pthread_join(readings[i].thread, &bad) || bad;
    }
    return failed;
}
