/* SPDX-License-Identifier: MIT
 *
 * sandbox_filter.h - system calls that are refused
 */
#ifndef MF_CLI_SANDBOX_FILTER_H
#define MF_CLI_SANDBOX_FILTER_H

#include "cli/sandbox.h"

/* Whether the filter of seccomp is in force now.  Linux only. */
bool sandbox_enter_filter(enum sandbox_kind kind);

#endif
