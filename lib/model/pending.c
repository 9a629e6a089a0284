/* SPDX-License-Identifier: MIT
 *
 * pending.c - the journal that an interrupted edit has left next to a file
 *
 * Three questions are answered in order, and each can end the search:
 *
 *   may it be trusted?   take(): a regular file of one name, owned by the
 *                        file's owner, root or the caller, open only to users
 *                        who may open the file
 *   what does it mean?   judge(): the file's bytes are compared with its old
 *                        and new ones, byte by byte, so that it does not
 *                        matter in which order or pieces the system wrote them
 *   is it an edit?       fits(): only the header and a checksum at the end may
 *                        change, in the old file and in the new one
 *
 * An editor may finish and remove the journal at any moment while a reader is
 * here, so after each look the name is checked again, and if it changed the
 * search starts over.
 */
#include "lib/model/pending.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/io/path.h"
#include "lib/io/system.h"
#include "lib/model/model.h"

/* ---- trust ---- */

/* What `forced` does not overrule. */
static const char *refuse_kind(const struct stat *journal)
{
    if (S_ISLNK(journal->st_mode))
        return "is a symbolic link";
    if (!S_ISREG(journal->st_mode))
        return "is not a regular file";
    if ((uint64_t)journal->st_size > MF_JOURNAL_MAX)
        return "is larger than a journal can be";
    return NULL;
}

static const char *refuse_owner(const struct stat *journal,
                                const struct mf_source *source,
                                const struct stat *file)
{
    mode_t may = mf_journal_mode(source->fd, file, journal->st_gid);

    if (journal->st_nlink != 1)
        return "has more than one name";
    if (journal->st_uid != file->st_uid && journal->st_uid != 0 &&
        journal->st_uid != geteuid())
        return "belongs to another user";
    if ((journal->st_mode & 022 & ~may) != 0)
        return "can be written by users who may not write the file";
    if ((journal->st_mode & 044 & ~may) != 0)
        return "can be read by users who may not read the file";
    return NULL;
}

/* ---- what it would change ---- */

/* *out: the layout of the file as the journal has it, before the edit (old) or
 * after; false if that is not a model. */
static bool find_data(struct mf_env *env, const struct mf_source *source,
                      struct mf_journal *journal, bool old, struct mf_part *out)
{
    struct mf_source view = mf_source_borrow(source);
    struct mf_model *model;

    journal->shows_old = old;
    view.overlay = mf_journal_overlay(journal);
    if (mf_model_open_view(env, "", &view, NULL, &model) != MF_OK)
        return false;
    *out = model->part[0];
    mf_model_close(model);
    return true;
}

/* Only the header may change, and the checksum at the end; the data stays where
 * it is. */
static bool within_header(const struct mf_journal *journal,
                          const struct mf_part *old, const struct mf_part *new)
{
    const struct mf_patch *first = &journal->patch[0];
    const struct mf_patch *second = &journal->patch[1];
    uint64_t start = old->data_offset;

    if (new->data_offset != start || old->has_footer != new->has_footer ||
        first->offset > start || first->size > start - first->offset)
        return false;
    return journal->count == 1 ||
           (old->has_footer && second->size == sizeof(uint32_t) &&
            second->offset == journal->file_size - second->size);
}

static bool fits(struct mf_env *env, const struct mf_source *source,
                 struct mf_journal *journal)
{
    struct mf_part old, new;

    return find_data(env, source, journal, true, &old) &&
           find_data(env, source, journal, false, &new) &&
           within_header(journal, &old, &new);
}

/* ---- finding it ---- */

/* *again: the journal has been removed or replaced since it was opened. */
static void check_there(const struct mf_place *place,
                        const struct mf_pending *pending, bool *again)
{
    struct stat there, status;

    *again = pending->journal.fd >= 0 &&
             (fstat(pending->journal.fd, &status) != 0 ||
              fstatat(place->folder, pending->name, &there,
                      AT_SYMLINK_NOFOLLOW) != 0 ||
              !mf_same_file(&there, &status));
}

static int open_journal(const struct mf_place *place, const char *name)
{
    int fd;

    MF_AGAIN(fd,
             openat(place->folder, name,
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    return fd;
}

/* Opens the journal if it can be trusted; else sets out->reason. */
static void take(const struct mf_place *place, const struct mf_source *source,
                 bool forced, struct mf_pending *out)
{
    struct stat journal, file;

    if (fstatat(place->folder, out->name, &journal, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno != ENOENT)
            out->reason = "cannot be accessed";
        else
            out->state = MF_PENDING_NONE;
        return;
    }
    out->reason = refuse_kind(&journal);
    if (out->reason)
        return;
    out->journal.fd = open_journal(place, out->name);
    if (out->journal.fd < 0 && errno == ENOENT)
        out->state = MF_PENDING_NONE;
    else if (out->journal.fd < 0)
        out->reason = errno == EACCES ? "cannot be opened: permission denied"
                                      : "cannot be opened";
    else if (fstat(out->journal.fd, &journal) != 0 ||
             fstat(source->fd, &file) != 0)
        out->reason = "cannot be accessed";
    else
        out->reason = refuse_kind(&journal);
    if (out->journal.fd < 0 || out->reason)
        return;
    out->reason = refuse_owner(&journal, source, &file);
    out->may_force = out->reason;
    if (forced)
        out->reason = NULL;
}

/* Limits of formats have an offset; a limit on memory has not. */
static bool is_memory(const struct mf_error *error)
{
    return error->status == MF_ERR_MEMORY ||
           (error->status == MF_ERR_LIMIT && error->offset == MF_NO_OFFSET);
}

/* Compares the file with the journal.  Only a journal that is needed has to
 * fit: the others change nothing. */
static enum mf_status judge(struct mf_env *env, const struct mf_source *source,
                            struct mf_pending *pending)
{
    static const enum mf_pending_state states[] = {
        [MF_JOURNAL_FOREIGN] = MF_PENDING_FOREIGN,
        [MF_JOURNAL_OLD] = MF_PENDING_OLD,
        [MF_JOURNAL_NEW] = MF_PENDING_NEW,
        [MF_JOURNAL_MIXED] = MF_PENDING_MIXED,
    };
    enum mf_journal_state state;
    int fd = pending->journal.fd;
    const char *why;

    if (mf_journal_read(env, fd, &pending->journal, &why) != MF_OK)
        return env->error.status;
    pending->journal.fd = fd;
    pending->reason = why;
    if (why)
        return MF_OK;
    if (mf_journal_compare(env, &pending->journal, source->fd, &state) != MF_OK)
        return env->error.status;
    pending->state = states[state];
    if (state != MF_JOURNAL_MIXED || fits(env, source, &pending->journal))
        return MF_OK;
    if (is_memory(&env->error))
        return env->error.status;
    mf_clear_error(env);
    pending->state = MF_PENDING_UNTRUSTED;
    pending->reason = "changes more than the file's header";
    return MF_OK;
}

static enum mf_status look(struct mf_env *env, const struct mf_place *place,
                           const struct mf_source *source, bool forced,
                           struct mf_pending *out)
{
    *out = (struct mf_pending){ .state = MF_PENDING_UNTRUSTED,
                                .journal = { .fd = -1 } };
    if (!mf_journal_name(place->name, out->name)) {
        out->state = MF_PENDING_NONE;
        return MF_OK;
    }
    take(place, source, forced, out);
    return out->state == MF_PENDING_NONE || out->reason
               ? MF_OK
               : judge(env, source, out);
}

enum mf_status mf_pending_find(struct mf_env *env, const struct mf_place *place,
                               const struct mf_source *source, bool forced,
                               struct mf_pending *out)
{
    bool again = true;

    /* An editor may be at work; after 100 tries the file counts as it is. */
    for (int tries = 0; again && tries < 100; tries++) {
        enum mf_status status = look(env, place, source, forced, out);

        check_there(place, out, &again);
        if (status != MF_OK || again)
            mf_pending_close(out);
        if (status != MF_OK)
            return status;
    }
    if (again)
        out->state = MF_PENDING_NONE;
    return MF_OK;
}

void mf_pending_close(struct mf_pending *pending)
{
    if (pending->journal.fd >= 0)
        close(pending->journal.fd);
    pending->journal.fd = -1;
}

void mf_pending_report(struct mf_env *env, const char *path,
                       const struct mf_pending *pending,
                       enum mf_pending_use use)
{
    struct mf_pending_edit edit = { .path = path,
                                    .journal = pending->name,
                                    .use = use,
                                    .reason = pending->reason };

    if (pending->state == MF_PENDING_FOREIGN)
        edit.reason = "belongs to another file";
    if (!edit.reason)
        edit.reason = "";
    if (env->pending_edit)
        env->pending_edit(env->pending_edit_user, &edit);
}

/* ---- reading ---- */

/* One system call for most files, which have no journal. */
static bool has_journal_name(const char *path)
{
    char journal[PATH_MAX + sizeof(MF_JOURNAL_SUFFIX)];
    struct stat status;

    if (!mf_follow_links(path, journal))
        return false;
    strcat(journal, MF_JOURNAL_SUFFIX);
    return lstat(journal, &status) == 0;
}

static enum mf_status add_overlay(struct mf_env *env, const char *path,
                                  struct mf_source *source)
{
    struct mf_place place;
    struct mf_pending pending;
    enum mf_status status;

    if (!mf_place_find(path, source->fd, &place))
        return MF_OK; /* the path leads elsewhere by now */
    status = mf_pending_find(env, &place, source, false, &pending);
    mf_place_close(&place);
    if (status != MF_OK)
        return status;
    if (pending.state == MF_PENDING_MIXED) {
        mf_pending_report(env, path, &pending, MF_PENDING_READ_THROUGH);
        source->overlay = mf_journal_overlay(&pending.journal);
        pending.journal.fd = -1; /* the source closes it */
    } else if (pending.state == MF_PENDING_UNTRUSTED ||
               pending.state == MF_PENDING_FOREIGN) {
        mf_pending_report(env, path, &pending, MF_PENDING_IGNORED);
    }
    mf_pending_close(&pending);
    return status;
}

enum mf_status mf_pending_open_file(struct mf_env *env, const char *path,
                                    struct mf_source *out, bool *is_folder)
{
    if (mf_source_open_file(env, path, out, is_folder) != MF_OK)
        return env->error.status;
    if (has_journal_name(path) && add_overlay(env, path, out) != MF_OK)
        mf_source_close(out);
    return env->error.status;
}

/* ---- before an edit ---- */

static enum mf_status refuse_untrusted(struct mf_env *env,
                                       const struct mf_pending *pending)
{
    return mf_decline(
        env, MF_REASON_JOURNAL_UNTRUSTED, MF_NO_OFFSET,
        "an edit may have been interrupted: '%s' %s and is not applied",
        mf_quote((struct mf_str){ pending->name, strlen(pending->name) }).text,
        pending->reason);
}

enum mf_status mf_pending_resolve(struct mf_env *env, const char *path,
                                  const struct mf_lock *lock, bool forced,
                                  struct mf_pending *out, uint64_t *changed)
{
    struct mf_source source;
    enum mf_status status;

    *changed = 0;
    mf_source_open_fd(path, lock->fd, &source);
    status = mf_pending_find(env, &lock->place, &source, forced, out);
    if (status != MF_OK || out->state == MF_PENDING_NONE)
        return status;
    if (out->state == MF_PENDING_UNTRUSTED) {
        status = refuse_untrusted(env, out);
    } else if (out->state == MF_PENDING_MIXED) {
        out->journal.shows_old = false;
        status = mf_journal_finish(env, lock, &out->journal);
        for (size_t i = 0; i < out->journal.count; i++)
            *changed += out->journal.patch[i].size;
    } else {
        status = mf_journal_remove(env, lock, out->journal.fd,
                                   out->state == MF_PENDING_NEW);
    }
    mf_pending_close(out);
    return status;
}
