/* SPDX-License-Identifier: MIT
 *
 * folder.h - a folder whose files a fuzz target rewrites for each input
 */
#ifndef TESTS_FUZZ_FOLDER_H
#define TESTS_FUZZ_FOLDER_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char fuzz_folder[64];

static inline void stop(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    abort();
}

static inline const char *path_in(const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", fuzz_folder, name);
    return path;
}

static inline void put_file(const char *name, const void *bytes, size_t size)
{
    int fd =
        open(path_in(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || close(fd) != 0)
        stop(name, "cannot be written");
}

/* A model of one tensor; remove_folder is called at the end. */
static inline void begin_folder(void (*remove_folder)(void))
{
    static const char header[] = "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],"
                                 "\"data_offsets\":[0,4]}}";
    char model[8 + sizeof(header) + 3] = { (char)(sizeof(header) - 1) };
    const char *tmp = getenv("TMPDIR");

    snprintf(fuzz_folder, sizeof(fuzz_folder), "%.32s/modelfile-fuzz.XXXXXX",
             tmp ? tmp : "/tmp");
    if (!mkdtemp(fuzz_folder))
        stop(fuzz_folder, "cannot be created");
    atexit(remove_folder);
    memcpy(model + 8, header, sizeof(header) - 1);
    put_file("model.safetensors", model, sizeof(model));
}

#endif
