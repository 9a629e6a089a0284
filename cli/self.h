/* SPDX-License-Identifier: MIT
 *
 * self.h - what the system says about this process, and what it allows
 *
 * From /proc/self, without a byte of heap that stays.
 */
#ifndef MF_CLI_SELF_H
#define MF_CLI_SELF_H

#include <stdbool.h>
#include <stdint.h>

struct self {
    uint64_t resident; /* bytes of its own in memory: not of mapped files */
    uint64_t threads;
    uint64_t files; /* open file descriptors */
};

/* False, and out unchanged, where /proc does not say so. */
bool self_look(struct self *out);

/* All bytes that are in memory now, those of mapped files, too: one small read,
 * for a number that is asked for often.  False as above. */
bool self_resident(uint64_t *out);

/* Limits of the system, UINT64_MAX if there is none: of memory (the least of
 * RLIMIT_DATA, RLIMIT_AS and what the machine has), of open files, of
 * threads. */
uint64_t self_memory_limit(void);
uint64_t self_file_limit(void);
uint64_t self_thread_limit(void);

#endif
