/* SPDX-License-Identifier: MIT
 *
 * files.h - many files, each read by one rank: see ranks.h
 */
#ifndef MF_CLI_MPI_FILES_H
#define MF_CLI_MPI_FILES_H

#include <stdbool.h>
#include <stdint.h>

/* Whether what is printed now is about one file. */
bool files_are_inside(void);

/* What this rank has read of its files. */
uint64_t files_bytes(void);

#endif
