/* SPDX-License-Identifier: MIT
 *
 * restore.c - fuzz target: a GGUF file that becomes a folder of Hugging Face
 *
 * The folder is planned, which writes all its files but the tensors, and reads
 * them again.  Beside crashes and sanitizer reports it stops when something is
 * left, on the heap or in the folder above.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/model.h"
#include "tests/fuzz/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char above[64];

static void stop(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    abort();
}

static void remove_above(void)
{
    rmdir(above);
}

static void begin(void)
{
    const char *tmp = getenv("TMPDIR");

    snprintf(above, sizeof(above), "%.32s/modelfile-fuzz.XXXXXX",
             tmp ? tmp : "/tmp");
    if (!mkdtemp(above))
        stop(above, "cannot be created");
    atexit(remove_above);
}

static void check_above(void)
{
    DIR *folder = opendir(above);
    struct dirent *entry;

    while (folder && (entry = readdir(folder)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            stop(entry->d_name, "is left");
    if (!folder || closedir(folder))
        stop(above, "cannot be read");
}

static void restore(struct mf_model *model, const char *type, bool lossy)
{
    struct mf_convert_options options = {
        .size = sizeof(options), .type = type, .lossy = lossy, .dry_run = true
    };
    struct mf_convert_result result;
    char path[80];

    snprintf(path, sizeof(path), "%s/model/", above);
    mf_model_convert(model, path, &options, &result);
    check_above();
}

static void restore_twice(struct mf_model *model, const uint8_t *data,
                          size_t size)
{
    (void)data;
    (void)size;
    restore(model, NULL, false);
    restore(model, "f32", true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!above[0])
        begin();
    if (!use_model(data, size, restore_twice))
        stop("heap", "something is left there");
    return 0;
}
