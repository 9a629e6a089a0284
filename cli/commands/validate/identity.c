/* SPDX-License-Identifier: MIT
 *
 * identity.c - what a finding is called in every run
 *
 * Code hosts compare the fingerprints of two runs to tell which findings are
 * new.  A fingerprint is made of file, rule and subject, which edits elsewhere
 * in the file leave alone, and of how often these three came.
 */
#define _XOPEN_SOURCE 700 /* getcwd */

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/validate/validate.h"
#include "cli/json.h"
#include "cli/report.h"

static const char *relative(const char *path)
{
    char folder[PATH_MAX];
    size_t size;

    if (*path != '/' || !getcwd(folder, sizeof(folder)))
        return path;
    size = strlen(folder);
    return strncmp(path, folder, size) == 0 && path[size] == '/'
               ? path + size + 1
               : path;
}

/* Sets the identity; returns how often it came, 0 after an error of the env. */
static size_t identify(struct run *run, struct identities *all,
                       const char *path, const char *check, const char *message)
{
    all->identity.size = 0;
    if (!same_path(run, &all->identity, relative(path)) ||
        !buffer_add(run, &all->identity, check, strlen(check) + 1) ||
        !same_subject(run, &all->identity, message) ||
        !buffer_add(run, &all->identity, "", 1))
        return 0;
    return counted_add(run, &all->counted, &all->identity);
}

static void hex_json(struct run *run, const struct buffer *identity,
                     const char *key, size_t number)
{
    struct mf_sha256 sha;
    uint8_t digest[32];
    char text[32];

    snprintf(text, sizeof(text), "%zu", number);
    mf_sha256_begin(&sha);
    mf_sha256_add(&sha, identity->at, identity->size);
    mf_sha256_add(&sha, text, strlen(text));
    mf_sha256_end(&sha, digest);
    mf_json_key(&run->json, key);
    json_hex(run, (struct mf_str){ (const char *)digest, 16 });
}

const char *identity_json(struct run *run, struct identities *all,
                          const char *key, const char *path, const char *check,
                          const char *message)
{
    size_t number = identify(run, all, path, check, message);

    if (number == 0)
        report_failure(run, path);
    hex_json(run, &all->identity, key, number);
    return number > 0 ? all->identity.at : path;
}

void identities_release(struct run *run, struct identities *all)
{
    counted_release(run, &all->counted);
    buffer_release(run, &all->identity);
}
