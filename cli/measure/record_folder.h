/* SPDX-License-Identifier: MIT
 *
 * record_folder.h - the folder of a record, and the files in it
 *
 * A file is made new, never opened if it exists, and never through a link.
 * SHA256SUMS gets a line for each file that is complete, as sha256sum writes
 * them; its last line, the seal, is the digest of the lines before.
 *
 * Until the end there is one file more, .modelfile-record, with the inode of
 * each file that was made, a line each.  Where a run was killed, the next one
 * knows by it what it may remove.
 */
#ifndef MF_CLI_RECORD_FOLDER_H
#define MF_CLI_RECORD_FOLDER_H

#include "cli/measure/fingerprint.h"
#include "cli/out.h"

#define RECORD_SUMS "SHA256SUMS"
#define RECORD_MADE ".modelfile-record"
#define RECORD_SEAL "# seal "

/* The first line of latency.csv, and of the table of a setting. */
#define RECORD_LATENCY "sample_id,wall_time_us,kernel_time_us,seq_len"

#define RECORD_NAME 128 /* room for the name of a file */

/* More files than the largest grid has. */
#define RECORD_FILES   1024
#define RECORD_FOLDERS 3

struct record_file {
    struct out out; /* write here */
    struct mf_sha256 sha;
    char name[RECORD_NAME];
};

/* Files that are open at once: four tables, the list of digests, a figure or
 * run.json, and two of a setting. */
#define RECORD_BUFFERS 8

struct record_folder {
    char *buffers; /* RECORD_BUFFERS of them */
    size_t buffers_used;
    const char *path;
    int fd;                       /* -1: not open */
    int made_fd;                  /* of RECORD_MADE; -1: not open */
    bool made;                    /* it did not exist */
    uint64_t inode[RECORD_FILES]; /* of the files that were made */
    size_t files;
    bool made_below[RECORD_FOLDERS]; /* that subfolder, too */
    int error; /* errno of the first failure; then nothing more is written */
    char failed[RECORD_NAME]; /* the file that it is about */
    struct record_file *sums;
};

enum record_found {
    RECORD_READY,   /* it is there, and empty or new */
    RECORD_OLD,     /* it has a record, whole and unchanged */
    RECORD_BROKEN,  /* it has the files of a run that was killed, and no others
                     */
    RECORD_OTHER,   /* it has other files, or parts of a record; see failed */
    RECORD_BUSY,    /* another process is recording there */
    RECORD_PLANTED, /* it is another user's, where everyone may write */
    RECORD_FAILED   /* see error */
};

/* Makes or opens the folder. */
enum record_found record_folder_open(struct record_folder *folder,
                                     const char *path);

/* Removes the record of a folder that was RECORD_OLD or RECORD_BROKEN. */
void record_remove(struct record_folder *folder);

/* sums: memory for SHA256SUMS. */
void record_folder_begin(struct record_folder *folder,
                         struct record_file *sums);

/* No record will be left. */
void record_folder_drop(struct record_folder *folder);

/* Writes the seal; it is all zero after a failure, and what was made is removed
 * again.  Closes the folder. */
struct sha256_text record_folder_end(struct record_folder *folder);

/* name: "results.csv", or with one of the folders "csv", "figs", "witness".
 * After a failure, what is written to the file goes nowhere. */
void record_file_open(struct record_folder *folder, struct record_file *file,
                      const char *name);
struct sha256_text record_file_close(struct record_folder *folder,
                                     struct record_file *file);

/* Whether a record can have a file of that name besides SHA256SUMS.  folder:
 * NULL, or set to the index of the subfolder that it is in. */
bool record_can_have(const char *name, size_t *folder);

/* A regular file of a record, not through a link; -1 with errno. */
int record_open_file(int fd, const char *name);

/* Removes the files that this run made, or the one that was killed. */
void record_clear(const struct record_folder *folder);

/* Whether the file of that inode is one of these. */
bool record_made(const struct record_folder *folder, uint64_t inode);

/* Of the rest of a file.  False with errno. */
bool record_digest(int fd, struct sha256_text *out);

/* The folders that a record can have, by index; NULL after the last. */
const char *record_subfolder(size_t index);

/* A folder in the folder fd, not through a link; -1 with errno. */
int record_open_below(int fd, const char *name);

#endif
