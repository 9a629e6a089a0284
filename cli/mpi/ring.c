/* SPDX-License-Identifier: MIT
 *
 * ring.c - ranks that hang are noticed
 */
#include "cli/mpi/ring.h"

#include <inttypes.h>
#include <stdio.h>

#define TAG    17 /* no other message has it */
#define SECOND UINT64_C(1000000000)
#define TELL   (SECOND / 4) /* well within a timeout of one second */

void ring_begin(struct ring *ring, MPI_Comm all, uint64_t now)
{
    int rank, count;

    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &count);
    *ring = (struct ring){ .all = all,
                           .before = (rank + count - 1) % count,
                           .after = (rank + 1) % count,
                           .heard = now,
                           .told = now };
    if (count < 2)
        ring->before = ring->after = -1;
}

void ring_watch(struct ring *ring, unsigned seconds, uint64_t now)
{
    ring->timeout = seconds;
    ring->heard = now;
}

void ring_tell(struct ring *ring, uint64_t now)
{
    static char nothing;
    int done = 1;

    if (ring->after < 0 || now - ring->told < TELL)
        return;
    if (ring->telling)
        MPI_Test(&ring->request, &done, MPI_STATUS_IGNORE);
    if (!done)
        return;
    ring->told = now;
    ring->telling = true;
    MPI_Isend(&nothing, 1, MPI_BYTE, ring->after, TAG, ring->all,
              &ring->request);
}

void ring_hear(struct ring *ring, uint64_t now)
{
    char nothing;
    int there = ring->before >= 0;

    while (there) {
        MPI_Iprobe(ring->before, TAG, ring->all, &there, MPI_STATUS_IGNORE);
        if (!there)
            break;
        MPI_Recv(&nothing, 1, MPI_BYTE, ring->before, TAG, ring->all,
                 MPI_STATUS_IGNORE);
        ring->heard = now;
    }
}

bool ring_is_broken(const struct ring *ring, uint64_t now, char *why,
                    size_t size)
{
    if (ring->timeout == 0 || ring->before < 0 ||
        now - ring->heard < ring->timeout * SECOND)
        return false;
    snprintf(why, size,
             "rank %d made no progress for %" PRIu64
             " seconds (--rank-timeout)",
             ring->before, ring->timeout);
    return true;
}

void ring_end(struct ring *ring, uint64_t now)
{
    if (ring->telling)
        MPI_Wait(&ring->request, MPI_STATUS_IGNORE);
    ring_hear(ring, now);
}
