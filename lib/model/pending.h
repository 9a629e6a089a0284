/* SPDX-License-Identifier: MIT
 *
 * pending.h - what an edit that was cut short has left beside a file
 *
 * Whoever only reads a file never changes it: where some of its bytes are old
 * and some new he reads the new ones out of the journal.  An editor finishes
 * the edit before he makes his own.
 *
 * A journal changes what is read, and the file itself: it is used only where
 * nobody can have planted it who might not change the file anyway.
 */
#ifndef MF_LIB_PENDING_H
#define MF_LIB_PENDING_H

#include "lib/io/journal.h"
#include "lib/io/source.h"

enum mf_pending_state {
    MF_PENDING_NONE,
    MF_PENDING_UNTRUSTED, /* see reason */
    MF_PENDING_FOREIGN,   /* of another file that had this name */
    MF_PENDING_OLD,       /* the edit had not begun to change the file */
    MF_PENDING_NEW,       /* all of it is in the file */
    MF_PENDING_MIXED      /* some of it is: the journal is needed */
};

struct mf_pending {
    enum mf_pending_state state;
    struct mf_journal journal; /* fd -1: it could not be read */
    char name[NAME_MAX + 1];   /* of the journal */
    const char *reason;        /* static; "belongs to another user" */
    bool may_force;            /* all but its owner and mode is right */
};

/* Looks for the journal of the file that source reads and that lies at place.
 * forced: whoever owns it, and whatever its mode is.  Fails where there is no
 * memory. */
enum mf_status mf_pending_find(struct mf_env *env, const struct mf_place *place,
                               const struct mf_source *source, bool forced,
                               struct mf_pending *out);
void mf_pending_close(struct mf_pending *pending);

/* Tells the env's caller. */
void mf_pending_report(struct mf_env *env, const char *path,
                       const struct mf_pending *pending,
                       enum mf_pending_use use);

/* mf_source_open_file for a file of a model: reads through its journal where
 * that is needed. */
enum mf_status mf_pending_open_file(struct mf_env *env, const char *path,
                                    struct mf_source *out, bool *is_folder);

/* For whoever is going to edit the locked file: the edit before his own is
 * finished, or what is left of it is removed.  *out tells what was found;
 * nothing of it is open.  MF_ERR_OUTPUT where it is not trusted and not
 * forced. */
enum mf_status mf_pending_resolve(struct mf_env *env, const char *path,
                                  const struct mf_lock *lock, bool forced,
                                  struct mf_pending *out, uint64_t *changed);

#endif
