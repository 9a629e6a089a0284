/* SPDX-License-Identifier: MIT
 *
 * temporary.c - files that are not whole yet, which a sudden end takes away
 */
#include "lib/io/temporary.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* Names may have 255 bytes; this one leaves room for the rest. */
void mf_temporary_name(struct mf_temporary *temporary, const char *name)
{
    struct timespec now = { 0 };

    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(temporary->name, sizeof(temporary->name), ".%.40s.%ld.%08lx.tmp",
             name, (long)getpid(),
             (unsigned long)(now.tv_nsec ^ now.tv_sec << 8) & 0xffffffff);
}

void mf_temporary_enlist(struct mf_env *env, struct mf_temporary *temporary)
{
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
            unlinkat(each->folder, each->name, 0);
}
