/* SPDX-License-Identifier: MIT
 *
 * post.h - files are given out to ranks, and their answers come to rank 0
 *
 * Every rank goes through the same list of files; which of them are its own it
 * learns a few at a time, in the order of the list.  What it prints about a
 * file is sent to rank 0, which takes the answers in that order.  Files are
 * given out only as far ahead as rank 0 has room for answers.
 */
#ifndef MF_CLI_MPI_POST_H
#define MF_CLI_MPI_POST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum post_text { POST_OUT, POST_ERROR, POST_LOG, POST_TEXTS };

/* About one file; its texts follow. */
struct post_answer {
    uint64_t number; /* of the file, from 0 */
    uint64_t code;
    uint64_t left_out; /* by the log */
    uint64_t size, read, heap, allocations;
    uint64_t text[POST_TEXTS]; /* sizes */
};

/* The size of its texts. */
size_t post_size(const struct post_answer *answer);

/* What a rank says at last. */
struct post_end {
    uint64_t files;
    uint64_t digest; /* of their paths */
    uint64_t signal; /* that stopped it; or 0 */
};

/* Before the first file. */
void post_begin(void);

enum post_taken { POST_LATER, POST_TAKEN, POST_OVER };

/* The next files of this rank, at most so many.  POST_LATER: call it again,
 * after post_wait. */
enum post_taken post_take(uint64_t most, uint64_t *first, uint64_t *count);

/* Sleeps for *pause, which becomes longer. */
void post_wait(long *pause);

/* An answer of this rank; and, of any but rank 0, sends those that are ready,
 * unless it has just done so. */
void post_put(const struct post_answer *answer,
              const char *const text[POST_TEXTS]);
void post_send(void);

/* After the last answer. */
void post_end(const struct post_end *end);

/* Bytes that grow. */
struct post_bytes {
    char *at;
    size_t size, room;
};
void post_add(struct post_bytes *bytes, const void *at, size_t size);

/* Memory, as mf_env_resize has it; ends all ranks if there is none. */
void *post_resize(void *block, size_t old_size, size_t size);

/* What answers that wait have taken of it at most. */
size_t post_heap(void);

/* ---- rank 0 ---- */

/* The next answer in order, and its texts one after the other, to be given
 * back by post_resize; false: it has not come. */
bool post_next(struct post_answer *answer, char **texts);

/* How many ranks have ended; ends: one for each rank. */
size_t post_ended(const struct post_end **ends);

/* Whether the next answer will not come: its file is not in the list of a rank
 * that has ended, and there is no room for more answers. */
bool post_is_stuck(void);

/* No more files for any rank. */
void post_stop(void);

/* After all ranks have ended. */
void post_finish(void);

/* ---- any rank ---- */

/* Whether rank 0 has done that. */
bool post_is_stopped(void);

/* With the lock: receives what came, and answers. */
void post_attend(void);

#endif
