/* SPDX-License-Identifier: MIT
 *
 * baseline.c - findings that are known and accepted: the text report of an
 * earlier run
 */
#include <string.h>

#include "cli/validate.h"

bool baseline_read(struct run *run, const char *path, struct baseline *baseline)
{
    struct textfile *file = &baseline->file;

    if (!textfile_read(run, path, "the baseline", file))
        return false;
    for (size_t i = 0; i < file->size; i++)
        if (file->text[i] == '\n')
            file->text[i] = 0;
    return true;
}

void baseline_release(struct run *run, struct baseline *baseline)
{
    textfile_release(run, &baseline->file);
}

bool baseline_has(const struct baseline *baseline, const char *line)
{
    const struct textfile *file = &baseline->file;
    size_t size = strlen(line), at = 0;

    while (at < file->size) {
        size_t here = strlen(file->text + at);

        if (here == size && memcmp(file->text + at, line, size) == 0)
            return true;
        at += here + 1;
    }
    return false;
}
