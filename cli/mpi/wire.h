/* SPDX-License-Identifier: MIT
 *
 * wire.h - the functions of struct mf_ranks, by MPI
 */
#ifndef MF_CLI_MPI_WIRE_H
#define MF_CLI_MPI_WIRE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/program.h"

/* Starts MPI and fills *out; a message where it cannot do what is needed. */
const char *wire_begin(int *count, char ***arguments, struct mf_ranks *out);

/* Ends MPI, for a process that will have that exit code. */
void wire_finish(int code);

/* Where a reason to end all ranks is printed. */
void wire_print_to(int fd);

/* Now and then during long work: others may wait for an answer. */
void wire_pulse(void);

/* Whether a thread is in a function of MPI. */
bool wire_is_in_mpi(void);

/* Called before this rank ends all of them. */
void wire_at_end(void (*act)(void));

/* From here on a rank that is waited for and shows no progress for so many
 * seconds ends all; 0: however long it takes. */
void wire_watch(unsigned seconds);

#endif
