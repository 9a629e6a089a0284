/* SPDX-License-Identifier: MIT
 *
 * temporary.c - files that are not whole yet, which an abrupt end removes
 *
 * A signal may end the program while the library is in a slow fsync.  Nobody
 * returns from that call to clean up, so a timer's handler does it, by
 * mf_env_abandon: it may run between any two instructions of another thread,
 * and may call nothing that is not async-signal-safe (unlinkat is; malloc and
 * stdio are not).  Hence a linked list without memory of its own, whose links
 * are atomic: each single store leaves it whole.
 *
 * Creating a file and listing it are two steps: callers hold back signals
 * around both.  A kill cannot be held back; the temporary file then stays.  It
 * begins with a dot and ends with .tmp, and no reader takes it for a model.
 *
 * O_TMPFILE would need no cleaning up, but linkat(2) cannot give such a file a
 * name that exists, and many network file systems do not have it.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* renameat2 */
#endif
#include "lib/io/temporary.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/io/path.h"

void mf_temporary_name(struct mf_temporary *temporary, const char *name)
{
    struct timespec now = { 0 };

    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(temporary->name, sizeof(temporary->name), ".%.*s.%ld.%08lx.tmp",
             MF_TEMPORARY_START, name, (long)getpid(),
             (unsigned long)(now.tv_nsec ^ now.tv_sec << 8) & 0xffffffff);
}

/* Where the kernel or the file system cannot refuse to replace, a look before
 * the rename has to do. */
bool mf_temporary_rename_new(const struct mf_temporary *temporary,
                             const char *name)
{
    int folder = temporary->folder, result;
    struct stat status;

    assert(*temporary->name && *name);
#if defined(__linux__)
    MF_AGAIN(result, renameat2(folder, temporary->name, folder, name,
                               RENAME_NOREPLACE));
    if (result == 0 ||
        (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP))
        return result == 0;
#endif
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return false;
    }
    MF_AGAIN(result, renameat(folder, temporary->name, folder, name));
    return result == 0;
}

void mf_temporary_enlist(struct mf_env *env, struct mf_temporary *temporary)
{
    assert(*temporary->name);
    temporary->next = env->temporary;
    env->temporary = temporary;
}

void mf_temporary_strike_off(struct mf_env *env,
                             const struct mf_temporary *temporary)
{
    struct mf_temporary *_Atomic *at = &env->temporary;

    while (*at && *at != temporary)
        at = &(*at)->next;
    if (*at)
        *at = temporary->next;
}

void mf_env_abandon(struct mf_env *env)
{
    for (struct mf_temporary *each = env ? env->temporary : NULL; each;
         each = each->next)
        if (*each->name)
            unlinkat(each->folder, each->name,
                     each->is_folder ? AT_REMOVEDIR : 0);
}

bool mf_env_resumable(const struct mf_env *env)
{
    return env && atomic_load(&env->resumable);
}
