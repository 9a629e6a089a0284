/* SPDX-License-Identifier: MIT
 *
 * refuse.c - memory and reads that fail, in a program that is linked with it
 *
 *     cc ... refuse.c -Wl,--wrap=realloc -Wl,--wrap=fread
 *     REFUSE_REALLOC=3 program        the third call that allocates fails
 *     REFUSE_FREAD=2 program          the second read fails
 *
 * REFUSED names a file that is made when it comes to that.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *__real_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size);
size_t __real_fread(void *into, size_t size, size_t count, FILE *file);
size_t __wrap_fread(void *into, size_t size, size_t count, FILE *file);

/* Counts a call; true if it is the one to fail. */
static int refuses(const char *variable, unsigned *calls)
{
    const char *text = getenv(variable), *file = getenv("REFUSED");
    int fails = text && ++*calls == strtoul(text, NULL, 10);

    if (fails && file)
        close(open(file, O_WRONLY | O_CREAT, 0600));
    return fails;
}

void *__wrap_realloc(void *block, size_t size)
{
    static unsigned calls;

    return refuses("REFUSE_REALLOC", &calls) ? NULL
                                             : __real_realloc(block, size);
}

size_t __wrap_fread(void *into, size_t size, size_t count, FILE *file)
{
    static unsigned calls;

    return refuses("REFUSE_FREAD", &calls)
               ? 0
               : __real_fread(into, size, count, file);
}
