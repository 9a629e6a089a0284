/* SPDX-License-Identifier: MIT
 *
 * remote.h - models that are read over HTTP
 *
 * A stranger's bytes are parsed by one process, and the network is another
 * one's: before the sandbox closes, the program forks a helper, which loads
 * libcurl and answers over a pair of sockets.  The parser never connects to
 * anything, and the helper never parses a model.  The helper fetches what the
 * command line names and files next to that, nothing else.
 *
 * This is the door of cli/remote.  Without a URL nothing here runs.
 */
#ifndef MF_CLI_REMOTE_H
#define MF_CLI_REMOTE_H

#include "cli/cli.h"

/* Whether an operand is a URL: it begins with http://, https:// or hf://. */
bool remote_is_url(const char *operand);

/* Whether it is a model of the Hub: hf://, or the address of its page. */
bool remote_is_hub(const char *operand);

/* "hf://owner/name" of "owner/name"; a URL as it is. */
char *remote_named(char *operand);

/* Starts the helper if an operand is a URL; false after a report. */
bool remote_begin(struct run *run);

/* Opens the model at a URL.  What is wrong with the answer of a server is an
 * error of reading the file. */
enum mf_status remote_open(struct run *run, const char *url,
                           const struct mf_open_options *options,
                           struct mf_model **out);

/* For a command with the flag in_order that has read all data of a model: reads
 * what else its files have, so that the SHA-256 of each file is compared with
 * the one that the Hub lists. */
enum mf_status remote_check(struct run *run, const struct mf_model *model,
                            const char *operand);

/* While there is an env. */
void remote_end(void);

/* Of models of the Hub; run->hub points to it. */
struct hub_cost {
    uint64_t cached;    /* bytes that were read in the cache */
    uint64_t checked;   /* files whose SHA-256 is the one that the Hub lists */
    uint64_t unchecked; /* that were opened, and have one to be compared */
    struct hub_commit {
        const char *repository, *revision;
        const char *commit; /* "" if it is not known */
    } * commit;             /* of each name of the command line */
    size_t commit_count;
};

/* What the helper has done so far; run->remote points to it. */
struct remote_cost {
    uint64_t requests; /* that were sent, of redirects and retries too */
    uint64_t bytes;    /* of bodies that came back */
    uint64_t retries;
    uint64_t peak, allocations; /* of the helper's heap; 0: not counted */
    uint64_t processor;         /* microseconds of the helper */
};

#endif
