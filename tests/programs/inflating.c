/* SPDX-License-Identifier: MIT
 *
 * inflating.c - unpacks the members of a zip archive, as fast as zlib does it
 *
 *     inflating THREADS FILE
 *
 * Members follow each other from the start of the file.  Each thread unpacks
 * every THREADS-th of them into one buffer, and looks at no byte of it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { BUFFER = 1 << 20, THREADS_MAX = 64, HEADER = 30 };

static struct inflating {
    pthread_t thread;
    int file;
    long first, every;
    uint8_t in[BUFFER], out[BUFFER];
} inflatings[THREADS_MAX];

static uint32_t number(const uint8_t *at, unsigned size)
{
    return at[0] | (uint32_t)at[1] << 8 |
           (size == 4 ? (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24 : 0);
}

static int unpack(struct inflating *own, off_t at, uint32_t size)
{
    z_stream z = { .next_in = own->in };
    int result = inflateInit2(&z, -MAX_WBITS);

    while (result == Z_OK && size > 0) {
        ssize_t got =
            pread(own->file, own->in, size < BUFFER ? size : BUFFER, at);

        if (got <= 0)
            break;
        at += got;
        size -= (uint32_t)got;
        z.next_in = own->in;
        z.avail_in = (unsigned)got;
        do {
            z.next_out = own->out;
            z.avail_out = BUFFER;
            result = inflate(&z, Z_SYNC_FLUSH);
        } while (result == Z_OK && z.avail_out == 0);
    }
    inflateEnd(&z);
    return result == Z_STREAM_END;
}

static void *unpack_members(void *context)
{
    struct inflating *own = context;
    uint8_t header[HEADER];
    off_t at = 0;

    for (long i = 0; pread(own->file, header, HEADER, at) == HEADER &&
                     memcmp(header, "PK\3\4", 4) == 0;
         i++) {
        uint32_t size = number(header + 18, 4);

        at += HEADER + number(header + 26, 2) + number(header + 28, 2);
        if (i % own->every == own->first && !unpack(own, at, size))
            return own;
        at += size;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    long threads = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
    int file = threads > 0 ? open(argv[2], O_RDONLY) : -1, failed = 0;

    if (threads > THREADS_MAX || file < 0) {
        fputs("usage: inflating THREADS FILE\n", stderr);
        return 2;
    }
    for (long i = 0; i < threads; i++) {
        struct inflating *own = &inflatings[i];

        own->file = file;
        own->first = i;
        own->every = threads;
        failed |= pthread_create(&own->thread, NULL, unpack_members, own);
    }
    for (long i = 0; i < threads && !failed; i++) {
        void *bad;

        failed |= pthread_join(inflatings[i].thread, &bad) || bad;
    }
    return failed;
}
