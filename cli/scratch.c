/* SPDX-License-Identifier: MIT
 *
 * scratch.c - a temporary file for archives, opened before the sandbox
 */
#include "cli/scratch.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/remote/remote.h"
#include "cli/room.h"
#include "lib/program.h"

static int file;   /* 0: none */
static int *files; /* of each process; NULL: there is one */

static bool ends_with(const char *name, const char *suffix)
{
    size_t size = strlen(name), end = strlen(suffix);

    return size > end && strcasecmp(name + size - end, suffix) == 0;
}

static bool is_archive(const char *path)
{
    static const char *const suffix[] = { ".bin", ".pt",   ".pth", ".npz",
                                          ".zip", ".ckpt", ".pkl" };

    for (size_t i = 0; i < sizeof(suffix) / sizeof(*suffix); i++)
        if (ends_with(path, suffix[i]))
            return true;
    return false;
}

static bool has_archives(const char *folder)
{
    static const char *const name[] = { "pytorch_model.bin",
                                        "pytorch_model.bin.index.json" };
    char path[PATH_MAX];

    for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++)
        if (snprintf(path, sizeof(path), "%s/%s", folder, name[i]) <
                (int)sizeof(path) &&
            access(path, F_OK) == 0)
            return true;
    return false;
}

/* No file is opened before the sandbox, so names have to do. */
static bool may_be_compressed(const char *word)
{
    const char *value = *word == '-' ? strchr(word, '=') : NULL;
    const char *path = value ? value + 1 : word;
    struct stat status;

    if (strncmp(word, "--files-from", 12) == 0)
        return true;
    if (is_archive(path))
        return access(path, F_OK) == 0 || remote_is_url(path);
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode) &&
           has_archives(path);
}

void scratch_open(int count, char **arguments)
{
    for (int i = 0; i < count && file == 0; i++)
        if (may_be_compressed(arguments[i])) {
            file = mf_scratch_open(getenv("TMPDIR"));
            if (file < 0)
                break;
        }
    if (file < 0)
        file = 0;
}

void scratch_divide(size_t count)
{
    files = file > 0 && count > 1 ? room_take(count * sizeof(*files)) : NULL;
    for (size_t i = 0; files && i < count; i++) {
        files[i] = i == 0 ? file : mf_scratch_open(getenv("TMPDIR"));
        if (files[i] < 0)
            files[i] = 0;
    }
}

void scratch_use(size_t place)
{
    if (files)
        file = files[place];
    else if (place > 0)
        file = 0;
}

int scratch_file(void)
{
    return file;
}

void scratch_close(void)
{
    if (file > 0)
        close(file);
    file = 0;
}
