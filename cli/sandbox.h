/* SPDX-License-Identifier: MIT
 *
 * sandbox.h - rights that the program gives up before it reads a file
 *
 * After sandbox_enter the process can write only to the folders allowed before,
 * cannot run another program and cannot open a connection, even if a crafted
 * file takes control of it.  A refused call fails with EACCES or EPERM; nothing
 * is killed.  This needs Linux; on an older kernel, the parts that it lacks are
 * left out silently.
 */
#ifndef MF_CLI_SANDBOX_H
#define MF_CLI_SANDBOX_H

#include <stdbool.h>

enum sandbox_kind {
    SANDBOX_ALONE,   /* see sandbox_begin */
    SANDBOX_NETWORK, /* see sandbox_begin_network */
    SANDBOX_RANKS    /* see sandbox_begin_ranks */
};

struct sandbox {
    const char *off;   /* why there is no sandbox; NULL: there is one */
    unsigned landlock; /* version of Landlock in force; 0: not in force */
    bool seccomp;      /* in force */
    int rules;         /* file descriptor of the ruleset being made, or -1 */
    enum sandbox_kind kind;
};

/* off: why no sandbox is wanted, or NULL.  Builds with sanitizers or coverage,
 * and valgrind, get none either: their runtimes write files and look into the
 * process. */
void sandbox_begin(struct sandbox *sandbox, const char *off);

/* The same for a process that connects to others: it may do that, but reads
 * only what sandbox_allow_reading names, and writes nothing. */
void sandbox_begin_network(struct sandbox *sandbox, const char *off);

/* The same for one of several processes, which keep their connections and may
 * make new ones; it reads and writes as one that is alone. */
void sandbox_begin_ranks(struct sandbox *sandbox, const char *off);

/* Allows reading a file, or a folder with all that is in it. */
void sandbox_allow_reading(struct sandbox *sandbox, const char *path);

/* Allows writing, replacing and removing the file at path and, since it is
 * written under a temporary name first, any file in its folder; for a symbolic
 * link also in the folder that it leads to.  Of a device or a pipe, writing
 * only. */
void sandbox_allow_file(struct sandbox *sandbox, const char *path);

/* Allows making, writing and removing files and folders in a folder. */
void sandbox_allow_folder(struct sandbox *sandbox, const char *path);

/* Allows making, writing, linking and removing files in a folder and those
 * below it. */
void sandbox_allow_links(struct sandbox *sandbox, const char *path);

/* Call it before any thread is started: only this thread and those that it
 * starts are restricted. */
void sandbox_enter(struct sandbox *sandbox);

#endif
