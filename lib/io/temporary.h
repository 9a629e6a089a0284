/* SPDX-License-Identifier: MIT
 *
 * temporary.h - files that are not whole yet, which an abrupt end removes
 */
#ifndef MF_LIB_TEMPORARY_H
#define MF_LIB_TEMPORARY_H

#include <limits.h>

#include "lib/base/heap.h"
#include "lib/io/system.h"

/* Must not move while it is in the list. */
struct mf_temporary {
    int folder;
    char name[NAME_MAX + 1];           /* in the folder; "": no file has it */
    bool is_folder;                    /* it is one, and not a file */
    struct mf_temporary *_Atomic next; /* in the env's list */
};

/* Names have at most 255 bytes; so many of the original leave room for the
 * rest.
 */
#define MF_TEMPORARY_START 40

/* Chooses a name: a dot, the start of `name`, the process and the time.
 * Different at each call. */
void mf_temporary_name(struct mf_temporary *temporary, const char *name);

/* Renames the file to `name` unless that exists (EEXIST).  False with errno
 * set. */
bool mf_temporary_rename_new(const struct mf_temporary *temporary,
                             const char *name);

/* From here on mf_env_abandon removes the file. */
void mf_temporary_enlist(struct mf_env *env, struct mf_temporary *temporary);

/* Does nothing where it is not in the list. */
void mf_temporary_strike_off(struct mf_env *env,
                             const struct mf_temporary *temporary);

#endif
