/* SPDX-License-Identifier: MIT
 *
 * hub_file.h - files of a commit: in the cache, or on the Hub
 *
 * Bytes that pass in the order of a file are digested.  When the last one has
 * passed so, the SHA-256 has to be the one that the Hub lists, or that the blob
 * in the cache is named by.
 */
#ifndef MF_CLI_REMOTE_HUB_FILE_H
#define MF_CLI_REMOTE_HUB_FILE_H

#include "cli/remote/hub_repository.h"

/* A file that was opened; it is remembered until the end of the run. */
struct hub_file {
    struct hub_file *next;
    struct repository *repository;
    char path[HUB_PATH_SIZE];
    bool cached;     /* it is in the cache, else on the Hub */
    int fd;          /* of the cache; -1: it is closed */
    unsigned users;  /* of the descriptor */
    uint32_t number; /* the helper's */
    uint64_t size;
    bool has_digest, checked;
    uint8_t digest[32];
    struct mf_sha256 sha; /* of the first sha.size bytes */
};

/* The file as a source of the library.  0, or a number of errno. */
int hub_open_path(struct repository *repository, const char *path,
                  struct mf_byte_source *out);

/* The name that the library has for a file, without the revision: a model is
 * called after its folder.  As snprintf. */
int hub_put_name(const struct repository *repository, const char *path,
                 char *out, size_t room);

/* One that was opened, by that name; NULL if none was. */
struct hub_file *hub_find_named(const struct repository *repository,
                                const char *name);

/* Reads what has not passed in order, through room for HUB_PIECE bytes. */
#define HUB_PIECE ((size_t)256 * 1024)
int hub_read_rest(struct hub_file *file, uint8_t *room);

/* What the error of a file says that is missing; returns ENOENT. */
int hub_no_such_file(void);

#endif
