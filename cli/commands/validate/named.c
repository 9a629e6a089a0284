/* SPDX-License-Identifier: MIT
 *
 * named.c - files of stores that are named by the SHA-256 of their bytes
 *
 * A name of 64 hexadecimal digits is a digest only where a store has such
 * names: elsewhere it may be anything.
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/validate/validate.h"

#define DIGITS 64

static int digit_of(char c)
{
    const char *digits = "0123456789abcdef", *found = strchr(digits, c);

    return c && found ? (int)(found - digits) : -1;
}

/* False unless the text is 64 digits. */
static bool parse(const char *text, uint8_t sha256[DIGITS / 2])
{
    if (strlen(text) != DIGITS)
        return false;
    for (size_t i = 0; i < DIGITS / 2; i++) {
        int high = digit_of(text[2 * i]), low = digit_of(text[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        sha256[i] = (uint8_t)(16 * high + low);
    }
    return true;
}

/* Cuts the last name off a path, and returns it. */
static char *cut_name(char *path)
{
    char *slash = strrchr(path, '/');

    if (!slash)
        return path + strlen(path);
    *slash = 0;
    return slash + 1;
}

/* models--OWNER--NAME/blobs/HEX of huggingface_hub and llama.cpp,
 * blobs/sha256-HEX of Ollama, blobs/sha256/HEX of others. */
static bool is_blob(char *path, uint8_t sha256[DIGITS / 2])
{
    static const char ollama[] = "sha256-", *const kinds[] = { "models--",
                                                               "datasets--",
                                                               "spaces--" };
    const char *name = cut_name(path), *folder = cut_name(path);
    const char *above = cut_name(path);

    if (strncmp(name, ollama, strlen(ollama)) == 0)
        return strcmp(folder, "blobs") == 0 &&
               parse(name + strlen(ollama), sha256);
    if (!parse(name, sha256))
        return false;
    if (strcmp(folder, "sha256") == 0)
        return strcmp(above, "blobs") == 0;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (strcmp(folder, "blobs") == 0 &&
            strncmp(above, kinds[i], strlen(kinds[i])) == 0)
            return true;
    return false;
}

enum mf_status named_expect(struct mf_model *model, size_t *count)
{
    enum mf_status status = MF_OK;
    uint8_t sha256[DIGITS / 2];
    struct mf_shard shard;
    char path[PATH_MAX];

    *count = 0;
    for (size_t i = 0; status == MF_OK && mf_shard_at(model, i, &shard); i++) {
        /* A link of a snapshot leads to its blob.  What is not a file has no
         * path that leads anywhere. */
        if (mf_shard_fd(model, i) < 0 || !realpath(shard.path, path) ||
            !is_blob(path, sha256))
            continue;
        status = mf_model_expect_sha256(model, i, sha256);
        ++*count;
    }
    return status;
}
