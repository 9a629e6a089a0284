/* SPDX-License-Identifier: MIT
 *
 * sandbox.h - what the program gives up before it reads a stranger's file
 *
 * From sandbox_enter on no file can be written but in the folders that were
 * allowed before, and no program run, no connection made: whatever the bytes of
 * a file may bring the program to do.  A refused call fails with EACCES or
 * EPERM; nothing is killed.  Only Linux has this, and not every kernel: what
 * there is not is done without.
 */
#ifndef MF_CLI_SANDBOX_H
#define MF_CLI_SANDBOX_H

#include <stdbool.h>

struct sandbox {
    const char *off;   /* why it is not wanted; NULL: it is */
    unsigned landlock; /* the kernel's version of it; 0: not in force */
    bool seccomp;      /* in force */
    int rules;         /* while they are gathered; -1: none */
};

/* Begins; off: a reason not to, or NULL.  There are others: a build with
 * sanitizers or for coverage, and valgrind, which do all that on their own. */
void sandbox_begin(struct sandbox *sandbox, const char *off);

/* The file at path may be written, replaced and removed, and so may others in
 * its folder, for it is made under another name first; the same where a link at
 * path leads.  A device or a pipe may be written. */
void sandbox_allow_file(struct sandbox *sandbox, const char *path);

/* Files and folders in a folder may be made, written and removed. */
void sandbox_allow_folder(struct sandbox *sandbox, const char *path);

/* From now on.  Before any thread is started: it holds for this one and for
 * those that it starts. */
void sandbox_enter(struct sandbox *sandbox);

#endif
