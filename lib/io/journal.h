/* SPDX-License-Identifier: MIT
 *
 * journal.h - changing bytes of a file in place so that a crash leaves no half
 *
 * A change of metadata in a model of 70 GB moves some KiB in its header.  To
 * write the file again takes minutes and twice the space; to write over the
 * header leaves an unreadable model if the power fails half-way.  So the old
 * and the new bytes go into a journal first: a file next to the model, with the
 * suffix below.  It is on the disk, under its name, before the first byte of
 * the model changes, and is removed after the last one is on the disk.  Hence
 * at any time the model is in one of three states:
 *
 *   - all bytes are old: the edit has not begun, the journal can go,
 *   - all bytes are new: the edit is made, the journal can go,
 *   - some are old and some new: the journal has the rest, and readers see the
 *     new bytes through it (as an overlay of their source).
 *
 * Which of them is found by comparing byte by byte, so it does not matter in
 * which order or in which units the kernel and the disk wrote.
 *
 * Two earlier designs failed.  One kept no journal for changes within a page
 * and cut larger ones at multiples of 512 bytes, trusting that disks write a
 * sector completely; a kill between two writes left a sector that was neither.
 * And any program that opened a model finished the edit it found: then a
 * planted journal made `info` rewrite the model.  Now readers never write, and
 * only an editor that has the lock finishes an edit.
 *
 * Whether a journal that is found can be trusted is decided in
 * lib/model/pending.h, which can tell the header of a model from its data.
 */
#ifndef MF_LIB_JOURNAL_H
#define MF_LIB_JOURNAL_H

#include "lib/io/lock.h"

#define MF_JOURNAL_SUFFIX ".modelfile-edit"
#define MF_PATCHES_MAX    2 /* the header, and a checksum at the end */
/* Larger journals are neither made nor read. */
#define MF_JOURNAL_MAX ((uint64_t)256 << 20)

struct mf_overlay;
struct mf_source;

/* Consecutive bytes of a file that change. */
struct mf_patch {
    uint64_t offset, size; /* in the file */
    uint64_t old_at; /* where the old bytes are in the journal; the new ones
                        follow them */
};

struct mf_journal {
    int fd;
    uint64_t file_size;
    struct mf_patch patch[MF_PATCHES_MAX]; /* by offset, not overlapping */
    size_t count;
    bool shows_old; /* mf_journal_overlay gives the old bytes, not the new */
};

/* The name of a file's journal; false where it would be too long. */
bool mf_journal_name(const char *name, char out[NAME_MAX + 1]);

/* ---- reading ---- */

/* Reads and checks the journal that is open as fd, each byte once.  *why: what
 * is wrong with it, a predicate ("is damaged ..."), or NULL.  Fails only where
 * memory is short. */
enum mf_status mf_journal_read(struct mf_env *env, int fd,
                               struct mf_journal *out, const char **why);

enum mf_journal_state {
    MF_JOURNAL_FOREIGN, /* some bytes are neither old nor new: the journal is
                           of another file */
    MF_JOURNAL_OLD,
    MF_JOURNAL_NEW,
    MF_JOURNAL_MIXED
};

/* The state of the file that is open as fd. */
enum mf_status mf_journal_compare(struct mf_env *env,
                                  const struct mf_journal *journal, int fd,
                                  enum mf_journal_state *out);

/* What a source needs to read the file as it was before the edit (shows_old)
 * or will be after it.  Its fd is the journal's: one of the two closes it. */
struct mf_overlay mf_journal_overlay(const struct mf_journal *journal);

/* ---- writing ---- */

/* An edit to be made.  fill writes all new bytes of a patch, in order, through
 * put. */
typedef enum mf_status mf_journal_put(void *user, const void *bytes,
                                      size_t size);
struct mf_journal_edit {
    struct mf_patch patch[MF_PATCHES_MAX];
    size_t count;
    enum mf_status (*fill)(void *user, size_t patch, mf_journal_put *put,
                           void *put_user);
    void *user;
};

/* Whether an edit can have a journal that all readers of the file trust and
 * that no other user can read.  It cannot where the file's owner is another
 * user (unless we are root), where the journal's name would be too long, or
 * where the edit is too large.  Then the file is rewritten as a whole. */
bool mf_journal_possible(const struct mf_lock *lock,
                         const struct mf_journal_edit *edit);

/* Changes the locked file, which source reads.  On failure nothing was changed,
 * or the message says what was. */
enum mf_status mf_journal_apply(struct mf_env *env, const struct mf_lock *lock,
                                const struct mf_source *source,
                                const struct mf_journal_edit *edit);

/* Finishes an interrupted edit: writes all new bytes to the locked file, syncs
 * it and removes the journal. */
enum mf_status mf_journal_finish(struct mf_env *env, const struct mf_lock *lock,
                                 const struct mf_journal *journal);

/* Syncs the locked file as it is and removes its journal, if that is the file
 * that is open as fd.  made: whether the file has the new bytes, for the
 * message. */
enum mf_status mf_journal_remove(struct mf_env *env, const struct mf_lock *lock,
                                 int fd, bool made);

/* ---- files that are replaced ---- */

/* Before another file is renamed over `name`: whether a journal of the caller's
 * or of the file's owner exists there, which then becomes meaningless.
 * Afterwards mf_journal_forget removes that very journal. */
bool mf_journal_mark(int folder, const char *name, uid_t owner,
                     struct stat *out);
void mf_journal_forget(int folder, const char *name, const struct stat *mark);

/* ---- trust ---- */

/* The permission bits for group and others that a journal may have next to the
 * file that is open as fd, so that it is open only to users who may open the
 * file.  group: the journal's. */
mode_t mf_journal_mode(int fd, const struct stat *status, gid_t group);

#endif
