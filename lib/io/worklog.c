/* SPDX-License-Identifier: MIT
 *
 * worklog.c - which parts of an output are finished, to resume stopped work
 *
 * A record is words of 64 bits, the least significant byte first: its kind, how
 * many numbers follow, a checksum of these two, the numbers, and a checksum of
 * all of it.  The first checksum is there so that a damaged count is not taken
 * for a record that was cut short: that would drop all records after it without
 * a word.  The offset in the log is a part of both, so records cannot change
 * places.
 *
 * After a power failure a file may have its new size and zeros for bytes that
 * never reached the disk.  So a record that ends in zeros, with nothing but
 * zeros after it, counts as incomplete, too; a checksum is never zero.
 */
#include "lib/io/worklog.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "lib/base/ranks.h"
#include "lib/base/signals.h"
#include "lib/io/lock.h"
#include "lib/io/path.h"
#include "lib/io/shared.h"
#include "lib/io/source.h"

#define WORD       8
#define HEAD_WORDS 3 /* kind, count, checksum */
#define HEAD       (HEAD_WORDS * WORD)
#define RECORD_MAX (HEAD + (MF_WORKLOG_WORDS + 1) * WORD)

/* ---- failing ---- */

static struct mf_quoted quoted(const char *text)
{
    return mf_quote((struct mf_str){ text, strlen(text) });
}

enum mf_status mf_worklog_refuse(struct mf_env *env, const char *path,
                                 const char *what, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, what);
    vsnprintf(text, sizeof(text), what, arguments);
    va_end(arguments);
    return mf_decline(env, MF_REASON_NOT_RESUMABLE, MF_NO_OFFSET,
                      "'%s' cannot be resumed: %s", quoted(path).text, text);
}

/* About the log itself: "'.NAME.resume' WHAT". */
static enum mf_status refuse(const struct mf_worklog *log, const char *what)
{
    return (log->of_part ? mf_shared_refuse : mf_worklog_refuse)(
        log->env, log->path, "'%s' %s", quoted(log->temporary.name).text, what);
}

/* "'.NAME.resume' cannot be WHAT: errno's text". */
static enum mf_status fail_in(struct mf_env *env, const struct mf_worklog *log,
                              const char *what)
{
    int error = errno;

    return mf_fail_system(env, MF_ERR_OUTPUT, MF_NO_OFFSET, error,
                          "'%s', the work log of '%s', cannot be %s: %s",
                          quoted(log->temporary.name).text,
                          quoted(log->path).text, what, mf_errno_text(error));
}

static enum mf_status fail(const struct mf_worklog *log, const char *what)
{
    return fail_in(log->env, log, what);
}

/* ---- names and trust ---- */

bool mf_worklog_name(const char *name, const char *suffix,
                     char out[NAME_MAX + 1])
{
    int size = snprintf(out, NAME_MAX + 1, ".%s%s", name, suffix);

    return size > 0 && size <= NAME_MAX;
}

const char *mf_worklog_distrust(const struct stat *status)
{
    if (S_ISLNK(status->st_mode))
        return "is a symbolic link";
    if (!S_ISREG(status->st_mode))
        return "is not a regular file";
    if (MF_SYSTEM_HAS_OWNERS && status->st_uid != geteuid())
        return "belongs to another user";
    if (status->st_nlink != 1)
        return "has another name as well";
    if (MF_SYSTEM_HAS_OWNERS && (status->st_mode & 07777) != 0600)
        return "has other permissions than 0600";
    return NULL;
}

/* ---- opening ---- */

static enum mf_status find_place(struct mf_worklog *log, const char *suffix)
{
    char real[PATH_MAX];
    const char *name;

    if (!mf_follow_links(log->path, real))
        return mf_fail_system(log->env, MF_ERR_OUTPUT, MF_NO_OFFSET, errno,
                              "'%s' cannot be written: %s",
                              quoted(log->path).text, mf_errno_text(errno));
    name = real + mf_folder_size(real);
    if (!*name || !mf_worklog_name(name, suffix, log->temporary.name))
        return mf_fail(log->env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                       *name ? "the name of '%s' is too long to be resumed"
                             : "'%s' names a folder: add a file name",
                       quoted(log->path).text);
    log->temporary.folder = mf_open_folder(real);
    return log->temporary.folder >= 0
               ? MF_OK
               : mf_fail_system(log->env, MF_ERR_OUTPUT, MF_NO_OFFSET, errno,
                                "'%s' cannot be written: %s",
                                quoted(log->path).text, mf_errno_text(errno));
}

static int open_name(const struct mf_worklog *log, int flags)
{
    int fd;

    MF_AGAIN(fd, openat(log->temporary.folder, log->temporary.name,
                        O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK |
                            O_NOCTTY | flags,
                        0600));
    return fd;
}

static bool stat_name(const struct mf_worklog *log, struct stat *out)
{
    int result;

    MF_AGAIN(result, fstatat(log->temporary.folder, log->temporary.name, out,
                             AT_SYMLINK_NOFOLLOW));
    return result == 0;
}

/* What has the name is looked at before it is opened: a device might act on
 * that. */
static enum mf_status open_old(struct mf_worklog *log, bool restart)
{
    struct stat status;
    const char *why;

    if (!stat_name(log, &status))
        return errno == ENOENT ? MF_OK : fail(log, "opened");
    why = mf_worklog_distrust(&status);
    if (why && restart && !S_ISDIR(status.st_mode)) {
        if (unlinkat(log->temporary.folder, log->temporary.name, 0) != 0 &&
            errno != ENOENT)
            return fail(log, "removed");
        return MF_OK;
    }
    if (why)
        return refuse(log, why);
    log->fd = open_name(log, 0);
    return log->fd >= 0 || errno == ENOENT ? MF_OK : fail(log, "opened");
}

static enum mf_status create(struct mf_worklog *log)
{
    struct stat status;

    log->fd = open_name(log, O_CREAT | O_EXCL);
    if (log->fd < 0)
        return errno == EEXIST ? MF_OK : fail(log, "created");
    /* The umask may have taken away from 0600. */
    if (fstat(log->fd, &status) != 0 ||
        ((status.st_mode & 07777) != 0600 && fchmod(log->fd, 0600) != 0))
        return fail(log, "created");
    return MF_OK;
}

/* The log is ours once it is locked and still has its name: its former owner
 * may have removed it meanwhile.  *here: false where that happened. */
static enum mf_status lock(struct mf_worklog *log, bool *here)
{
    struct stat status, there;
    const char *why;
    bool locked = mf_system_lock(log->fd) ||
                  (log->of_part && mf_shared_lacks_locks(errno));

    if (!locked && errno != EWOULDBLOCK)
        return fail(log, "locked");
    if (!locked)
        return mf_fail(log->env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                       "another process is writing '%s'",
                       quoted(log->path).text);
    if (fstat(log->fd, &status) != 0)
        return fail(log, "examined");
    *here = stat_name(log, &there) && mf_same_file(&status, &there);
    why = *here ? mf_worklog_distrust(&status) : NULL;
    log->size = (uint64_t)status.st_size;
    return why ? refuse(log, why) : MF_OK;
}

static void drop(struct mf_worklog *log)
{
    if (log->fd >= 0)
        close(log->fd);
    log->fd = -1;
}

static enum mf_status open_and_lock(struct mf_worklog *log, bool restart)
{
    bool here = false;

    /* Each round another process came and went. */
    for (int tries = 100; !here && tries > 0; tries--) {
        drop(log);
        if (open_old(log, restart) != MF_OK ||
            (log->fd < 0 && create(log) != MF_OK) ||
            (log->fd >= 0 && lock(log, &here) != MF_OK))
            return log->env->error.status;
    }
    if (here)
        return MF_OK;
    errno = EBUSY;
    return fail(log, "locked");
}

/* The log goes if the work fails. */
static void own(struct mf_worklog *log)
{
    if (log->copied)
        return;
    if (log->kept)
        mf_temporary_enlist(log->env, &log->temporary);
    log->kept = false;
}

static void name(struct mf_worklog *log, struct mf_env *env, const char *path)
{
    *log = (struct mf_worklog)MF_WORKLOG_NONE;
    log->env = env;
    log->path = path;
    log->kept = true; /* not ours to remove, until it is locked */
}

static enum mf_status open_log(struct mf_worklog *out, const char *suffix,
                               bool restart)
{
    struct mf_env *env = out->env;
    mf_signals before;

    mf_signals_hold(&before);
    if (find_place(out, suffix) != MF_OK ||
        (!mf_ranks_follow(env) && open_and_lock(out, restart) != MF_OK))
        drop(out);
    else if (out->size == 0 && !mf_ranks_follow(env))
        own(out);
    mf_signals_release(&before);
    return env->ranks ? mf_worklog_for_ranks(out) : env->error.status;
}

enum mf_status mf_worklog_open(struct mf_env *env, const char *path,
                               const char *suffix, bool restart,
                               struct mf_worklog *out)
{
    name(out, env, path);
    return open_log(out, suffix, restart);
}

enum mf_status mf_worklog_create(struct mf_env *env, const char *path,
                                 const char *suffix, struct mf_worklog *out)
{
    name(out, env, path);
    out->of_part = true;
    return open_log(out, suffix, false);
}

enum mf_status mf_worklog_look(struct mf_env *env, const char *path,
                               const char *suffix, struct mf_worklog *out,
                               bool *found)
{
    struct stat status;

    name(out, env, path);
    out->of_part = true;
    *found = false;
    if (find_place(out, suffix) != MF_OK || open_old(out, false) != MF_OK ||
        out->fd < 0)
        return env->error.status;
    if (fstat(out->fd, &status) != 0)
        return fail(out, "examined");
    out->size = (uint64_t)status.st_size;
    *found = true;
    return MF_OK;
}

bool mf_worklog_is_there(struct mf_env *env, const char *path,
                         const char *suffix)
{
    struct mf_worklog log = MF_WORKLOG_NONE;
    struct stat status;
    bool there;

    log.env = env;
    log.path = path;
    there = find_place(&log, suffix) == MF_OK && stat_name(&log, &status);
    mf_worklog_close(&log);
    return there;
}

/* Not synced: where a power failure takes the log there is nothing that is
 * kept, and the work starts again. */
enum mf_status mf_worklog_begin(struct mf_worklog *log,
                                const struct mf_work_record *record)
{
    mf_signals before;

    mf_signals_hold(&before);
    own(log);
    mf_signals_release(&before);
    return mf_worklog_cut(log, 0) == MF_OK ? mf_worklog_add(log, record)
                                           : log->env->error.status;
}

/* ---- records ---- */

static uint64_t get(const uint8_t *at)
{
    uint64_t value = 0;

    for (int i = WORD; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

static void put(uint8_t *at, uint64_t value)
{
    for (int i = 0; i < WORD; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t checksum(const uint8_t *bytes, size_t size, uint64_t offset)
{
    uint64_t sum = XXH3_64bits_withSeed(bytes, size, offset);

    return sum != 0 ? sum : 1;
}

static bool zeros_from(const struct mf_worklog *log, uint64_t at)
{
    uint8_t bytes[512];

    for (size_t some; at < log->size; at += some) {
        some = log->size - at < sizeof(bytes) ? (size_t)(log->size - at)
                                              : sizeof(bytes);
        if (!mf_fd_read(log->fd, at, bytes, some))
            return false;
        for (size_t i = 0; i < some; i++)
            if (bytes[i] != 0)
                return false;
    }
    return true;
}

static enum mf_status damaged(const struct mf_worklog *log, uint64_t from)
{
    return zeros_from(log, from) ? MF_OK : refuse(log, "is damaged");
}

enum mf_status mf_worklog_read(struct mf_worklog *log,
                               struct mf_work_record *out, bool *found)
{
    uint64_t left = log->size - log->at, count;
    uint8_t bytes[RECORD_MAX];
    size_t size;

    assert(log->at <= log->size);
    *found = false;
    if (left < HEAD)
        return MF_OK;
    if (!mf_fd_read(log->fd, log->at, bytes, HEAD))
        return fail(log, "read");
    count = get(bytes + WORD);
    if (get(bytes + 2 * WORD) != checksum(bytes, 2 * WORD, log->at) ||
        count > MF_WORKLOG_WORDS)
        return damaged(log, log->at);
    size = HEAD + (size_t)count * WORD;
    if (left < size + WORD)
        return MF_OK;
    if (!mf_fd_read(log->fd, log->at + HEAD, bytes + HEAD, size + WORD - HEAD))
        return fail(log, "read");
    if (get(bytes + size) != checksum(bytes, size, log->at))
        return damaged(log, log->at + size);
    out->kind = get(bytes);
    out->count = (size_t)count;
    for (size_t i = 0; i < count; i++)
        out->word[i] = get(bytes + HEAD + i * WORD);
    log->at += size + WORD;
    *found = true;
    return MF_OK;
}

enum mf_status mf_worklog_cut(struct mf_worklog *log, uint64_t at)
{
    int result;

    MF_AGAIN(result, ftruncate(log->fd, (off_t)at));
    if (result != 0)
        return fail(log, "cut");
    log->at = log->size = at;
    return MF_OK;
}

enum mf_status mf_worklog_add(struct mf_worklog *log,
                              const struct mf_work_record *record)
{
    size_t size = HEAD + record->count * WORD, done = 0;
    uint8_t bytes[RECORD_MAX];

    assert(log->fd >= 0 && record->count <= MF_WORKLOG_WORDS);
    if (log->size > log->at && mf_worklog_cut(log, log->at) != MF_OK)
        return log->env->error.status;
    put(bytes, record->kind);
    put(bytes + WORD, record->count);
    put(bytes + 2 * WORD, checksum(bytes, 2 * WORD, log->at));
    for (size_t i = 0; i < record->count; i++)
        put(bytes + HEAD + i * WORD, record->word[i]);
    put(bytes + size, checksum(bytes, size, log->at));
    for (size += WORD; done < size;) {
        ssize_t wrote;

        MF_AGAIN(wrote, pwrite(log->fd, bytes + done, size - done,
                               (off_t)(log->at + done)));
        if (wrote == 0) /* it would be repeated for ever */
            errno = EIO;
        if (wrote <= 0)
            return fail(log, "written");
        done += (size_t)wrote;
    }
    log->at += size;
    log->size = log->at;
    return MF_OK;
}

enum mf_status mf_worklog_flush(struct mf_env *env, struct mf_worklog *log)
{
    int result;

    MF_AGAIN(result, fdatasync(log->fd));
    if (result == 0 && !log->named) {
        MF_AGAIN(result, fsync(log->temporary.folder));
        if (result != 0 && errno == EINVAL) /* some file systems cannot */
            result = 0;
        log->named = result == 0;
    }
    return result == 0 ? MF_OK : fail_in(env, log, "synced to disk");
}

/* ---- the end ---- */

void mf_worklog_keep(struct mf_worklog *log)
{
    log->kept = true;
    mf_temporary_strike_off(log->env, &log->temporary);
}

bool mf_work_may_succeed(const struct mf_env *env)
{
    const char *rule = env->error.rule;

    return *rule == 0 || strcmp(rule, mf_reasons[MF_REASON_HEAP_LIMIT].id) == 0;
}

/* The lock is given up last: a waiting process finds the name gone. */
void mf_worklog_close(struct mf_worklog *log)
{
    if (!log->kept && !log->copied && log->fd >= 0)
        unlinkat(log->temporary.folder, log->temporary.name, 0);
    if (log->env)
        mf_temporary_strike_off(log->env, &log->temporary);
    drop(log);
    if (log->temporary.folder >= 0)
        close(log->temporary.folder);
    *log = (struct mf_worklog)MF_WORKLOG_NONE;
}

void mf_worklog_remove(struct mf_worklog *log)
{
    log->kept = false;
    mf_worklog_close(log);
}
