/* SPDX-License-Identifier: MIT
 *
 * replay.h - runs files and folders given as arguments through a fuzz target
 */
#ifndef TESTS_FUZZ_REPLAY_H
#define TESTS_FUZZ_REPLAY_H

#ifdef REPLAY
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t replayed;

static void replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc((size_t)1 << 24);
    size_t size;

    if (!file || !bytes) {
        perror(path);
        exit(1);
    }
    size = fread(bytes, 1, (size_t)1 << 24, file);
    LLVMFuzzerTestOneInput(bytes, size);
    replayed++;
    free(bytes);
    fclose(file);
}

/* One level: a corpus has no folders within. */
static void replay(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    char name[1024];

    if (!folder) {
        replay_file(path);
        return;
    }
    while ((entry = readdir(folder)) != NULL) {
        DIR *inner;

        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        inner = opendir(name);
        if (inner)
            closedir(inner);
        else
            replay_file(name);
    }
    closedir(folder);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    printf("%zu inputs replayed\n", replayed);
    return replayed == 0;
}
#endif

#endif
