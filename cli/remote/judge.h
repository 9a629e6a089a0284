/* SPDX-License-Identifier: MIT
 *
 * judge.h - what an answer of a server means
 */
#ifndef MF_CLI_REMOTE_JUDGE_H
#define MF_CLI_REMOTE_JUDGE_H

#include "cli/remote/fetch.h"

enum outcome {
    DONE,
    AGAIN, /* may work later */
    FAILED
};

/* For struct request: before the first byte, NULL or what is wrong. */
const char *judge_beginning(void *user);

/* What follows from an answer that has ended and does not redirect. */
enum outcome judge_end(struct fetch *fetch);

/* Whether the address in work is the Hub's own, not one that it redirects to:
 * no other gets the token. */
bool judge_is_at_hub(const struct fetch *fetch);

/* The server is at fault, in such a way. */
enum outcome judge_wrong(struct fetch *fetch, const char *what);

#endif
