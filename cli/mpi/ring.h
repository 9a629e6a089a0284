/* SPDX-License-Identifier: MIT
 *
 * ring.h - ranks that hang are noticed
 *
 * All ranks are in a ring.  Each tells its neighbour four times a second that
 * it has come on, or waits for others; one that waits, and hears nothing for
 * too long, says so.
 */
#ifndef MF_CLI_MPI_RING_H
#define MF_CLI_MPI_RING_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Times are of CLOCK_MONOTONIC, in nanoseconds. */
struct ring {
    MPI_Comm all;
    int before, after; /* neighbours; -1: there is none */
    uint64_t timeout;  /* seconds; 0: none */
    uint64_t heard, told;
    bool telling;
    MPI_Request request;
};

void ring_begin(struct ring *ring, MPI_Comm all, uint64_t now);
void ring_watch(struct ring *ring, unsigned seconds, uint64_t now);

void ring_tell(struct ring *ring, uint64_t now);
void ring_hear(struct ring *ring, uint64_t now);

/* Whether the neighbour made no progress for too long; and the sentence. */
bool ring_is_broken(const struct ring *ring, uint64_t now, char *why,
                    size_t size);

/* After all ranks have stopped telling. */
void ring_end(struct ring *ring, uint64_t now);

#endif
