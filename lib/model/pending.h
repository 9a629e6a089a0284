/* SPDX-License-Identifier: MIT
 *
 * pending.h - the journal that an interrupted edit has left next to a file
 *
 * A reader never changes the file: if some bytes are old and some new, it reads
 * the new ones from the journal, as an overlay of its source.  An editor first
 * finishes the interrupted edit, then makes its own.
 *
 * A journal decides what is read, and what is written to the file.  It is
 * trusted only if whoever could create it could also change the file: an
 * attacker who may write to the folder must not gain more than that.
 */
#ifndef MF_LIB_PENDING_H
#define MF_LIB_PENDING_H

#include "lib/io/journal.h"
#include "lib/io/source.h"

enum mf_pending_state {
    MF_PENDING_NONE,
    MF_PENDING_UNTRUSTED, /* see reason */
    MF_PENDING_FOREIGN,   /* of another file that had this name */
    MF_PENDING_OLD,       /* the file has no new byte yet */
    MF_PENDING_NEW,       /* the file has all new bytes */
    MF_PENDING_MIXED      /* the file has some: the journal is needed */
};

struct mf_pending {
    enum mf_pending_state state;
    struct mf_journal journal; /* fd -1: it could not be read */
    char name[NAME_MAX + 1];   /* of the journal */
    const char *reason;        /* static; "belongs to another user" */
    bool may_force;            /* only its owner or mode is wrong */
};

/* Looks for the journal of the file at place, which source reads.  forced:
 * trust it whatever its owner and mode are.  Fails only if memory runs out. */
enum mf_status mf_pending_find(struct mf_env *env, const struct mf_place *place,
                               const struct mf_source *source, bool forced,
                               struct mf_pending *out);
void mf_pending_close(struct mf_pending *pending);

/* Reports it to the function in struct mf_options, if there is one. */
void mf_pending_report(struct mf_env *env, const char *path,
                       const struct mf_pending *pending,
                       enum mf_pending_use use);

/* mf_source_open_file for a file of a model, with an overlay if the file has an
 * interrupted edit. */
enum mf_status mf_pending_open_file(struct mf_env *env, const char *path,
                                    struct mf_source *out, bool *is_folder);

/* Before editing the locked file: finishes an interrupted edit, or removes its
 * journal.  *out: what was found, with nothing left open.  *changed: bytes
 * written.  MF_ERR_OUTPUT if the journal is not trusted and not forced. */
enum mf_status mf_pending_resolve(struct mf_env *env, const char *path,
                                  const struct mf_lock *lock, bool forced,
                                  struct mf_pending *out, uint64_t *changed);

#endif
