/* SPDX-License-Identifier: MIT
 *
 * parallel_parts.h - between the files that make a crew and run it
 */
#ifndef MF_LIB_PARALLEL_PARTS_H
#define MF_LIB_PARALLEL_PARTS_H

#include "lib/base/parallel.h"

/* How many of so many threads there are.  Threads that wait for another crew of
 * the env end: that one starts them again. */
size_t mf_crew_threads(struct mf_crew *crew, size_t count);

/* After a run: larger buffers, if it is time for them and memory is there. */
void mf_crew_widen(struct mf_crew *crew);

#endif
