/* SPDX-License-Identifier: MIT
 *
 * hub_cache.h - files that huggingface_hub has fetched
 *
 *     models--OWNER--NAME/refs/REVISION          the commit that a name means
 *     models--OWNER--NAME/snapshots/COMMIT/FILE  mostly a link to a blob
 *     models--OWNER--NAME/.no_exist/COMMIT/FILE  the commit has no such file
 *     models--OWNER--NAME/trees/COMMIT.json      all files of the commit
 *
 * Repositories, revisions and files are names that hub_parse accepts, or that
 * it would: none leads out of its folder.
 */
#ifndef MF_CLI_HUB_CACHE_H
#define MF_CLI_HUB_CACHE_H

#include <limits.h>
#include <stdbool.h>

#include "cli/cli.h"

#define HUB_COMMIT_DIGITS 40

/* What an operand is that begins so: "hf://owner/name". */
#define HUB_PREFIX "hf://"

/* Where huggingface_hub keeps all that it has, and its cache; they may not
 * exist.  False if the environment names none. */
bool hub_home(char out[PATH_MAX]);
bool hub_cache_folder(char out[PATH_MAX]);

/* Whether a variable is set to what huggingface_hub takes for true. */
bool hub_is_set(const char *variable);

bool hub_is_commit(const char *text);

/* The commit that the cache has for a revision, and when it was written. */
bool hub_cache_commit(const char *repository, const char *revision,
                      char out[HUB_COMMIT_DIGITS + 1], time_t *when);

/* The path of a file of a commit, "" for the folder of all; false if the cache
 * does not have it. */
bool hub_cache_find(const char *repository, const char *commit,
                    const char *file, char out[PATH_MAX]);

/* Whether the cache knows that the commit has no such file. */
bool hub_cache_lacks(const char *repository, const char *commit,
                     const char *file);

/* The path of the list of its files, which may not be there. */
bool hub_cache_list(const char *repository, const char *commit,
                    char out[PATH_MAX]);

/* Calls found for each repository in the cache: "owner/name". */
void hub_cache_each(struct run *run,
                    void (*found)(void *user, const char *repository),
                    void *user);

/* The same for each file of a snapshot, by its name in the repository; a link
 * without a target does not count. */
void hub_cache_files(struct run *run, const char *repository,
                     const char *commit,
                     void (*found)(void *user, const char *file), void *user);

#endif
