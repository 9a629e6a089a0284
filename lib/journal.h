/* SPDX-License-Identifier: MIT
 *
 * journal.h - changing some bytes of a file so that a crash cannot leave half
 *
 * What will be written, and what stands there, goes into a file beside the
 * file, which is on the disk before the first byte changes and goes away after
 * the last one is on the disk.  Whoever opens the file and finds the journal
 * brings the change to its end; who may not write reads as if it had been.
 */
#ifndef MF_LIB_JOURNAL_H
#define MF_LIB_JOURNAL_H

#include "lib/heap.h"

#define MF_JOURNAL_SUFFIX ".modelfile-edit"
#define MF_PATCHES_MAX    4

/* Bytes of a file that change. */
struct mf_patch {
    uint64_t offset, size; /* in the file */
    uint64_t old_at;       /* in the journal; the new ones follow the old */
};

struct mf_journal {
    int fd;
    uint64_t file_size;
    struct mf_patch patch[MF_PATCHES_MAX];
    size_t count;
};

/* Of the file that was opened at path as fd: brings a change that a journal
 * holds to its end.  Where that is not allowed, or is being done by another
 * process, *out is the journal to read through, to be closed; else NULL. */
enum mf_status mf_journal_recover(struct mf_env *env, const char *path, int fd,
                                  struct mf_journal **out);
void mf_journal_close(struct mf_env *env, struct mf_journal *journal);

/* The journal's bytes in place of those that were read from the file; false
 * with errno set where they cannot be had. */
bool mf_journal_cover(const struct mf_journal *journal, uint64_t offset,
                      uint8_t *buffer, size_t size);

/* Takes away the journal of a file that is no more, for another has taken its
 * place at the end of that path. */
void mf_journal_forget(const char *real);

/* How an edit gets its new bytes: fill writes all of a patch's, in order,
 * through put. */
typedef enum mf_status mf_journal_put(void *user, const void *bytes,
                                      size_t size);
struct mf_journal_edit {
    struct mf_patch patch[MF_PATCHES_MAX];
    size_t count;
    enum mf_status (*fill)(void *user, size_t patch, mf_journal_put *put,
                           void *put_user);
    void *user;
};

/* Changes the file at path.  One patch within one page goes without a journal:
 * the disk writes it whole or not at all. */
enum mf_status mf_journal_apply(struct mf_env *env, const char *path,
                                const struct mf_journal_edit *edit,
                                bool *journalled);

#endif
