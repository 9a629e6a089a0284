/* SPDX-License-Identifier: MIT
 *
 * journal.h - changing some bytes of a file so that a crash cannot leave half
 *
 * What will be written, and what stands there, goes into a file beside the
 * file, which is on the disk before the first byte changes and goes away after
 * the last one is on the disk.  The file is then in one of three states: all
 * bytes are old and the edit was not made, all are new and it was, or some are
 * old and some new: then the journal tells what is missing.
 *
 * Whether a journal that lies there is to be trusted is asked in pending.h.
 */
#ifndef MF_LIB_JOURNAL_H
#define MF_LIB_JOURNAL_H

#include "lib/io/lock.h"

#define MF_JOURNAL_SUFFIX ".modelfile-edit"
#define MF_PATCHES_MAX    2 /* the header, and a checksum at the end */
/* Larger ones are not made and not read. */
#define MF_JOURNAL_MAX ((uint64_t)256 << 20)

struct mf_overlay;
struct mf_source;

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
    bool shows_old; /* mf_journal_overlay gives the old bytes */
};

/* The name of a file's journal; false where it is too long to be one. */
bool mf_journal_name(const char *name, char out[NAME_MAX + 1]);

/* ---- reading ---- */

/* The journal that is open as fd.  *why: what is wrong with it, or NULL.  Fails
 * only where there is no memory.  Reads each byte once. */
enum mf_status mf_journal_read(struct mf_env *env, int fd,
                               struct mf_journal *out, const char **why);

enum mf_journal_state {
    MF_JOURNAL_FOREIGN, /* some bytes are neither: of another file */
    MF_JOURNAL_OLD,
    MF_JOURNAL_NEW,
    MF_JOURNAL_MIXED
};

/* What the file that is open as fd holds.  It is asked byte by byte, so it does
 * not matter in which pieces the system or the disk wrote. */
enum mf_status mf_journal_compare(struct mf_env *env,
                                  const struct mf_journal *journal, int fd,
                                  enum mf_journal_state *out);

/* What a source needs to read the file as it was before the edit (shows_old)
 * or will be after it.  Its file is the journal's: one of the two closes it. */
struct mf_overlay mf_journal_overlay(const struct mf_journal *journal);

/* ---- writing ---- */

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

/* Whether an edit may go by a journal that everyone who reads the file will
 * trust, and nobody else can read.  It may not where the file's owner is
 * neither the caller nor to be had by him, where the name is too long, or the
 * edit too large: then the file is written anew. */
bool mf_journal_possible(const struct mf_lock *lock,
                         const struct mf_journal_edit *edit);

/* Changes the locked file, which source reads.  Where it fails either nothing
 * was changed, or the message says what was. */
enum mf_status mf_journal_apply(struct mf_env *env, const struct mf_lock *lock,
                                const struct mf_source *source,
                                const struct mf_journal_edit *edit);

/* All new bytes into the locked file and onto the disk; then the journal goes.
 */
enum mf_status mf_journal_finish(struct mf_env *env, const struct mf_lock *lock,
                                 const struct mf_journal *journal);

/* Takes away the journal of the locked file, if it is the one that is open as
 * fd, after the file is on the disk as it stands.  made: so is the edit. */
enum mf_status mf_journal_remove(struct mf_env *env, const struct mf_lock *lock,
                                 int fd, bool made);

/* ---- files that are replaced ---- */

/* Before another file takes the name of one that stands in the folder: whether
 * a journal lies beside it that goes with it, being the caller's or that of the
 * file's owner.  Afterwards takes that very journal away. */
bool mf_journal_mark(int folder, const char *name, uid_t owner,
                     struct stat *out);
void mf_journal_forget(int folder, const char *name, const struct stat *mark);

/* ---- trust ---- */

/* Of the bits for group and others those that a file may have beside one whose
 * status that is, open as fd, so that nobody else gets at it. */
mode_t mf_journal_mode(int fd, const struct stat *status, gid_t group);

#endif
