/* SPDX-License-Identifier: MIT
 *
 * self.h - what the system says about this process, and what it allows
 *
 * From /proc/self, without a byte of heap that stays.
 */
#ifndef MF_LIB_SELF_H
#define MF_LIB_SELF_H

#include "lib/program.h"

struct mf_self {
    uint64_t resident; /* bytes of its own in memory: not of mapped files */
    uint64_t threads;
    uint64_t files; /* open file descriptors */
};

/* False, and out unchanged, where /proc does not say so. */
bool mf_self_look(struct mf_self *out);

/* Limits of the system, UINT64_MAX if there is none. */
uint64_t mf_self_file_limit(void);
uint64_t mf_self_thread_limit(void);

#endif
