/* SPDX-License-Identifier: MIT
 *
 * scratch.h - a temporary file for archives, opened before the sandbox
 */
#ifndef MF_CLI_SCRATCH_H
#define MF_CLI_SCRATCH_H

#include <stddef.h>

/* Opens a file for mf_options.scratch_file where a word of the command line has
 * the name of an archive, of a folder with one, or lists files: their tensors
 * can be compressed, and in the sandbox no file can be made where temporary
 * ones are.  It is not opened for others, since that takes up to half a
 * millisecond; an archive with another name is unpacked to memory. */
void scratch_open(int count, char **arguments);

/* Opens more of them if there is one: `count` processes of the program need one
 * each.  Then says which one is this process's. */
void scratch_divide(size_t count);
void scratch_use(size_t place);

/* 0: none. */
int scratch_file(void);

void scratch_close(void);

#endif
