/* SPDX-License-Identifier: MIT
 *
 * temporary.c - files that are not whole yet, which an abrupt end removes
 *
 * A signal may end the program while the library is in a slow fsync.  That call
 * does not return to clean up, so a timer's handler does it, by mf_env_abandon:
 * it may run between any two instructions of another thread, and may call
 * nothing that is not async-signal-safe (unlinkat is; malloc and stdio are
 * not).  Hence a linked list without memory of its own, whose links are atomic:
 * each single store leaves it whole.
 *
 * Creating a file and listing it are two steps: callers hold back signals
 * around both.  A kill cannot be held back; the temporary file then stays.  It
 * begins with a dot and ends with .tmp, and no reader takes it for a model.
 *
 * O_TMPFILE would need no cleaning up, but linkat(2) cannot give such a file a
 * name that exists, and many network file systems do not have it.
 */
#include "lib/io/temporary.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "lib/io/path.h"

void mf_temporary_name(struct mf_temporary *temporary, const char *name)
{
    struct timespec now = { 0 };

    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(temporary->name, sizeof(temporary->name), ".%.*s.%ld.%08lx.tmp",
             MF_TEMPORARY_START, name, (long)getpid(),
             (unsigned long)(now.tv_nsec ^ now.tv_sec << 8) & 0xffffffff);
}

bool mf_temporary_rename_new(const struct mf_temporary *temporary,
                             const char *name)
{
    assert(*temporary->name && *name);
    return mf_system_rename_new(temporary->folder, temporary->name, name);
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
