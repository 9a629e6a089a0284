/* SPDX-License-Identifier: MIT
 *
 * part.h - the value I/N of --part
 */
#ifndef MF_CLI_PART_H
#define MF_CLI_PART_H

#include "cli/cli.h"

/* text NULL: 1 of 1.  False after report_usage. */
bool part_take(struct run *run, const char *text, uint64_t *part,
               uint64_t *parts);

#endif
