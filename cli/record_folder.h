/* SPDX-License-Identifier: MIT
 *
 * record_folder.h - the folder of a record, and the files in it
 *
 * A file is made new, never opened if it exists, and never through a link.
 * SHA256SUMS gets a line for each file that is complete, as sha256sum writes
 * them; its last line, the seal, is the digest of the lines before.  A folder
 * without a seal is of a run that did not end.
 */
#ifndef MF_CLI_RECORD_FOLDER_H
#define MF_CLI_RECORD_FOLDER_H

#include "cli/out.h"
#include "cli/sha256.h"

#define RECORD_SUMS "SHA256SUMS"
#define RECORD_SEAL "# seal "

#define RECORD_NAME 128 /* room for the name of a file */

struct record_file {
    struct out out; /* write here */
    struct mf_sha256 sha;
    char name[RECORD_NAME];
};

struct record_folder {
    const char *path;
    int fd;    /* -1: not open */
    bool made; /* it did not exist */
    int error; /* errno of the first failure; then nothing more is written */
    char failed[RECORD_NAME]; /* the file that it is about */
    struct record_file *sums;
};

enum record_found {
    RECORD_READY, /* it is there, and empty or new */
    RECORD_OLD,   /* it has a record, maybe of a run that did not end */
    RECORD_OTHER, /* it has other files; see failed */
    RECORD_FAILED /* see error */
};

/* Makes or opens the folder. */
enum record_found record_folder_open(struct record_folder *folder,
                                     const char *path);

/* Removes the files of a record, and nothing else. */
void record_folder_clear(struct record_folder *folder);

/* sums: memory for SHA256SUMS. */
void record_folder_begin(struct record_folder *folder,
                         struct record_file *sums);

/* Writes the seal; it is all zero after a failure.  Closes the folder. */
struct sha256_text record_folder_end(struct record_folder *folder);

/* name: "results.csv", or with one of the folders "csv", "figs", "witness".
 * After a failure, what is written to the file goes nowhere. */
void record_file_open(struct record_folder *folder, struct record_file *file,
                      const char *name);
struct sha256_text record_file_close(struct record_folder *folder,
                                     struct record_file *file);

/* The folders that a record can have, by index; NULL after the last. */
const char *record_subfolder(size_t index);

/* A folder in the folder fd, not through a link; -1 with errno. */
int record_open_below(int fd, const char *name);

#endif
