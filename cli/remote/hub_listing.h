/* SPDX-License-Identifier: MIT
 *
 * hub_listing.h - which files a commit has, as the Hub's API says
 *
 *     [{"type": "file", "path": "model.safetensors", "size": 123,
 *       "lfs": {"oid": "SHA-256", "size": 123}}, ...]
 *
 * A list is a stranger's: names that lead out of the repository or come twice,
 * members of other types, and more files than a repository has are refused.
 */
#ifndef MF_CLI_REMOTE_HUB_LISTING_H
#define MF_CLI_REMOTE_HUB_LISTING_H

#include "cli/remote/hub.h"

#define LISTING_FILES_MAX 100000

/* What a page may be put in. */
#define LISTING_BEFORE "{\"list\":"
#define LISTING_AFTER  "}"

struct listed_file {
    size_t path; /* where it begins in text */
    uint64_t size;
    bool has_digest;
    uint8_t digest[32]; /* SHA-256 */
};

struct listing {
    struct mf_env *env;
    char *text; /* of all paths, each with a NUL */
    struct listed_file *file;
    uint32_t *order; /* by path; NULL until listing_end */
    size_t text_size, text_room, count, room;
};

/* What is wrong with a page, or "". */
struct listing_why {
    char text[256];
};

/* Adds a page, with LISTING_BEFORE and LISTING_AFTER around it.  0, or a number
 * of errno. */
int listing_add(struct listing *listing, const char *page, size_t size,
                struct listing_why *why);

/* The same of a list that huggingface_hub has kept:
 *
 *     {"format_version": 1, "files": {"model.safetensors": {"size": 123,
 *      "lfs_sha256": "...", "lfs_size": 123}, ...}}
 *
 * One that has anything unknown in it is an error. */
int listing_add_kept(struct listing *listing, const char *kept, size_t size);

/* Adds a file whose size and digest are unknown; false if out of memory. */
bool listing_put(struct listing *listing, const char *path);

/* After the last page. */
int listing_end(struct listing *listing, struct listing_why *why);

void listing_release(struct listing *listing);

const char *listing_path(const struct listing *listing,
                         const struct listed_file *file);

/* NULL if the commit has no such file. */
const struct listed_file *listing_find(const struct listing *listing,
                                       const char *path);

/* The commit in an answer about a revision: {"sha": "..."}; false if it is not
 * there. */
bool listing_commit(struct mf_env *env, const char *answer, size_t size,
                    char out[HUB_COMMIT_DIGITS + 1]);

#endif
