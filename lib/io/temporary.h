/* SPDX-License-Identifier: MIT
 *
 * temporary.h - files that are not whole yet, which a sudden end takes away
 */
#ifndef MF_LIB_TEMPORARY_H
#define MF_LIB_TEMPORARY_H

#include "lib/base/heap.h"

/* Not to be moved while it is listed. */
struct mf_temporary {
    int folder;
    char name[96];                     /* in the folder; "": there is none */
    struct mf_temporary *_Atomic next; /* of the env's list */
};

/* Another name each time, that begins with a dot and some of name. */
void mf_temporary_name(struct mf_temporary *temporary, const char *name);

/* From here on mf_env_abandon takes it away.  A signal may come between any two
 * steps and finds the list whole. */
void mf_temporary_enlist(struct mf_env *env, struct mf_temporary *temporary);

/* Also where it is not listed. */
void mf_temporary_strike_off(struct mf_env *env,
                             const struct mf_temporary *temporary);

#endif
